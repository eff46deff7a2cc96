#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_CHOOSE_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_CHOOSE_H_

#include <optional>

#include "firn/tensor/tensor.h"

namespace firn {

// x where the condition holds, else y; all three broadcast, x and y may be numbers and promote as
// PyTorch's. Throws on an integer number that the other's integer dtype does not hold. The
// condition is bool. The gradient of elements that were not chosen is exactly 0, whatever their
// value.
Tensor Where(const Tensor& condition, const Tensor& x, const Tensor& y);

// x with `value` where the mask (bool, broadcast with x) holds. The value is a number, an
// error where x's dtype does not hold it (Full), or a 0-d tensor, and takes x's dtype. No gradient
// passes where the mask holds.
Tensor MaskedFill(const Tensor& x, const Tensor& mask, const Tensor& value);

namespace inner {
struct NanToNumAttrs {
  double nan = 0;
  double posinf = 3.4028234663852886e38;  // the largest f32
  double neginf = -3.4028234663852886e38;
  template <class V>
  void Visit(V& v) {
    v.Field("nan", nan);
    v.Field("posinf", posinf);
    v.Field("neginf", neginf);
  }
};
}  // namespace inner

// The replacements of NaN and the infinities; by default 0 and the dtype's largest and lowest
// number.
struct NanToNumOptions {
  double nan = 0;
  std::optional<double> posinf = {}, neginf = {};
};

// x with NaN and infinities replaced; integers stay as they are. The gradient is 0 where something
// was replaced.
Tensor NanToNum(const Tensor& x, const NanToNumOptions& options = {});

// start + weight * (end - start), broadcast. The weight is a number or a tensor and may leave
// [0, 1]; 0 and 1 give the ends exactly. Dtypes promote as PyTorch's; integers and bools become
// f32.
Tensor Lerp(const Tensor& start, const Tensor& end, const Tensor& weight);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_CHOOSE_H_
