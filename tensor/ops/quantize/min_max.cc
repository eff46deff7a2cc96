// A composite. The values are computed outside of the gradient; it goes through x cut off at the
// range, whose derivatives are exactly the gradients that x and the ends are to get.

#include "firn/tensor/ops/quantize/min_max.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/activation/straight_through.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/rounding.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

constexpr char kName[] = "min_max_quantize";

[[noreturn]] void Refuse(const absl::Status& status) { RaiseStatus(status, kName); }

bool Fits(const Shape& range, const Shape& x) {
  if (range.num_elements() == 1) return true;
  if (range.rank() != x.rank()) return false;
  for (int i = 0; i < x.rank(); ++i) {
    if (range[i] != 1 && range[i] != x[i]) return false;
  }
  return true;
}

void Check(const Tensor& x, const Tensor& low, const Tensor& high, const MinMaxQuantizeOptions& o) {
  CheckDefined(x, kName);
  CheckDefined(low, kName, "qr_min");
  CheckDefined(high, kName, "qr_max");
  if (!IsFloating(x.dtype())) {
    Refuse(InvalidArgument("x must be f32, f64, f16 or bf16, got ", x.spec().ToString()));
  }
  const DType dtype = ComputeDType(x.dtype());
  for (const Tensor* t : {&low, &high}) {
    if (t->dtype() != dtype || !Fits(t->shape(), x.shape()) || t->shape() != low.shape()) {
      Refuse(InvalidArgument("qr_min ", low.spec().ToString(), " and qr_max ",
                             high.spec().ToString(), " must be ", DTypeName(dtype),
                             " of one shape, one element or sizes 1 or those of x ",
                             x.spec().ToString()));
    }
  }
  if (!(o.decay >= 0 && o.decay <= 1) || !(o.eps > 0)) {
    Refuse(
        InvalidArgument("decay must lie in [0, 1] and eps above 0, got ", o.decay, " and ", o.eps));
  }
}

// The dimensions that share an end of the range; all where it is a single one.
DimList SharedDims(const Shape& range) {
  DimList dims;
  for (int i = 0; range.num_elements() != 1 && i < range.rank(); ++i) {
    if (range[i] == 1) dims.d[dims.rank++] = i;
  }
  return dims;
}

// Moves the range to that of x.
void Follow(const Tensor& x, const Tensor& qr_min, const Tensor& qr_max,
            const MinMaxQuantizeOptions& o) {
  const bool single = qr_min.num_elements() == 1;
  const DimList dims = SharedDims(qr_min.shape());
  const bool alone = !single && dims.empty();  // every element has a range
  const Tensor least = alone ? x : Amin(x, dims, !single);
  const Tensor most = alone ? x : Amax(x, dims, !single);
  const auto next = [&](const Tensor& now, const Tensor& seen) {
    return o.ema ? Add(Mul(now, o.decay), Mul(seen, 1 - o.decay)) : seen;
  };
  Assign(qr_min, next(qr_min, least));
  Assign(qr_max, Maximum(next(qr_max, most), Add(qr_min, o.eps)));
}

// A range that has 0 as a level, and the distance of its levels.
struct Range {
  Tensor low, high, scale;
};
Range RangeOf(const Tensor& qr_min, const Tensor& qr_max, const Tensor& ql_min,
              const Tensor& ql_max, double eps) {
  const Tensor high = Maximum(qr_max, Add(qr_min, eps));
  const Tensor scale = Div(Sub(high, qr_min), Sub(ql_max, ql_min));
  const Tensor at = Sub(ql_min, Div(qr_min, scale));
  const Tensor zero = Clamp(Round(at, {.ties = RoundTies::kAway}), ql_min, ql_max);
  return {Mul(Sub(ql_min, zero), scale), Mul(Sub(ql_max, zero), scale), scale};
}

Tensor Rounded(const Tensor& x, const Range& r) {
  const Tensor steps = Div(Sub(Clamp(x, r.low, r.high), r.low), r.scale);
  return Add(Mul(Round(steps, {.ties = RoundTies::kAway}), r.scale), r.low);
}

}  // namespace

Tensor MinMaxQuantize(const Tensor& x, const Tensor& qr_min, const Tensor& qr_max,
                      const Tensor& ql_min, const Tensor& ql_max, const MinMaxQuantizeOptions& o) {
  Check(x, qr_min, qr_max, o);
  CheckDefined(ql_min, kName, "ql_min");
  CheckDefined(ql_max, kName, "ql_max");
  if (x.num_elements() == 0) return Mul(x, 1);
  const DType dtype = qr_min.dtype();
  const Tensor wide = Cast(x, dtype);
  // One end for all has no dimensions, so that it fits every x.
  const auto end = [](const Tensor& t) { return t.num_elements() == 1 ? Reshape(t, {}) : t; };
  const auto level = [&](const Tensor& t) { return end(AsDType(t, dtype, x.device()).Detach()); };
  Range range;
  Tensor values;
  {
    const NoGradScope no_grad;
    if (o.x_min_max) Follow(wide, qr_min, qr_max, o);
    range = RangeOf(end(qr_min), end(qr_max), level(ql_min), level(ql_max), o.eps);
    values = Rounded(wide, range);
  }
  if (!o.x_min_max && !o.ema) {  // learnt
    range.low = StraightThrough(range.low, end(qr_min));
    range.high = StraightThrough(range.high, end(qr_max));
  }
  // The gradient goes through this tensor, of which only the derivatives count.
  const Tensor path = o.ste_fine_grained ? Clamp(wide, range.low, range.high)
                                         : Add(wide, Clamp(wide.Detach(), range.low, range.high));
  return Cast(StraightThrough(values, path), x.dtype());
}

}  // namespace firn
