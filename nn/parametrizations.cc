// Each is a function of operations and its inverse. Values that start from the weight (lengths,
// singular vectors) are computed so that the first call gives the method's result for that weight.

#include "firn/nn/parametrizations.h"

#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/norm/normalize.h"
#include "firn/tensor/ops/norm/spectral_norm.h"
#include "firn/tensor/ops/quantize/binary.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/reduce/norm.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/scan/sort.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::nn::parametrize {
namespace {

// The dimensions of w other than `dim`.
DimList Others(const Tensor& w, int64_t dim, const char* who) {
  const absl::StatusOr<int> kept = NormalizeDim(dim, w.shape());
  RaiseIfError(kept.status(), who);
  DimList others;
  for (int i = 0; i < w.rank(); ++i) {
    if (i != *kept) others.d[others.rank++] = i;
  }
  return others;
}

}  // namespace

// --- Weight norm --------------------------------------------------------------------------------

Tensor WeightNorm::Forward(const Tensor& length, const Tensor& direction) const {
  return firn::WeightNorm(direction, length, {.dim = dim, .eps = eps});
}

std::array<Tensor, 2> WeightNorm::RightInverse(const Tensor& weight) const {
  constexpr const char* kName = "parametrize::WeightNorm";
  const DimList over = dim ? Others(weight, *dim, kName) : DimList();
  // No dimensions are all of them to a reduction.
  const bool each = dim && over.empty();
  if (eps == 0) return {each ? Abs(weight) : Norm(weight, 2, over, dim.has_value()), weight};
  const Tensor squares = Square(weight);
  return {Sqrt(Add(each ? squares : Sum(squares, over, dim.has_value()), eps)), weight};
}

// --- Spectral norm ------------------------------------------------------------------------------

Tensor SpectralNorm::Forward(const Tensor& weight, const State& state) const {
  if (weight.rank() < 2) return Normalize(weight, 2, 0, eps);
  if (weight.num_elements() == 0) {
    RaiseStatus(InvalidArgument("the weight has no elements: ", weight.spec().ToString()),
                "parametrize::SpectralNorm");
  }
  return firn::SpectralNorm(
      weight, state.buffer(0), state.buffer(1),
      {.dim = dim, .iterations = iterations, .eps = eps, .training = state.training()});
}

std::vector<NamedTensor> SpectralNorm::Buffers(const Tensor& weight) const {
  constexpr const char* kName = "parametrize::SpectralNorm";
  if (iterations < 1) {
    RaiseStatus(InvalidArgument("iterations must be positive, got ", iterations), kName);
  }
  if (weight.rank() < 2 || weight.num_elements() == 0) return {};  // Forward refuses this
  const absl::StatusOr<int> row = NormalizeDim(dim, weight.shape());
  RaiseIfError(row.status(), kName);
  const int64_t rows = weight.size(*row);
  const auto unit = [&](int64_t size) {
    const Tensor drawn = Randn({size}, weight.dtype()).To(weight.device());
    return Normalize(drawn, 2, 0, eps);
  };
  constexpr int64_t kFirstIterations = 15;  // PyTorch's
  const Tensor u = unit(rows), v = unit(weight.num_elements() / rows);
  firn::SpectralNorm(weight, u, v, {.dim = dim, .iterations = kFirstIterations, .eps = eps});
  return {{"_u", u}, {"_v", v}};
}

// --- Weight standardization ---------------------------------------------------------------------

Tensor WeightStandardization::Forward(const Tensor& weight) const {
  constexpr const char* kName = "parametrize::WeightStandardization";
  const DimList over = Others(weight, dim, kName);
  if (over.empty()) {
    RaiseStatus(InvalidArgument("the weight must have 2 dimensions or more, got ",
                                weight.spec().ToString()),
                kName);
  }
  return Standardize(weight, over, eps);
}

// --- Pruning ------------------------------------------------------------------------------------

Tensor MagnitudePrune::Forward(const Tensor& weight, const State& state) const {
  return fixed ? Where(state.buffer(0), weight, 0) : firn::MagnitudePrune(weight, rate);
}

std::vector<NamedTensor> MagnitudePrune::Buffers(const Tensor& weight) const {
  if (!fixed) return {};
  if (!(rate >= 0 && rate <= 1)) {
    RaiseStatus(InvalidArgument("rate must lie in [0, 1], got ", rate),
                "parametrize::MagnitudePrune");
  }
  const auto pruned =
      static_cast<int64_t>(std::nearbyint(rate * static_cast<double>(weight.num_elements())));
  const Tensor order = Argsort(Flatten(Abs(weight)), 0, {.stable = true});
  const Tensor rank = Argsort(order, 0);
  return {{"mask", Reshape(Ge(rank, pruned), weight.shape())}};
}

// --- Few levels ---------------------------------------------------------------------------------

Tensor Binarize::Forward(const Tensor& weight) const {
  return firn::Binarize(weight, {.zero_to = zero_to, .scale_dim = scale_dim});
}

Tensor Inq::Forward(const Tensor& weight, const State& state) const {
  return InqQuantize(weight, state.buffer(0), state.buffer(1),
                     {.num_bits = num_bits,
                      .iterations = iterations,
                      .selection = selection,
                      .training = state.training()});
}

std::vector<NamedTensor> Inq::Buffers(const Tensor& weight) const {
  const auto zeros = [&](const Shape& shape, DType dtype) {
    return Zeros(shape, dtype).To(weight.device());
  };
  return {{"fixed", zeros(weight.shape(), DType::kBool)}, {"step", zeros(Shape(), DType::kI64)}};
}

}  // namespace firn::nn::parametrize
