#ifndef FIRN_TENSOR_OPS_LOSS_LOSS_RULES_H_
#define FIRN_TENSOR_OPS_LOSS_LOSS_RULES_H_

// Parts shared by losses on every device.

#include <functional>
#include <initializer_list>
#include <limits>
#include <string_view>

#include "firn/device/macros.h"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/reduction_mode.h"

namespace firn {

// The dimension of the classes in logits [n, classes, ...] or [classes].
inline int ClassDim(const Shape& logits) { return logits.rank() == 1 ? 0 : 1; }
// The shape of the labels: the logits' without classes. Requires: rank >= 1.
Shape LabelShape(const Shape& logits);
// The other way round. Errors: too many dimensions.
absl::StatusOr<Shape> LogitsShape(const Shape& label, int64_t classes);

// Checks label (input `label`) and optional weight (input `label + 1`) against the logits.
absl::Status CheckClasses(const InferContext& c, const Shape& logits, std::string_view name,
                          int label);
// The shape of a loss whose elements have this shape.
Shape LossShape(const Shape& elements, Reduction reduction);

// Whether a logarithm of a sum of exponentials is so large that exp(x - logarithm) lacks digits
// which probabilities need: more than a third of them, from 2^8 on in f32, from 2^17 on in f64.
template <class T>
FIRN_HOST_DEVICE constexpr bool IsFarLogarithm(T x) {
  constexpr T kMost = T(1 << std::numeric_limits<T>::digits / 3);
  const T size = x < 0 ? -x : x;
  return size > kMost && size <= std::numeric_limits<T>::max();
}

// The shape rule of a loss that compares inputs 0 and 1 element by element: their shapes are equal.
absl::Status InferElementwiseLoss(InferContext& c, Reduction reduction);
// Like the above, for LossAttrs.
absl::Status InferElementwiseLoss(InferContext& c);
// An operation that compares x and y (names of inputs), without its attributes, rules and kernels.
OpDef ElementwiseLossOp(std::string_view doc, std::string_view x = "x", std::string_view y = "y");
// dLoss / d(loss of an element), to be multiplied by d(loss of an element) / dx.
Tensor LossFlow(GradContext& g, Reduction reduction);
// The losses of elements times `weight` (undefined: 1; else it broadcasts to their shape), reduced;
// by operations, for losses whose own pass has no weights.
Tensor ReduceLoss(const Tensor& losses, const Tensor& weight, Reduction reduction,
                  std::string_view op);

// For losses that are made of operations: the checks that a declaration would do.
struct NamedTensor {
  const char* name;
  const Tensor& tensor;
};
// Throws unless all are defined, floating, of one dtype and of the first one's shape.
void CheckAlike(std::initializer_list<NamedTensor> tensors, std::string_view op);
// Throws unless all are defined, floating and of one dtype.
void CheckOneFloat(std::initializer_list<NamedTensor> tensors, std::string_view op);
// Throws unless target is defined and of class indices.
void CheckLabels(const Tensor& target, std::string_view op);
// Throws unless `weight` broadcasts to the shape, or is undefined.
void CheckWeight(const Tensor& weight, const Shape& losses, std::string_view op);
// Returns f(), which runs an operation whose indices are the target; if an index is outside of the
// classes, the error names `op` and the target.
Tensor IndexedByTarget(std::string_view op, const std::function<Tensor()>& f);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_LOSS_RULES_H_
