// top_n_error, binary_error: made of comparisons. The target's own score is one of those that are
// not below it, which is why more than n must be. confusion_matrix: ones, added at the places of
// pairs of classes.

#include "firn/tensor/ops/loss/error_rates.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/loss/loss_rules.h"
#include "firn/tensor/ops/reduce/position.h"
#include "firn/tensor/ops/reduce/reduction.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {

namespace {

// The dimension of the classes. Throws unless x has scores and target labels for them.
int ClassDim(const Tensor& x, const Tensor& target, Integer dim, const char* op) {
  CheckOneFloat({{"x", x}}, op);
  CheckLabels(target, op);
  const absl::StatusOr<int> along = NormalizeDim(dim, x.shape());
  RaiseIfError(along.status(), op);
  if (x.rank() == 0) RaiseStatus(InvalidArgument("x is 0-d: it has no classes"), op);
  const Shape want = ReducedShape(x.shape(), Dims(1, static_cast<int64_t>(*along)), false);
  if (target.shape() != want) {
    RaiseStatus(InvalidArgument("target ", target.shape().ToString(), " does not fit x ",
                                x.shape().ToString(), " (want ", want.ToString(), ")"),
                op);
  }
  return *along;
}

}  // namespace

Tensor TopNError(const Tensor& x, const Tensor& target, Integer dim, Integer n) {
  constexpr const char* kName = "top_n_error";
  const int along = ClassDim(x, target, dim, kName);
  if (n < 1) {
    RaiseStatus(InvalidArgument("n must be at least 1, got ", static_cast<int64_t>(n)), kName);
  }
  const Tensor own =
      IndexedByTarget(kName, [&] { return Gather(x, along, Unsqueeze(target, along)); });
  const Tensor ahead = Sum(LogicalNot(Lt(x, own)), along);
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

Tensor ConfusionMatrix(const Tensor& x, const Tensor& target, Integer dim) {
  constexpr const char* kName = "confusion_matrix";
  const int along = ClassDim(x, target, dim, kName);
  const int64_t classes = x.size(along);
  const Shape matrix({classes, classes});
  const ArangeOptions numbers{.dtype = DType::kI64, .device = x.device()};
  const Tensor labels = IndexedByTarget(kName, [&] {
    return Gather(Arange(int64_t{0}, classes, int64_t{1}, numbers), 0, Flatten(target));
  });
  if (labels.num_elements() == 0) return Zeros(matrix, DType::kI64, x.device());
  const Tensor cells = Add(Mul(labels, classes), Flatten(Argmax(x, along)));
  return Reshape(
      ScatterAdd(Zeros({classes * classes}, DType::kI64, x.device()), 0, cells, OnesLike(cells)),
      matrix);
}

}  // namespace firn
