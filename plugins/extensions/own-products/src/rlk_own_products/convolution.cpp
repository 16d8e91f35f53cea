// Convolutions of float32 images on a CPU with AVX-512, and both of their gradients.
//
// Images are [N, H, W, C], weights [Y, X, C, O]; no padding, the same stride both ways. What one
// row of the weights is multiplied with then lies side by side in the image, so each of the three
// is a product of matrices whose operands are read where they are; no patch is copied.
//
// As in product.cpp, a tile of the result, some rows of 32 columns, stays in registers while the
// products are summed up: at each step two vectors are multiplied with one number for each row.
//
// Images may also be whole numbers from 0 to 255, over a divisor: one at a time becomes float32 in
// the cache, instead of all of them in memory.

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

constexpr int LANES = 16, COLUMNS = 2 * LANES, ROWS = 12, WEIGHT_ROWS = 8;

// Images N x H x W x C and weights Y x X x C x O make images N x OH x OW x O.
struct Sizes {
  int64_t n, h, w, c, y, x, o, stride;
  int64_t oh = (h - y) / stride + 1, ow = (w - x) / stride + 1;
  int64_t line = w * c, width = x * c;  // numbers of a row of an image, and of one of the weights

  int64_t image(int64_t n, int64_t row, int64_t column) const {
    return ((n * h + row) * w + column) * c;
  }
  int64_t pixel(int64_t row, int64_t column) const { return image(0, row, column); }
  int64_t result(int64_t n, int64_t row, int64_t column) const {
    return ((n * oh + row) * ow + column) * o;
  }
};

// The numbers of a tile's first row, `lines` times `depth` of them, and where those of the next
// row, of the next step and of the next line are.
struct Numbers {
  const float* at;
  int64_t row, step, line, depth, lines;
};

// Where 32 numbers are, and how far the next 32 of them.
struct Vectors {
  const float* at;
  int64_t next;
};

// R rows of 32 columns: `from`, and the sum of products.
template <int R>
inline __attribute__((always_inline)) void tile(Numbers x, Vectors w, Vectors from, float* out,
                                                int64_t row) {
  __m512 left[R], right[R];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    left[i] = _mm512_loadu_ps(from.at + i * from.next);
    right[i] = _mm512_loadu_ps(from.at + i * from.next + LANES);
  }
  for (int64_t line = 0; line < x.lines; ++line, x.at += x.line) {
    const float* at = x.at;
    for (int64_t k = 0; k < x.depth; ++k, at += x.step, w.at += w.next) {
      const __m512 a = _mm512_loadu_ps(w.at), b = _mm512_loadu_ps(w.at + LANES);
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) {
        const __m512 number = _mm512_set1_ps(at[i * x.row]);
        left[i] = _mm512_fmadd_ps(number, a, left[i]);
        right[i] = _mm512_fmadd_ps(number, b, right[i]);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    _mm512_storeu_ps(out + i * row, left[i]);
    _mm512_storeu_ps(out + i * row + LANES, right[i]);
  }
}

// The same for as many rows as there are, up to R.
template <int R>
void tile_of(int64_t rows, Numbers x, Vectors w, Vectors from, float* out, int64_t row) {
  if constexpr (R > 0) {
    if (rows == R)
      tile<R>(x, w, from, out, row);
    else
      tile_of<R - 1>(rows, x, w, from, out, row);
  }
}

// Images by their numbers, as float32.
class Images {
 public:
  Images(const Tensor& x, double divisor)
      : at_(x.data_ptr()),
        size_(x.numel() / std::max<int64_t>(1, x.size(0))),
        divisor_(static_cast<float>(divisor)),
        is_float_(x.scalar_type() == torch::headeronly::ScalarType::Float),
        one_(is_float_ ? 0 : size_) {}

  const float* operator[](int64_t n) {
    if (is_float_) return static_cast<const float*>(at_) + n * size_;
    const uint8_t* const whole = static_cast<const uint8_t*>(at_) + n * size_;
    for (int64_t i = 0; i < size_; ++i) one_[i] = whole[i] / divisor_;
    return one_.data();
  }

