#ifndef FIRN_TENSOR_OPS_QUANTIZE_LEVELS_H_
#define FIRN_TENSOR_OPS_QUANTIZE_LEVELS_H_

// Rounding to the numbers of a format whose range is an option: fixed point, and powers of two.

#include <cstdint>

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct FixedPointAttrs {
  bool sign = true;              // one bit is the sign; else there are no numbers below 0
  int64_t n = 8;                 // bits
  double delta = 0.0625;         // the distance of neighbours
  bool ste_fine_grained = true;  // no gradient where x lies outside of the range
  template <class V>
  void Visit(V& v) {
    v.Field("sign", sign);
    v.Field("n", n);
    v.Field("delta", delta);
    v.Field("ste_fine_grained", ste_fine_grained);
  }
};
struct Pow2Attrs {
  bool sign = true;              // one bit is the sign; else there are no numbers below 0
  bool with_zero = true;         // one bit is spent on 0
  int64_t n = 8;                 // bits
  int64_t m = 1;                 // the largest is 2^m
  bool ste_fine_grained = true;  // no gradient where x lies outside of the range
  template <class V>
  void Visit(V& v) {
    v.Field("sign", sign);
    v.Field("with_zero", with_zero);
    v.Field("n", n);
    v.Field("m", m);
    v.Field("ste_fine_grained", ste_fine_grained);
  }
};
}  // namespace inner
using FixedPointOptions = inner::FixedPointAttrs;
using Pow2Options = inner::Pow2Attrs;

// x rounded to a multiple of delta, halves away from 0, and cut off at the largest number of n
// bits:
// (2^(n - 1) - 1) delta on both sides of 0, or 0 and (2^n - 1) delta without sign (NNabla's
// fixed_point_quantize). NaN stays. The gradient is dy, and with ste_fine_grained 0 beyond the
// range. x: integers and bools become f32. Throws unless delta is a positive number, and n from 1
// (2 with sign) to 32.
Tensor FixedPointQuantize(const Tensor& x, const FixedPointOptions& options = {});

// x as the nearest power of two by its logarithm, of x's sign, from the smallest, which is
// 2^(m - 2^b + 1), to 2^m (NNabla's pow2_quantize; Miyashita et al., 2016). b is n less one bit for
// each of sign and with_zero. Numbers below the smallest become the smallest or, with_zero, 0 if
// they are below the smallest / sqrt(2). Without sign, numbers below 0 become 0 or, without zero,
// the smallest. NaN stays. The gradient is dy, and with ste_fine_grained 0 from 2^(m + 1/2) on and,
// without sign, below 0. x: integers and bools become f32. Throws unless b is from 1 to 10 and the
// powers are normal numbers of f32, -126 <= m - 2^b + 1 and m <= 127. In f16 and bf16, results are
// rounded to these types.
Tensor Pow2Quantize(const Tensor& x, const Pow2Options& options = {});

namespace inner {
struct PowerOfTwoAttrs {
  double up = 1.5;  // from this times a power on, the next one is taken; above 1, at most 2
  template <class V>
  void Visit(V& v) {
    v.Field("up", up);
  }
};
// |x| as a power of two: the largest not above it, or the next from `up` times that one on. 0 where
// |x| is less than the smallest normal number of the type it is computed in; infinities and NaN
// stay. No gradient. x: floating.
Tensor PowerOfTwo(const Tensor& x, const PowerOfTwoAttrs& attrs = {});
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_QUANTIZE_LEVELS_H_
