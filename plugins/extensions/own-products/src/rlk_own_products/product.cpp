// Products of float32 matrices on a CPU with AVX-512: rlk_own_products::product.
//
// A tile of the result, 12 rows of 32 columns, stays in registers while the depth K is summed up:
// at each step two vectors of w are multiplied with 12 numbers of x. What a tile needs of w lies
// apart, and every tile below needs it again; so 32 columns of w are copied side by side first: a
// panel, of at most 256 steps, which the first two caches hold. x is read where it is.
// (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008, whose second
// panel, of x, products this small do not repay.)

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/util/Exception.h>

namespace {

using torch::stable::Tensor;

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

// R rows of 32 columns of the result, added to what is there if there is more of it.
template <int R, class X>
inline __attribute__((always_inline)) void tile(
    X x, const float* panel, int64_t depth, float* out, int64_t row, bool more) {
  __m512 left[R], right[R];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    left[i] = more ? _mm512_loadu_ps(out + i * row) : _mm512_setzero_ps();
    right[i] = more ? _mm512_loadu_ps(out + i * row + LANES) : _mm512_setzero_ps();
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
    _mm512_storeu_ps(out + i * row, left[i]);
    _mm512_storeu_ps(out + i * row + LANES, right[i]);
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
void columns_from(int64_t n, X x, Matrix w, float* out, Sizes of) {
  alignas(64) float panel[DEPTH * COLUMNS];
  const int64_t width = std::min<int64_t>(COLUMNS, of.columns - n);
  for (int64_t k = 0; k < of.depth; k += DEPTH) {
    const int64_t depth = std::min<int64_t>(DEPTH, of.depth - k);
    pack(w.from(k, n), depth, width, panel);
    for (int64_t m = 0; m < of.rows; m += ROWS) {
      const int64_t rows = std::min<int64_t>(ROWS, of.rows - m);
      float* const to = out + m * of.columns + n;
      if (width < COLUMNS)
        narrow_tile(rows, X{x.from(m, k)}, panel, depth, to, of.columns, width, k > 0);
      else
        tile_of<ROWS>(rows, X{x.from(m, k)}, panel, depth, to, of.columns, k > 0);
    }
  }
}

// One product of two matrices.
struct Product {
  Matrix x, w;
  float* out;
  Sizes of;
};

// All of them, whose results have as many columns, in parallel by panels.
void multiply(const std::vector<Product>& products) {
  const Sizes& first = products.front().of;
  const int64_t panels = (first.columns + COLUMNS - 1) / COLUMNS;
  const int64_t work = std::max<int64_t>(1, first.rows * first.depth * COLUMNS);
  const int64_t all = panels * static_cast<int64_t>(products.size());
  torch::stable::parallel_for(0, all, 1 + GRAIN / work, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto& [x, w, out, of] = products[i / panels];
      if (x.column == 1)
        columns_from(i % panels * COLUMNS, AdjacentColumns{x}, w, out, of);
      else
        columns_from(i % panels * COLUMNS, AdjacentRows{x}, w, out, of);
    }
  });
}

// The last two dimensions of a tensor, of its `number` along the first one if there are three.
Matrix matrix(const Tensor& of, int64_t number = 0) {
  const int64_t d = of.dim();
  const float* const at = static_cast<const float*>(of.data_ptr());
  return {at + (d > 2 ? number * of.stride(0) : 0), of.stride(d - 2), of.stride(d - 1)};
}

// The same numbers, in memory so that x's rows or columns are next to each other.
Tensor adjacent(const Tensor& x) {
  const int64_t d = x.dim();
  const bool is = x.stride(d - 2) == 1 || x.stride(d - 1) == 1;
  return is ? x : torch::stable::contiguous(x);
}

// An empty result of x by w; zeros, where there is nothing to sum.
Tensor result_of(const Tensor& x, const Tensor& w) {
  std::vector<int64_t> shape(x.sizes().begin(), x.sizes().end());
  shape.back() = w.size(w.dim() - 1);
  const Tensor made = torch::stable::new_empty(x, shape);
  if (x.size(x.dim() - 1) == 0) torch::stable::zero_(const_cast<Tensor&>(made));
  return made;
}

void check(const Tensor& x, const Tensor& w, int64_t x_dim) {
  constexpr auto FLOAT = torch::headeronly::ScalarType::Float;
  STD_TORCH_CHECK(x.scalar_type() == FLOAT && w.scalar_type() == FLOAT, "wants float32");
  STD_TORCH_CHECK(x.dim() == x_dim && x_dim >= 2 && x_dim <= 3, "wants matrices, or one batch");
  STD_TORCH_CHECK(x.size(x_dim - 1) == w.size(w.dim() - 2), "x has another depth than w");
}

// product(x, w): x [.., M, K] by w [.., K, N] to [.., M, N].
Tensor product(const Tensor& any, const Tensor& w) {
  check(any, w, w.dim());
  STD_TORCH_CHECK(w.dim() == 2 || any.size(0) == w.size(0), "x has another batch than w");
  const Tensor x = adjacent(any), result = result_of(x, w);
  const int64_t d = x.dim();
  const Sizes of = {x.size(d - 2), w.size(d - 1), x.size(d - 1)};
  std::vector<Product> products;
  for (int64_t i = 0; i < (d > 2 ? x.size(0) : 1); ++i) {
    float* const out = static_cast<float*>(result.data_ptr()) + i * of.rows * of.columns;
    products.push_back({matrix(x, i), matrix(w, i), out, of});
  }
  if (!products.empty()) multiply(products);
  return result;
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(rlk_own_products, CPU, library) {
  library.impl("product", TORCH_BOX(&product));
}