 private:
  const void* at_;
  int64_t size_;
  float divisor_;
  bool is_float_;
  std::vector<float> one_;
};

// Rows of a tile are neighbours in a row of the result, in parts of about the same length.
void convolve(const float* x, const float* panels, const float* bias, float* out, Sizes of,
              int64_t n) {
  const int64_t parts = (of.ow + ROWS - 1) / ROWS, part = (of.ow + parts - 1) / parts;
  for (int64_t o = 0; o < of.o; o += COLUMNS) {
    const float* const panel = panels + o * of.y * of.width;
    for (int64_t row = 0; row < of.oh; ++row)
      for (int64_t column = 0; column < of.ow; column += part) {
        const float* const at = x + of.pixel(row * of.stride, column * of.stride);
        const Numbers numbers = {at, of.stride * of.c, 1, of.line, of.width, of.y};
        tile_of<ROWS>(std::min(part, of.ow - column), numbers, {panel, COLUMNS}, {bias + o, 0},
                      out + of.result(n, row, column) + o, of.o);
      }
  }
}

// Adds what one image gives to 32 columns of the gradient of a row of the weights. Rows of a tile
// are neighbours there; it sums over the pixels of the result.
void add_weights(const float* x, const float* gradient, float* out, Sizes of, int64_t n, int64_t y,
                 int64_t o) {
  for (int64_t k = 0; k < of.width; k += WEIGHT_ROWS) {
    const float* const at = x + of.pixel(y, 0) + k;
    const Numbers numbers = {at, 1, of.stride * of.c, of.stride * of.line, of.ow, of.oh};
    float* const to = out + (y * of.width + k) * of.o + o;
    tile<WEIGHT_ROWS>(numbers, {gradient + of.result(n, 0, 0) + o, of.o}, {to, of.o}, to, of.o);
  }
}

// Adds the gradient of a pixel of the result to those that it was made of. Rows of a tile are the
// same pixel of several images, from n on: what neighbours are made of overlaps.
void add_images(const float* gradient, const float* panels, float* out, Sizes of, int64_t n) {
  const int64_t images = std::min<int64_t>(ROWS, of.n - n), next = of.result(1, 0, 0);
  for (int64_t y = 0; y < of.y; ++y)
    for (int64_t k = 0; k < of.width; k += COLUMNS) {
      const float* const panel = panels + (y * of.width + k) * of.o;
      for (int64_t row = 0; row < of.oh; ++row)
        for (int64_t column = 0; column < of.ow; ++column) {
          const Numbers numbers = {gradient + of.result(n, row, column), next, 1, 0, of.o, 1};
          float* const to = out + of.image(n, row * of.stride + y, column * of.stride) + k;
          const int64_t image = of.image(1, 0, 0);
          tile_of<ROWS>(images, numbers, {panel, COLUMNS}, {to, image}, to, image);
        }
    }
}

// The rows of a matrix in panels of 32 columns, one panel after the other.
std::vector<float> in_panels(const float* at, int64_t rows, int64_t columns, int64_t row,
                             int64_t column) {
  std::vector<float> panels(rows * columns);
  for (int64_t n = 0; n < columns; ++n)
    for (int64_t m = 0; m < rows; ++m)
      panels[(n / COLUMNS * rows + m) * COLUMNS + n % COLUMNS] = at[m * row + n * column];
  return panels;
}

Sizes sizes_of(int64_t n, int64_t h, int64_t w, int64_t c, int64_t y, int64_t x, int64_t o,
               int64_t stride) {
  STD_TORCH_CHECK(stride > 0 && y > 0 && x > 0 && h >= y && w >= x, "an image is too small");
  STD_TORCH_CHECK(o % COLUMNS == 0 && x * c % COLUMNS == 0, "sizes are not multiples of 32");
  return {n, h, w, c, y, x, o, stride};
}

const float* numbers(const Tensor& of) { return static_cast<const float*>(of.data_ptr()); }

float* written(const Tensor& of) { return static_cast<float*>(of.data_ptr()); }

