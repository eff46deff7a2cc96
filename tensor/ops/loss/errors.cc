// Composites of comparisons, so that no gradient flows. "Not less" rather than "at least": of a NaN
// the first is true.

#include "firn/tensor/ops/loss/errors.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

DType ResultOf(const Tensor& x) { return IsFloating(x.dtype()) ? x.dtype() : kDefaultFloat; }

}  // namespace

Tensor BinaryError(const Tensor& x, const Tensor& target) {
  CheckDefined(x, "binary_error");
  CheckDefined(target, "binary_error", "target");
  return Cast(LogicalXor(Ge(x, 0.5), Ge(target, 0.5)), ResultOf(x));
}

Tensor TopNError(const Tensor& x, const Tensor& target, Integer dim, Integer n) {
  CheckDefined(x, "top_n_error");
  CheckDefined(target, "top_n_error", "target");
  const absl::StatusOr<int> classes = NormalizeDim(dim, x.shape());
  if (!classes.ok()) RaiseStatus(classes.status(), "top_n_error");
  Dims want;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != *classes) want.push_back(x.shape()[i]);
  }
  if (target.shape() != Shape(want.span())) {
    RaiseStatus(
        InvalidArgument("target ", target.shape().ToString(), " does not fit x ",
                        x.shape().ToString(), " (want ", Shape(want.span()).ToString(), ")"),
        "top_n_error");
  }
  if (n < 1) RaiseStatus(InvalidArgument("n must be 1 or more, got ", int64_t{n}), "top_n_error");
  const Tensor own = Gather(x, *classes, Unsqueeze(target, *classes));
  const Tensor above = Sum(Cast(LogicalNot(Lt(x, own)), DType::kI64), *classes);
  return Cast(Gt(above, int64_t{n}), ResultOf(x));  // itself is among those
}

}  // namespace firn
