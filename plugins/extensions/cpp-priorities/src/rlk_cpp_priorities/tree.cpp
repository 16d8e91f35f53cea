// Sums and minima of priorities, and search by running sum: number for number what
// rlk_prioritized_replay/tree.py does.
//
// The leaves are in blocks, the blocks in rows of 32. Sums are taken from left to right, and a
// running sum is that of the rows before, plus that within the row, as there. What differs is the
// work: only what changed is summed anew, and a search goes to a row, then a block, then a leaf.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace {

constexpr int64_t ROW = 32;

// Arrays that Python owns: n leaves in R rows; a block has K of them.
struct Tree {
  int64_t n, rows, size;
  double* leaves;      // [R, ROW, K]
  double* in_block;    // [R, ROW, K], the sum of each leaf and those before it in its block
  double* sums;        // [R, ROW], of the leaves of a block
  double* minima;      // [R, ROW], the least leaf above zero, else infinity
  double* in_row;      // [R, ROW], the sum of each block and those before it in its row
  double* row_sums;    // [R]
  double* row_minima;  // [R]
  double* before;      // [R + 1], the sum of all rows before, and of all
};

// Running sums from place `at` on, where those before it are right; returns the sum of all.
double sum_from(int64_t at, const double* numbers, int64_t n, double* running) {
  double sum = at ? running[at - 1] : 0;
  for (int64_t i = at; i < n; ++i) running[i] = sum += numbers[i];
  return sum;
}

double least_above_zero(const double* numbers, int64_t n) {
  double least = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < n; ++i)
    if (numbers[i] > 0) least = std::min(least, numbers[i]);
  return least;
}

void set(const Tree& tree, int64_t leaf, double value) {
  const int64_t block = leaf / tree.size, first = block * tree.size;
  const int64_t row = block / ROW, first_block = row * ROW;
  double* const leaves = tree.leaves + first;
  const double old = std::exchange(tree.leaves[leaf], value);
  double& least = tree.minima[block];
  if (old == least || (value > 0 && value < least)) {
    least = least_above_zero(leaves, tree.size);
    tree.row_minima[row] = least_above_zero(tree.minima + first_block, ROW);
  }
  tree.sums[block] = sum_from(leaf - first, leaves, tree.size, tree.in_block + first);
  tree.row_sums[row] =
      sum_from(block - first_block, tree.sums + first_block, ROW, tree.in_row + first_block);
}

// The first of n running sums that exceeds the target; the last, if none does.
int64_t first_above(double target, const double* running, int64_t n, double before = 0) {
  int64_t first = 0;
  while (n > 1) {
    const int64_t half = n / 2;
    first += before + running[first + half - 1] <= target ? half : 0;
    n -= half;
  }
  return first;
}

}  // namespace

// Sets leaves, one after the other. Returns how many: fewer than asked for if there is no such one.
extern "C" int64_t rlk_set(const Tree* tree, const int64_t* leaf, const double* value,
                           int64_t count) {
  int64_t i = 0;
  for (; i < count && leaf[i] >= 0 && leaf[i] < tree->n; ++i) set(*tree, leaf[i], value[i]);
  sum_from(0, tree->row_sums, tree->rows, tree->before + 1);
  return i;
}

// Where the running sum of the leaves first exceeds each target, which is used up.
//
// All targets take a step before any takes the next, and what the last step will read is asked for
// in advance: so the memory is waited for once, not for each.
extern "C" void rlk_find(const Tree* tree, double* target, int64_t* found, int64_t count) {
  const double last = std::nextafter(tree->before[tree->rows], 0);
  for (int64_t i = 0; i < count; ++i) {
    target[i] = std::min(target[i], last);
    found[i] = first_above(target[i], tree->before + 1, tree->rows);
  }
  for (int64_t i = 0; i < count; ++i) {
    const double before = tree->before[found[i]], *const in_row = tree->in_row + found[i] * ROW;
    const int64_t block = first_above(target[i], in_row, ROW, before);
    target[i] -= block ? before + in_row[block - 1] : before;
    found[i] = found[i] * ROW + block;
    const double* const in_block = tree->in_block + found[i] * tree->size;
    for (int64_t k = 0; k < tree->size; k += 8) __builtin_prefetch(in_block + k);
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t first = found[i] * tree->size;
    // What a block adds to the sum of all and its own sum may differ by a rounding error.
    target[i] = std::min(target[i], std::nextafter(tree->sums[found[i]], 0));
    found[i] = first + first_above(target[i], tree->in_block + first, tree->size);
  }
}
