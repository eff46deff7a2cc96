#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_ARITHMETIC_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_ARITHMETIC_H_

#include <vector>

#include "firn/device/enum_words.h"
#include "firn/tensor/number.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct AddAttrs {
  double alpha = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
  }
};
}  // namespace inner

// x + alpha * y, broadcast; dtypes promote as PyTorch's. For bool, alpha 1 is logical or.
Tensor Add(const Tensor& x, const Tensor& y, inner::Number alpha = 1);

// The sum of one or more tensors, broadcast; dtypes promote as PyTorch's. Half types are added in
// float and rounded once. For bool it is logical or.
Tensor AddN(const std::vector<Tensor>& tensors);

namespace inner {
struct SubAttrs {
  double alpha = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
  }
};
}  // namespace inner

// x - alpha * y, broadcast; dtypes promote as PyTorch's. Integers wrap around and need a whole
// alpha; bool is refused (see LogicalXor). Operator `-`.
Tensor Sub(const Tensor& x, const Tensor& y, inner::Number alpha = 1);

// x * y, broadcast; dtypes promote as PyTorch's.
Tensor Mul(const Tensor& x, const Tensor& y);

// How the quotient is rounded.
enum class DivRounding : int8_t {
  kNone,   // nothing; integers and bools become f32
  kTrunc,  // rounded towards 0, as C++ divides integers
  kFloor,  // rounded down, as Python divides
};
constexpr auto WordsOf(DivRounding) {
  return inner::EnumWords<DivRounding>({{DivRounding::kNone, "none"},
                                        {DivRounding::kTrunc, "trunc"},
                                        {DivRounding::kFloor, "floor"}});
}

namespace inner {
struct DivAttrs {
  DivRounding rounding = DivRounding::kNone;
  template <class V>
  void Visit(V& v) {
    v.Field("rounding", rounding);
  }
};
}  // namespace inner

// x / y, broadcast; dtypes promote as PyTorch's. With rounding, integers stay integers and the
// gradient is 0. Throws on an integer division by 0; floats give inf or NaN. Operator `/`.
Tensor Div(const Tensor& x, const Tensor& y, DivRounding rounding = DivRounding::kNone);

namespace inner {
// The same for floating tensors, in x's dtype; half types are computed in f32. A factor or divisor
// counts exactly, even if x's dtype would round it or cannot hold it.
Tensor MulInFloat(const Tensor& x, const Tensor& y);
Tensor DivInFloat(const Tensor& x, const Tensor& y);

// Attributes of addcmul and addcdiv.
struct AddcmulAttrs {
  double value = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("value", value);
  }
};
}  // namespace inner

// x + value * y * z, broadcast; dtypes promote as PyTorch's.
Tensor Addcmul(const Tensor& x, const Tensor& y, const Tensor& z, inner::Number value = 1);
// x + value * y / z, broadcast; dtypes promote as PyTorch's, and integers are divided in f32.
Tensor Addcdiv(const Tensor& x, const Tensor& y, const Tensor& z, inner::Number value = 1);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_ARITHMETIC_H_
