// count_nonzero, nanmean: sums of what is chosen by a comparison.
//
// bincount, histc: ones or weights added at the numbers, by scatter_add, whose sums do not depend
// on threads. Elements that histc leaves out go to an additional last part, which is cut off.

#include "firn/tensor/ops/reduce/count.h"

#include <algorithm>
#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/classify.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/reduce/count_fn.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

constexpr const char* kBincount = "bincount";

// How many bins x needs, or minlength where x cannot be read.
int64_t CountBins(const Tensor& x, int64_t minlength) {
  CheckDefined(x, kBincount);
  if (!IsIntegral(x.dtype()) || x.rank() != 1) {
    RaiseStatus(InvalidArgument("x must be integers [n], got ", x.spec().ToString()), kBincount);
  }
  if (minlength < 0) {
    RaiseStatus(InvalidArgument("minlength must be at least 0, got ", minlength), kBincount);
  }
  if (x.num_elements() == 0 || (minlength > 0 && !CheckHostRead(x).ok())) return minlength;
  RaiseIfError(CheckHostRead(x), kBincount);
  NoGradScope no_grad;
  const int64_t least = Amin(x).Item<int64_t>(), most = Amax(x).Item<int64_t>();
  if (least < 0 || most == INT64_MAX) {
    RaiseStatus(InvalidArgument("x must hold numbers from 0 on, got ", least < 0 ? least : most),
                kBincount);
  }
  return std::max(minlength, most + 1);
}

// x, with an index beyond all bins for negative elements.
Tensor Places(const Tensor& x, int64_t bins) {
  const Tensor i = Cast(x, DType::kI64);
  return Where(Lt(i, 0), bins, i);
}

struct Range {
  Tensor low, high;
};
// The range of histc: as it is given, or that of v's finite elements.
Range RangeOf(const Tensor& v, const HistcOptions& o) {
  if (o.min != 0 || o.max != 0) {
    return {Full({}, o.min, v.dtype(), v.device()), Full({}, o.max, v.dtype(), v.device())};
  }
  const Tensor finite = Isfinite(v);
  return {Amin(Where(finite, v, INFINITY)), Amax(Where(finite, v, -INFINITY))};
}

constexpr int64_t kFloatBins = 1 << 24;  // whose numbers are floats

FIRN_REGISTER_OP(histc_part) {
  return {
      .doc = "The part of [low, high] that x lies in, or -1; broadcast. Not differentiable.",
      .inputs = {{.name = "x", .dtypes = SetOf(DType::kF32) | SetOf(DType::kF64)},
                 {.name = "low", .same_dtype_as = "x"},
                 {.name = "high", .same_dtype_as = "x"}},
      .outputs = {{.name = "part"}},
      .attrs = AttrsOf<HistcPartAttrs>(),
      .infer = InferBroadcast,
      .kernels = {cpu::ElementwiseKernel(cpu::RunFloat<HistcPartFn, 3>)},
      .elementwise = cpu::ElementwiseOf<HistcPartFn>(),
  };
}

}  // namespace

Tensor inner::HistcPart(const Tensor& x, const Tensor& low, const Tensor& high,
                        const HistcPartAttrs& attrs) {
  return Apply1(TheOp<"histc_part">(), {x, low, high}, attrs);
}

Tensor CountNonzero(const Tensor& x, const DimList& dims) { return Sum(Ne(x, 0), dims); }

Tensor Nanmean(const Tensor& x, const DimList& dims, Flag keepdim) {
  CheckDefined(x, "nanmean");
  if (!IsFloating(x.dtype())) {
    RaiseStatus(InvalidArgument("x must be floating, got ", x.spec().ToString()), "nanmean");
  }
  const Tensor nan = Isnan(x);
  const Tensor wide = Cast(Where(nan, 0.0, x), ComputeDType(x.dtype()));
  const Tensor count = Sum(LogicalNot(nan), dims, keepdim);
  return Cast(Div(Sum(wide, dims, keepdim), Cast(count, wide.dtype())), x.dtype());
}

Tensor Bincount(const Tensor& x, const Tensor& weights, Integer minlength) {
  const int64_t bins = CountBins(x, minlength);
  const Tensor places = Places(x, bins);
  if (!weights.defined()) {
    return ScatterAdd(Zeros({bins}, DType::kI64, x.device()), 0, places, OnesLike(places));
  }
  if (weights.shape() != x.shape() || !IsFloating(weights.dtype())) {
    RaiseStatus(InvalidArgument("weights must be floating ", x.shape().ToString(), ", got ",
                                weights.spec().ToString()),
                kBincount);
  }
  return ScatterAdd(Zeros({bins}, weights.dtype(), x.device()), 0, places, weights);
}

Tensor Histc(const Tensor& x, const HistcOptions& o) {
  constexpr const char* kName = "histc";
  CheckDefined(x, kName);
  if (!IsFloating(x.dtype())) {
    RaiseStatus(InvalidArgument("x must be floating, got ", x.spec().ToString()), kName);
  }
  const absl::StatusOr<Shape> shape = Shape::Make({o.bins});
  if (o.bins < 1 || o.bins == INT64_MAX || !shape.ok()) {
    RaiseStatus(InvalidArgument("bins must be at least 1 and few enough, got ", o.bins), kName);
  }
  if (!(o.min <= o.max) || !std::isfinite(o.min) || !std::isfinite(o.max)) {
    RaiseStatus(
        InvalidArgument("min ", o.min, " must not be above max ", o.max, ", and both finite"),
        kName);
  }
  if (x.num_elements() == 0) return Zeros(*shape, x.dtype(), x.device());
  NoGradScope no_grad;
  const DType wide = o.bins > kFloatBins ? DType::kF64 : ComputeDType(x.dtype());
  const Tensor v = Flatten(Cast(x, wide));
  auto [low, high] = RangeOf(v, o);
  const Tensor point = Eq(low, high);
  low = Where(point, Sub(low, 1), low);
  high = Where(point, Add(high, 1), high);
  const Tensor places =
      Cast(HistcPart(v, low, high, {o.bins}), o.bins < INT32_MAX ? DType::kI32 : DType::kI64);
  const Tensor counts = ScatterAdd(Zeros({o.bins + 1}, DType::kI64, x.device()), 0, places,
                                   Ones(v.shape(), DType::kI64, x.device()));
  return Cast(Slice(counts, 0, 0, o.bins), x.dtype());
}

}  // namespace firn
