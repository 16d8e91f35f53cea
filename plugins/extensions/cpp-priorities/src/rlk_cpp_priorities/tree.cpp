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
#include <numeric>
#include <utility>

namespace {

constexpr int64_t ROW = 32;
// Targets that are looked for at the same time, so that none waits for what another reads.
constexpr int64_t TOGETHER = 8;
// Numbers that the processor fetches at once.
constexpr int64_t LINE = 8;

// Arrays that Python owns: n leaves in R rows; a block has K of them.
struct Tree {
  int64_t n, rows, size;
  double* leaves;      // [R, ROW, K]
  double* sums;        // [R, ROW], of the leaves of a block
  double* minima;      // [R, ROW], the least leaf above zero, else infinity
  double* in_row;      // [R, ROW], the sum of each block and those before it in its row
  double* row_sums;    // [R]
  double* row_minima;  // [R]
  double* before;      // [R + 1], the sum of all rows before, and of all
};

// Running sums; returns the last.
double sums_of(const double* numbers, int64_t n, double* running) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) running[i] = sum += numbers[i];
  return sum;
}

double least_above_zero(const double* numbers, int64_t n) {
  double least = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < n; ++i)
    if (numbers[i] > 0) least = std::min(least, numbers[i]);
  return least;
}

// The first of n running sums that exceeds each target; the last, if none does. `running(i, k)` is
// the k-th of those in which target i is looked for.
template <typename Running>
void first_above(const double* target, int64_t n, Running running, int64_t* found) {
  std::fill_n(found, TOGETHER, 0);
  while (n > 1) {
    const int64_t half = n / 2;
    for (int64_t i = 0; i < TOGETHER; ++i)
      found[i] += running(i, found[i] + half - 1) <= target[i] ? half : 0;
    n -= half;
  }
}

// The block of each target. What is left of the target is counted from there on.
void find_blocks(const Tree& tree, double* target, int64_t* found) {
  const double* in_row[TOGETHER];
  double before[TOGETHER];
  int64_t row[TOGETHER], block[TOGETHER];
  first_above(target, tree.rows, [&](int64_t, int64_t k) { return tree.before[k + 1]; }, row);
  for (int64_t i = 0; i < TOGETHER; ++i) {
    before[i] = tree.before[row[i]];
    in_row[i] = tree.in_row + row[i] * ROW;
  }
  first_above(target, ROW, [&](int64_t i, int64_t k) { return before[i] + in_row[i][k]; }, block);
  for (int64_t i = 0; i < TOGETHER; ++i) {
    found[i] = row[i] * ROW + block[i];
    target[i] -= block[i] ? before[i] + in_row[i][block[i] - 1] : before[i];
    // What a block adds to the sum of all and its own sum may differ by a rounding error.
    target[i] = std::min(target[i], std::nextafter(tree.sums[found[i]], 0));
  }
}

// From blocks to leaves: the first with which the sum of its block exceeds each target.
void find_leaves(const Tree& tree, const double* target, int64_t* found) {
  const double* leaves[TOGETHER];
  double sum[TOGETHER] = {};
  for (int64_t i = 0; i < TOGETHER; ++i) leaves[i] = tree.leaves + (found[i] *= tree.size);
  for (int64_t k = 0; k < tree.size - 1; ++k)
    for (int64_t i = 0; i < TOGETHER; ++i) found[i] += (sum[i] += leaves[i][k]) <= target[i];
}

}  // namespace

// Sets leaves, one after the other. Returns how many: fewer than asked for if there is no such one.
//
// Here, too, all take a step before any takes the next: the sums of many blocks are under way at
// the same time, where those of one wait for each other.
extern "C" int64_t rlk_set(const Tree* tree, const int64_t* leaf, const double* value,
                           int64_t count) {
  int64_t valid = 0;
  for (; valid < count && leaf[valid] >= 0 && leaf[valid] < tree->n; ++valid) {
    const int64_t block = leaf[valid] / tree->size, row = block / ROW;
    const double old = std::exchange(tree->leaves[leaf[valid]], value[valid]);
    double& least = tree->minima[block];
    if (old == least || (value[valid] > 0 && value[valid] < least)) {
      least = least_above_zero(tree->leaves + block * tree->size, tree->size);
      tree->row_minima[row] = least_above_zero(tree->minima + row * ROW, ROW);
    }
  }
  for (int64_t i = 0; i < valid; ++i) {
    const int64_t block = leaf[i] / tree->size;
    const double* const leaves = tree->leaves + block * tree->size;
    tree->sums[block] = std::accumulate(leaves, leaves + tree->size, 0.0);
  }
  for (int64_t i = 0; i < valid; ++i) {
    const int64_t row = leaf[i] / tree->size / ROW, first = row * ROW;
    tree->row_sums[row] = sums_of(tree->sums + first, ROW, tree->in_row + first);
  }
  sums_of(tree->row_sums, tree->rows, tree->before + 1);
  return valid;
}

// Where the running sum of the leaves first exceeds each target, which is used up. Both arrays have
// room for a multiple of TOGETHER: what stands there beyond `count` is looked for, and of no use.
//
// What the second step will read is asked for in the first: so the memory is waited for once, not
// for each target.
extern "C" void rlk_find(const Tree* tree, double* target, int64_t* found, int64_t count) {
  const double last = std::nextafter(tree->before[tree->rows], 0);
  for (int64_t at = 0; at < count; at += TOGETHER) {
    for (int64_t i = at; i < at + TOGETHER; ++i) target[i] = std::min(target[i], last);
    find_blocks(*tree, target + at, found + at);
    for (int64_t i = at; i < at + TOGETHER; ++i)
      for (int64_t k = 0; k < tree->size; k += LINE)
        __builtin_prefetch(tree->leaves + found[i] * tree->size + k);
  }
  for (int64_t at = 0; at < count; at += TOGETHER) find_leaves(*tree, target + at, found + at);
}
