// top_n_error, binary_error: made of comparisons. The target's own score is one of those that are
// not below it, which is why more than n have to be.

#include "firn/tensor/ops/loss/error_rates.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/loss/loss_rules.h"
#include "firn/tensor/ops/reduce/reduction.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {

Tensor TopNError(const Tensor& x, const Tensor& target, Integer dim, Integer n) {
  constexpr const char* kName = "top_n_error";
  CheckOneFloat({{"x", x}}, kName);
  CheckLabels(target, kName);
  const absl::StatusOr<int> along = NormalizeDim(dim, x.shape());
  RaiseIfError(along.status(), kName);
  if (n < 1) {
    RaiseStatus(InvalidArgument("n must be at least 1, got ", static_cast<int64_t>(n)), kName);
  }
  if (x.rank() == 0) RaiseStatus(InvalidArgument("x is 0-d: it has no classes"), kName);
  const Shape want = ReducedShape(x.shape(), Dims(1, static_cast<int64_t>(*along)), false);
  if (target.shape() != want) {
    RaiseStatus(InvalidArgument("target ", target.shape().ToString(), " does not fit x ",
                                x.shape().ToString(), " (want ", want.ToString(), ")"),
                kName);
  }
  const Tensor own =
      IndexedByTarget(kName, [&] { return Gather(x, *along, Unsqueeze(target, *along)); });
  const Tensor ahead = Sum(LogicalNot(Lt(x, own)), *along);
  return Cast(Gt(ahead, static_cast<int64_t>(n)), x.dtype());
}

Tensor BinaryError(const Tensor& x, const Tensor& target) {
  CheckOneFloat({{"x", x}}, "binary_error");
  CheckDefined(target, "binary_error", "target");
  if (!BroadcastShapes(x.shape(), target.shape()).ok()) {
    RaiseStatus(InvalidArgument("target ", target.shape().ToString(), " does not broadcast with x ",
                                x.shape().ToString()),
                "binary_error");
  }
  return Cast(Ne(Ge(x, 0.5), Ge(target, 0.5)), x.dtype());
}

}  // namespace firn
