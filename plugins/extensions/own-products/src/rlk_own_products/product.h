// The kernel of products of float32 matrices on a CPU with AVX-512.
//
// A tile of the result, 12 rows of 32 columns, stays in registers while the depth K is summed up:
// at each step two vectors of w are multiplied with 12 numbers of x. What a tile needs of w lies
// apart, and every tile below needs it again; so 32 columns of w are copied side by side first: a
// panel, of at most 256 steps, which the first two caches hold. x is read where it is.
// (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008, whose second
// panel, of x, products this small do not repay.)

#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

namespace {

constexpr int LANES = 16, COLUMNS = 2 * LANES, ROWS = 12, DEPTH = 256;
// A thread takes no less than this many multiplications from another.
constexpr int64_t GRAIN = 1 << 21;

struct Sizes {
  int64_t rows, columns, depth;
};

// A matrix in memory: where its first number is, and how far the next row and column are.
struct Matrix {
  const float* at;
  int64_t row, column;

  Matrix from(int64_t m, int64_t n) const { return {at + m * row + n * column, row, column}; }
};

// One of whose distances the compiler knows that it is 1.
struct AdjacentColumns : Matrix {
  float number(int64_t m, int64_t n) const { return at[m * row + n]; }
};
struct AdjacentRows : Matrix {
  float number(int64_t m, int64_t n) const { return at[m + n * column]; }
};

// 16 x 16 numbers with rows and columns exchanged: blocks of 1, then 2, 4, 8 change places.
void transpose(Matrix from, float* to) {
  __m512 rows[LANES];
#pragma GCC unroll 16
  for (int i = 0; i < LANES; ++i) rows[i] = _mm512_loadu_ps(from.at + i * from.column);
#pragma GCC unroll 4
  for (int block = 1; block < LANES; block *= 2) {
    alignas(64) int first[LANES], second[LANES];  // lanes from 16 on are those of the other row
    for (int lane = 0; lane < LANES; ++lane) {
      first[lane] = lane & block ? LANES + lane - block : lane;
      second[lane] = lane & block ? LANES + lane : lane + block;
    }
    const __m512i a = _mm512_load_si512(first), b = _mm512_load_si512(second);
#pragma GCC unroll 16
    for (int i = 0; i < LANES; ++i) {
      if (i & block) continue;
      const __m512 upper = rows[i], lower = rows[i + block];
      rows[i] = _mm512_permutex2var_ps(upper, a, lower);
      rows[i + block] = _mm512_permutex2var_ps(upper, b, lower);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < LANES; ++i) _mm512_storeu_ps(to + i * COLUMNS, rows[i]);
}

// Copies `depth` rows of up to 32 columns of w to the panel, with zeros after the last column.
void pack(Matrix w, int64_t depth, int64_t width, float* panel) {
  int64_t k = 0;
  if (width == COLUMNS && w.column == 1) {
    for (; k < depth; ++k)
      for (int half = 0; half < COLUMNS; half += LANES)
        _mm512_storeu_ps(panel + k * COLUMNS + half, _mm512_loadu_ps(w.from(k, half).at));
  } else if (width == COLUMNS && w.row == 1) {
    for (; k + LANES <= depth; k += LANES)
      for (int half = 0; half < COLUMNS; half += LANES)
        transpose(w.from(k, half), panel + k * COLUMNS + half);
  }
  for (; k < depth; ++k)
    for (int64_t n = 0; n < COLUMNS; ++n)
      panel[k * COLUMNS + n] = n < width ? *w.from(k, n).at : 0.f;
}

// R rows of 32 columns of the result, added to what is there if there is more of it. Each sum of
// DEPTH products begins with 0: one long sum would be rounded to the size of the whole every time.
template <int R, class X>
inline __attribute__((always_inline)) void tile(
    X x, const float* panel, int64_t depth, float* out, int64_t row, bool more) {
  __m512 left[R], right[R];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    left[i] = right[i] = _mm512_setzero_ps();
  }
  for (int64_t k = 0; k < depth; ++k, panel += COLUMNS) {
    const __m512 a = _mm512_loadu_ps(panel), b = _mm512_loadu_ps(panel + LANES);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const __m512 number = _mm512_set1_ps(x.number(i, k));
      left[i] = _mm512_fmadd_ps(number, a, left[i]);
      right[i] = _mm512_fmadd_ps(number, b, right[i]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    float* const to = out + i * row;
    if (more) {
      left[i] = _mm512_add_ps(_mm512_loadu_ps(to), left[i]);
      right[i] = _mm512_add_ps(_mm512_loadu_ps(to + LANES), right[i]);
    }
    _mm512_storeu_ps(to, left[i]);
    _mm512_storeu_ps(to + LANES, right[i]);
  }
}

// The same for as many rows as there are, up to R.
template <int R, class X>
void tile_of(int64_t rows, X x, const float* panel, int64_t depth, float* out, int64_t row,
             bool more) {
  if constexpr (R > 0) {
    if (rows == R)
      tile<R>(x, panel, depth, out, row, more);
    else
      tile_of<R - 1>(rows, x, panel, depth, out, row, more);
  }
}

// The same for fewer than 32 columns: what a whole tile would write beyond them goes elsewhere.
template <class X>
void narrow_tile(int64_t rows, X x, const float* panel, int64_t depth, float* out,
                 int64_t row, int64_t width, bool more) {
  alignas(64) float whole[ROWS * COLUMNS] = {};
  for (int64_t i = 0; more && i < rows; ++i)
    std::copy_n(out + i * row, width, whole + i * COLUMNS);
  tile_of<ROWS>(rows, x, panel, depth, whole, COLUMNS, more);
  for (int64_t i = 0; i < rows; ++i) std::copy_n(whole + i * COLUMNS, width, out + i * row);
}

// Up to 32 columns of the result, from column n on.
template <class X>
void columns_from(int64_t n, X x, Matrix w, float* out, Sizes of, bool adds) {
  alignas(64) float panel[DEPTH * COLUMNS];
  const int64_t width = std::min<int64_t>(COLUMNS, of.columns - n);
  for (int64_t k = 0; k < of.depth; k += DEPTH) {
    const int64_t depth = std::min<int64_t>(DEPTH, of.depth - k);
    const bool more = adds || k > 0;
    pack(w.from(k, n), depth, width, panel);
    for (int64_t m = 0; m < of.rows; m += ROWS) {
      const int64_t rows = std::min<int64_t>(ROWS, of.rows - m);
      float* const to = out + m * of.columns + n;
      if (width < COLUMNS)
        narrow_tile(rows, X{x.from(m, k)}, panel, depth, to, of.columns, width, more);
      else
        tile_of<ROWS>(rows, X{x.from(m, k)}, panel, depth, to, of.columns, more);
    }
  }
}

// The last two dimensions of a tensor, of its `number` along the first one if there are three.
template <class Tensor>
Matrix matrix(const Tensor& of, int64_t number = 0) {
  const int64_t d = of.dim();
  const float* const at = static_cast<const float*>(of.data_ptr());
  return {at + (d > 2 ? number * of.stride(0) : 0), of.stride(d - 2), of.stride(d - 1)};
}

// x [M, K] by w [K, N] to contiguous out [M, N], or [B, M, K] by [B, K, N] to [B, M, N]; added to
// what is there if `adds`. The rows or the columns of x are adjacent. Panels are computed in
// parallel by torch's `parallel_for`.
template <class Tensor, class Parallel>
void multiply(const Tensor& x, const Tensor& w, const Tensor& out, bool adds,
              const Parallel& parallel_for) {
  const int64_t d = x.dim(), batch = d > 2 ? x.size(0) : 1;
  const Sizes of = {x.size(d - 2), w.size(d - 1), x.size(d - 1)};
  const int64_t panels = (of.columns + COLUMNS - 1) / COLUMNS;
  const int64_t work = std::max<int64_t>(1, of.rows * of.depth * COLUMNS);
  float* const first = static_cast<float*>(out.data_ptr());
  parallel_for(0, panels * batch, 1 + GRAIN / work, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t number = i / panels, n = i % panels * COLUMNS;
      const Matrix left = matrix(x, number), right = matrix(w, number);
      float* const to = first + number * of.rows * of.columns;
      if (left.column == 1)
        columns_from(n, AdjacentColumns{left}, right, to, of, adds);
      else
        columns_from(n, AdjacentRows{left}, right, to, of, adds);
    }
  });
}

}  // namespace
