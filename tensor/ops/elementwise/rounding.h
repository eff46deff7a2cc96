#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_ROUNDING_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_ROUNDING_H_

#include "firn/device/enum_words.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The smallest integer not below x; integers stay as they are. The gradient is 0 everywhere.
Tensor Ceil(const Tensor& x);

// The largest integer not above x; integers stay as they are. The gradient is 0 everywhere.
Tensor Floor(const Tensor& x);

// How a number half way between two is rounded.
enum class RoundTies : int8_t {
  kEven,  // to the even one
  kAway,  // to the one further from 0
};
constexpr auto WordsOf(RoundTies) {
  return inner::EnumWords<RoundTies>({{RoundTies::kEven, "even"}, {RoundTies::kAway, "away"}});
}

namespace inner {
struct RoundAttrs {
  int64_t decimals = 0;
  RoundTies ties = RoundTies::kEven;
  template <class V>
  void Visit(V& v) {
    v.Field("decimals", decimals);
    v.Field("ties", ties);
  }
};
}  // namespace inner
using RoundOptions = inner::RoundAttrs;

// x rounded to `decimals` places after the point (before it when negative). Integers stay as they
// are and take no negative `decimals`. The gradient is 0 everywhere.
Tensor Round(const Tensor& x, const RoundOptions& options = {});

// x without its fraction; integers stay as they are. The gradient is 0 everywhere.
Tensor Trunc(const Tensor& x);

// x without its integer, x - Trunc(x): the sign is x's; NaN for infinities. The gradient is 1.
// Integers give 0.
Tensor Frac(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_ROUNDING_H_
