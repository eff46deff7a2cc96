#ifndef FIRN_TENSOR_OPS_NORM_RECORDED_ROWS_H_
#define FIRN_TENSOR_OPS_NORM_RECORDED_ROWS_H_

#include "firn/device/inner.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/ratio.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/tensor.h"

namespace firn::inner {

// The normalised rows of a matrix and their gradient, written with operations that can be recorded,
// around the mean or around 0:
//   dx = invstd (dxhat - mean(dxhat) - xhat mean(dxhat xhat))
// It computes in the statistics' type throughout, like the fused gradients. Deviations are taken in
// units of their own size, so that squares and higher derivatives stay in range for any x. The
// incoming gradient may be as large, and is combined with them as a ratio.
template <bool kCentred>
class RecordedRows {
 public:
  // x: [rows, columns]      invstd: [rows], from a kernel; the unit is made from it
  RecordedRows(const Tensor& x, const Tensor& invstd, double eps)
      : unit_(Unsqueeze(Detach(invstd), 1)) {
    const Tensor deviation = Mul(Centred(Cast(x, invstd.dtype())), unit_);
    // The square of the unit alone may overflow.
    const Tensor small = Mul(Mul(unit_, eps), unit_);
    scaled_ = Rsqrt(Add(MeanOf(Square(deviation)), small));
    xhat_ = Mul(deviation, scaled_);
  }
  const Tensor& xhat() const { return xhat_; }
  // dxhat: of invstd's dtype, as is the result.
  Tensor Dx(const Tensor& dxhat) const {
    const Tensor inner = Sub(Centred(dxhat), Mul(xhat_, MeanOf(Mul(dxhat, xhat_))));
    return MulRatio(inner, scaled_, Reciprocal(unit_));
  }

 private:
  static Tensor MeanOf(const Tensor& t) { return Mean(t, 1, true); }
  static Tensor Centred(const Tensor& t) { return kCentred ? Sub(t, MeanOf(t)) : t; }

  Tensor unit_, scaled_, xhat_;
};

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_NORM_RECORDED_ROWS_H_
