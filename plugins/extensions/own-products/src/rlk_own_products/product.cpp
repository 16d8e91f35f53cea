// Products of float32 matrices as an operator of torch: rlk_own_products::product.

#include "product.h"

#include <vector>

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/util/Exception.h>

namespace {

using torch::stable::Tensor;

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
  multiply(x, w, result, false, [](auto&&... of) { torch::stable::parallel_for(of...); });
  return result;
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(rlk_own_products, CPU, library) {
  library.impl("product", TORCH_BOX(&product));
}