Tensor four(const Tensor& of, bool is_image = false) {
  using torch::headeronly::ScalarType;
  const bool is = of.scalar_type() == ScalarType::Float ||
                  (is_image && of.scalar_type() == ScalarType::Byte);
  STD_TORCH_CHECK(is && of.dim() == 4, "wants float32 of four dimensions");
  return torch::stable::contiguous(of);
}

Tensor zeros(const Tensor& like, std::vector<int64_t> shape) {
  Tensor made = torch::stable::new_empty(like, shape);
  torch::stable::zero_(made);
  return made;
}

// convolution(x, w, bias, stride, divisor): images x [N, H, W, C], w [Y, X, C, O], bias [O] to
// [N, OH, OW, O].
Tensor convolution(const Tensor& any_x, const Tensor& any_w, const Tensor& any_bias, int64_t stride,
                   double divisor) {
  const Tensor x = four(any_x, true), w = four(any_w);
  const Tensor bias = torch::stable::contiguous(any_bias);
  const Sizes of = sizes_of(x.size(0), x.size(1), x.size(2), x.size(3), w.size(0), w.size(1),
                            w.size(3), stride);
  STD_TORCH_CHECK(w.size(2) == of.c && bias.numel() == of.o, "x has another depth than w");
  const auto panels = in_panels(numbers(w), of.y * of.width, of.o, of.o, 1);
  const Tensor out = torch::stable::new_empty(w, {of.n, of.oh, of.ow, of.o});
  torch::stable::parallel_for(0, of.n, 1, [&](int64_t begin, int64_t end) {
    Images images(x, divisor);
    for (int64_t n = begin; n < end; ++n)
      convolve(images[n], panels.data(), numbers(bias), written(out), of, n);
  });
  return out;
}

// convolution_weights(x, gradient, Y, X, stride, divisor): the gradient by w, [Y, X, C, O].
Tensor convolution_weights(const Tensor& any_x, const Tensor& any_gradient, int64_t height,
                           int64_t width, int64_t stride, double divisor) {
  const Tensor x = four(any_x, true), gradient = four(any_gradient);
  const Sizes of = sizes_of(x.size(0), x.size(1), x.size(2), x.size(3), height, width,
                            gradient.size(3), stride);
  STD_TORCH_CHECK(gradient.numel() == of.result(of.n, 0, 0), "another gradient than x has");
  const Tensor out = zeros(gradient, {of.y, of.x, of.c, of.o});
  const int64_t panels = of.o / COLUMNS;
  // The part of a thread stays in its cache while it reads every image once.
  torch::stable::parallel_for(0, of.y * panels, 1, [&](int64_t begin, int64_t end) {
    Images images(x, divisor);
    for (int64_t n = 0; n < of.n; ++n) {
      const float* const image = images[n];
      for (int64_t i = begin; i < end; ++i)
        add_weights(image, numbers(gradient), written(out), of, n, i / panels,
                    i % panels * COLUMNS);
    }
  });
  return out;
}

// convolution_images(gradient, w, H, W, stride): the gradient by x, [N, H, W, C].
Tensor convolution_images(const Tensor& any_gradient, const Tensor& any_w, int64_t height,
                          int64_t width, int64_t stride) {
  const Tensor gradient = four(any_gradient), w = four(any_w);
  const Sizes of = sizes_of(gradient.size(0), height, width, w.size(2), w.size(0), w.size(1),
                            w.size(3), stride);
  STD_TORCH_CHECK(gradient.numel() == of.result(of.n, 0, 0), "another gradient than x has");
  const auto panels = in_panels(numbers(w), of.o, of.y * of.width, 1, of.o);
  const Tensor out = zeros(gradient, {of.n, of.h, of.w, of.c});
  torch::stable::parallel_for(0, (of.n + ROWS - 1) / ROWS, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n)
      add_images(numbers(gradient), panels.data(), written(out), of, n * ROWS);
  });
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(rlk_own_products, CPU, library) {
  library.impl("convolution", TORCH_BOX(&convolution));
  library.impl("convolution_weights", TORCH_BOX(&convolution_weights));
  library.impl("convolution_images", TORCH_BOX(&convolution_images));
}
