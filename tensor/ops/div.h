#ifndef FIRN_TENSOR_OPS_DIV_H_
#define FIRN_TENSOR_OPS_DIV_H_

#include "tensor/tensor.h"

namespace firn {

// What happens to the quotient.
enum class DivRounding : int8_t {
  kNone,   // nothing; integers and bools become f32
  kTrunc,  // rounded towards 0, as C++ divides integers
  kFloor,  // rounded down, as Python divides
};

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

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_DIV_H_
