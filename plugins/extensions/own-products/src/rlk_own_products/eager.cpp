// Products of float32 matrices, and tanh, on a CPU with AVX-512 in the place of torch's kernels.
//
// `rlk_put_in` gives them to torch's dispatcher, so that gradients are computed by them as well. A
// thread uses them between `rlk_use(true)` and `rlk_use(false)`. Otherwise, and for tensors with
// which they are not known to be faster, they call torch's kernel.

#include "product.h"

#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include <ATen/ExpandUtils.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/baddbmm_cpu_dispatch.h>
#include <ATen/ops/bmm_cpu_dispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm_cpu_dispatch.h>
#include <ATen/ops/tanh_cpu_dispatch.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

namespace {

using at::Scalar, at::Tensor;

// Columns and numbers of the right matrices for our own kernel: native.py defines them.
constexpr int64_t LEAST_COLUMNS = RLK_COLUMNS, NUMBERS = RLK_NUMBERS;
// A thread takes no fewer numbers than this from another.
constexpr int64_t ELEMENTS = 1 << 15;
constexpr auto IN_PARALLEL = [](auto&&... of) { at::parallel_for(of...); };

thread_local bool in_use = false;

bool is_float(const Tensor& x) { return x.scalar_type() == at::kFloat; }

// ---- products ------------------------------------------------------------------------------------

// Whether our own product of x [.., M, K] by w [.., K, N], with so many dimensions, is faster. If K
// is 0, it would write nothing, but the result is zeros.
bool suits(const Tensor& x, const Tensor& w, int64_t dimensions) {
  if (!in_use || x.dim() != dimensions || w.dim() != dimensions) return false;
  const int64_t depth = x.size(-1), columns = w.size(-1);
  const bool fit = depth > 0 && depth == w.size(-2) &&
                   (dimensions == 2 || x.size(0) == w.size(0));
  const bool wide = columns >= LEAST_COLUMNS || (columns > 1 && w.stride(-1) == 1);
  return fit && wide && columns * depth <= NUMBERS && is_float(x) && is_float(w) &&
         (x.stride(-1) == 1 || x.stride(-2) == 1);
}

std::vector<int64_t> shape_of_product(const Tensor& x, const Tensor& w) {
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = w.size(-1);
  return shape;
}

Tensor product(const Tensor& x, const Tensor& w) {
  const Tensor out = at::empty(shape_of_product(x, w), x.options());
  multiply(x, w, out, false, IN_PARALLEL);
  return out;
}

// Whether a product that suits may start from the bias, unchanged.
bool adds(const Tensor& bias, const Tensor& x, const Tensor& w, const Scalar& beta,
          const Scalar& alpha) {
  return beta.equal(1) && alpha.equal(1) && is_float(bias) &&
         at::is_expandable_to(bias.sizes(), shape_of_product(x, w));
}

Tensor biased_product(const Tensor& bias, const Tensor& x, const Tensor& w) {
  const std::vector<int64_t> shape = shape_of_product(x, w);
  const Tensor out = at::empty(shape, x.options());
  out.copy_(bias.expand(shape));
  multiply(x, w, out, true, IN_PARALLEL);
  return out;
}

Tensor own_mm(const Tensor& x, const Tensor& w) {
  return suits(x, w, 2) ? product(x, w) : at::cpu::mm(x, w);
}

Tensor own_bmm(const Tensor& x, const Tensor& w) {
  return suits(x, w, 3) ? product(x, w) : at::cpu::bmm(x, w);
}

Tensor own_addmm(const Tensor& bias, const Tensor& x, const Tensor& w, const Scalar& beta,
                 const Scalar& alpha) {
  if (suits(x, w, 2) && adds(bias, x, w, beta, alpha)) return biased_product(bias, x, w);
  return at::cpu::addmm(bias, x, w, beta, alpha);
}

Tensor own_baddbmm(const Tensor& bias, const Tensor& x, const Tensor& w, const Scalar& beta,
                   const Scalar& alpha) {
  if (suits(x, w, 3) && adds(bias, x, w, beta, alpha)) return biased_product(bias, x, w);
  return at::cpu::baddbmm(bias, x, w, beta, alpha);
}

// ---- tanh ----------------------------------------------------------------------------------------

// e^y - 1 for 0 <= y <= 20: y is n ln 2 and a rest, for which eight terms of the series suffice.
inline float exp_minus_one(float y) {
  constexpr float LOG2_E = 1.44269504f, LN2_HIGH = 0.693145752f, LN2_LOW = 1.42860677e-6f;
  const float n = std::nearbyint(y * LOG2_E);
  const float rest = std::fma(-n, LN2_LOW, std::fma(-n, LN2_HIGH, y));
  float sum = 1 + rest / 8;
  for (int k = 7; k > 1; --k) sum = std::fma(rest * (1.f / k), sum, 1.f);
  const float power = std::bit_cast<float>((static_cast<int32_t>(n) + 127) << 23);  // 2^n
  return std::fma(power, rest * sum, power - 1);
}

// tanh |x| = (e^2|x| - 1) / (e^2|x| + 1), which float32 rounds to 1 long before |x| is 10.
void tanh_of(const float* x, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float twice = 2 * std::fabs(x[i]), e = exp_minus_one(twice > 20 ? 20 : twice);
    out[i] = std::copysign(e / (e + 2), x[i]);
  }
}

bool suits_tanh(const Tensor& x) { return in_use && is_float(x) && x.is_contiguous(); }

void compute_tanh(const Tensor& x, const Tensor& out) {
  const float* const from = x.const_data_ptr<float>();
  float* const to = out.mutable_data_ptr<float>();
  at::parallel_for(0, x.numel(), ELEMENTS, [&](int64_t begin, int64_t end) {
    tanh_of(from + begin, to + begin, end - begin);
  });
}

Tensor own_tanh(const Tensor& x) {
  if (!suits_tanh(x)) return at::cpu::tanh(x);
  const Tensor out = at::empty_like(x);
  compute_tanh(x, out);
  return out;
}

Tensor& own_tanh_in_place(Tensor& x) {
  if (!suits_tanh(x)) return at::cpu::tanh_(x);
  compute_tanh(x, x);
  return x;
}

// ---- torch's dispatcher --------------------------------------------------------------------------

// torch warns of every kernel that another one replaces, but this is what is wanted.
struct Unheard : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

torch::Library replaced() {
  torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::CPU, __FILE__, __LINE__);
  library.impl("mm", TORCH_FN(own_mm));
  library.impl("bmm", TORCH_FN(own_bmm));
  library.impl("addmm", TORCH_FN(own_addmm));
  library.impl("baddbmm", TORCH_FN(own_baddbmm));
  library.impl("tanh", TORCH_FN(own_tanh));
  library.impl("tanh_", TORCH_FN(own_tanh_in_place));
  return library;
}

}  // namespace

extern "C" void rlk_put_in() {
  Unheard handler;
  const c10::WarningUtils::WarningHandlerGuard guard(&handler);
  static const torch::Library library = replaced();
}

// Returns whether this thread used them before.
extern "C" bool rlk_use(bool on) { return std::exchange(in_use, on); }
