// Adafactor, written with operations: its step depends on means over rows, columns and everything.

#include "firn/optim/adafactor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/optim/registry.h"
#include "firn/optim/unless.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/optimizer_rule.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn::optim {
namespace {

double EpsilonOf(DType d) {
  switch (d) {
    case DType::kF64:
      return std::numeric_limits<double>::epsilon();
    case DType::kF16:
      return 0x1p-10;
    case DType::kBF16:
      return 0x1p-7;
    default:
      return static_cast<double>(std::numeric_limits<float>::epsilon());
  }
}

Tensor RootMeanSquare(const Tensor& x) { return Sqrt(Mean(Square(x))); }

}  // namespace

Shape Adafactor::StateShape(size_t, size_t state, const Shape& param) const {
  const int rank = param.rank();
  if (rank < 2 || state == 2) return rank < 2 && state == 2 ? param : Shape({0});
  Dims sizes(param.dims());
  sizes[state == 0 ? rank - 1 : rank - 2] = 1;
  return Shape::Trusted(sizes);  // smaller than one that was checked
}

void Adafactor::Check(const AdafactorOptions& o) const {
  if (!(o.beta2_decay <= 0)) {
    RaiseStatus(InvalidArgument("beta2_decay ", o.beta2_decay, " must not be positive"), name());
  }
  if (!(o.d >= 1)) RaiseStatus(InvalidArgument("d ", o.d, " must be at least 1"), name());
  RaiseIfError(
      NotNegative(
          {{"lr", o.lr}, {"eps1", o.eps1}, {"eps2", o.eps2}, {"weight_decay", o.weight_decay}}),
      name());
}

void Adafactor::Update(size_t group, const Tensor& lr, const Tensor& skip,
                       absl::Span<Slot* const> slots) {
  const AdafactorOptions& o = options(group);
  for (Slot* slot : slots) {
    const DType dtype = inner::ComputeDType(slot->param.dtype());
    const Tensor x = Cast(slot->param, dtype), grad = Cast(slot->param.grad(), dtype);
    // If the square of eps1 were 0 in the dtype, 0 would be divided by the root of 0.
    const double least = dtype == DType::kF64 ? 0x1p-1022 : 0x1p-126;
    const double eps1 = std::max(o.eps1 > 0 ? o.eps1 : EpsilonOf(slot->param.dtype()), least);
    const Tensor t = Add(Cast(slot->step, DType::kF64), 1);
    const Tensor weight = Cast(Pow(t, o.beta2_decay), dtype), square = Square(grad);
    Tensor variance;
    if (x.rank() > 1) {
      const Tensor rows = Lerp(slot->state[0], Mean(square, {-1}, true), weight);
      const Tensor columns = Lerp(slot->state[1], Mean(square, {-2}, true), weight);
      variance = Div(Matmul(rows, columns), Clamp(Mean(rows, {-2}, true), eps1));
      AssignUnless(skip, slot->state[0], rows);
      AssignUnless(skip, slot->state[1], columns);
    } else {
      variance = Lerp(slot->state[2], square, weight);
      AssignUnless(skip, slot->state[2], variance);
    }
    const Tensor step = Mul(grad, Rsqrt(Clamp(variance, std::max(eps1 * eps1, least))));
    const Tensor rate = Cast(Minimum(Cast(lr, DType::kF64), Rsqrt(t)), dtype);
    const Tensor length = Clamp(Div(RootMeanSquare(step), o.d), 1);
    const Tensor alpha = Div(Mul(Clamp(RootMeanSquare(x), o.eps2), rate), length);
    const Tensor kept = Sub(x, Mul(x, Mul(Cast(lr, dtype), o.weight_decay)));
    AssignUnless(skip, slot->param, Sub(kept, Mul(step, alpha)));
    CountUnless(skip, slot->step);
  }
}

FIRN_REGISTER_OPTIMIZER(adafactor, Adafactor);

}  // namespace firn::optim
