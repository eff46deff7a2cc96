#ifndef FIRN_TENSOR_PROMOTION_H_
#define FIRN_TENSOR_PROMOTION_H_

// Parts shared by elementwise operations on every device: the promotion of the front functions,
// beside the shape rules of tensor/infer.h.

#include <utility>

#include "firn/tensor/apply.h"
#include "firn/tensor/infer.h"
#include "firn/tensor/op.h"

namespace firn {

// Both operands in the dtype of the result (numbers adopt the other operand's dtype unless their
// kind is higher: int tensor + 0.5 is f32). Throws when one is undefined.
class Promoted {
 public:
  const Tensor& x() const { return converted_x_.defined() ? converted_x_ : *x_; }
  const Tensor& y() const { return converted_y_.defined() ? converted_y_ : *y_; }

 private:
  friend Promoted PromoteOperands(const Tensor&, const Tensor&, std::string_view, bool);
  friend Promoted PromoteCompared(const Tensor&, const Tensor&, std::string_view);
  Promoted(const Tensor& x, const Tensor& y) : x_(&x), y_(&y) {}
  const Tensor *x_, *y_;
  Tensor converted_x_, converted_y_;
};
// The dtype of a result of x and y (both defined): PyTorch's rule. Tensors with dimensions decide,
// then 0-d tensors, then numbers; a later group changes the result only by a higher kind
// (bool < integer < float).
DType ResultType(const Tensor& x, const Tensor& y);
// `op` names the caller in errors. With `to_float`, integers and bools become f32.
Promoted PromoteOperands(const Tensor& x, const Tensor& y, std::string_view op,
                         bool to_float = false);
// ApplyPromoted for operands that are not of one dtype and device.
Tensor ApplyConverted(const OpDef& op, const Tensor& x, const Tensor& y, AttrsRef attrs,
                      bool to_float);
// One tensor of the result's dtype for each operand, as above, for two-operand front functions:
//   Tensor Add(const Tensor& x, const Tensor& y) { return ApplyPromoted(op, x, y); }
inline Tensor ApplyPromoted(const OpDef& op, const Tensor& x, const Tensor& y, AttrsRef attrs = {},
                            bool to_float = false) {
  if (x.defined() && y.defined() && x.dtype() == y.dtype() && x.device() == y.device() &&
      (!to_float || IsFloating(x.dtype()))) [[likely]] {
    return Apply1(op, {x, y}, attrs);
  }
  return ApplyConverted(op, x, y, attrs, to_float);
}
// Like PromoteOperands, for comparisons: an integer number that does not fit an integer tensor's
// dtype (300 beside u8) is not cut to size, both become i64.
Promoted PromoteCompared(const Tensor& x, const Tensor& y, std::string_view op);
// Like ApplyPromoted, for comparisons. An integer that does not fit an integer tensor's dtype (u8
// tensor < 300) is compared in i64 and not cut to size.
Tensor ApplyCompared(const OpDef& op, const Tensor& x, const Tensor& y);
// For one-input operations on floating tensors: integers and bools become f32.
Tensor ApplyFloating(const OpDef& op, const Tensor& x, AttrsRef attrs = {});
// The front functions of operations on floating tensors, which differ only by their names:
//   Tensor Exp(const Tensor& x) { return FloatUnary<"exp">(x); }
template <OpName kName>
Tensor FloatUnary(const Tensor& x, AttrsRef attrs = {}) {
  return ApplyFloating(TheOp<kName>(), x, attrs);
}
template <OpName kName>
Tensor FloatBinary(const Tensor& x, const Tensor& y) {
  return ApplyPromoted(TheOp<kName>(), x, y, {}, /*to_float=*/true);
}
// An error unless `dtype` holds a number that becomes an element unchanged: an integer dtype holds
// numbers from its least to its largest one, and drops fractions; others hold all numbers. `name`
// is the function's name for the number.
absl::Status CheckHolds(const inner::Number& v, DType dtype, std::string_view name = "value");
// A value that becomes elements of `dtype` on `device`, unlike an operand, which promotes. A number
// is converted from its exact value, and an error in the name of `op` where CheckHolds says so.
Tensor AsElement(const Tensor& value, DType dtype, Device device, std::string_view op,
                 const char* name = "value");
// Whether `alpha` times y is a product of integers of which a double would round the first.
inline bool NeedsIntegers(const inner::Number& alpha, const Tensor& y) {
  return !alpha.is_double() && y.defined() && !IsFloating(y.dtype());
}
// The value of a number, rounded to a double and exact. Requires: t.impl()->weak_number.
double NumberValue(const Tensor& t);
inner::Number NumberOf(const Tensor& t);
// `x` as `dtype`. A number is converted from its exact value, without an operation.
Tensor AsDType(const Tensor& x, DType dtype);
// The same; a number also goes to `device`.
Tensor AsDType(const Tensor& x, DType dtype, Device device);

}  // namespace firn

#endif  // FIRN_TENSOR_PROMOTION_H_
