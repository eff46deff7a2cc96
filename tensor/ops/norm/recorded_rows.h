#ifndef FIRN_TENSOR_OPS_NORM_RECORDED_ROWS_H_
#define FIRN_TENSOR_OPS_NORM_RECORDED_ROWS_H_

#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The normalised rows of a matrix and their gradient, written with operations that can be recorded,
// around the mean or around 0:
//   dx = invstd (dxhat - mean(dxhat) - xhat mean(dxhat xhat))
// Deviations are taken in units of their own size, so that squares and higher derivatives stay in
// the range of any x.
template <bool kCentred>
class RecordedRows {
 public:
  // x: [rows, columns]      invstd: [rows], a kernel's, of which the unit is made
  RecordedRows(const Tensor& x, const Tensor& invstd, double eps)
      : count_(static_cast<double>(x.size(1))) {
    const Tensor unit = Unsqueeze(Cast(Detach(invstd), x.dtype()), 1);
    const Tensor deviation = Mul(Centred(x), unit);
    // The square of unit alone may be no number.
    const Tensor small = Mul(Mul(unit, eps), unit);
    const Tensor scaled = Rsqrt(Add(Mean(Square(deviation)), small));
    invstd_ = Mul(scaled, unit);
    xhat_ = Mul(deviation, scaled);
  }
  const Tensor& xhat() const { return xhat_; }
  Tensor Dx(const Tensor& dxhat) const {
    const Tensor inner = Sub(Centred(dxhat), Mul(xhat_, Mean(Mul(dxhat, xhat_))));
    return Mul(inner, invstd_);
  }

 private:
  Tensor Mean(const Tensor& t) const { return Mul(Sum(t, 1, true), 1 / count_); }
  Tensor Centred(const Tensor& t) const { return kCentred ? Sub(t, Mean(t)) : t; }

  double count_;
  Tensor xhat_, invstd_;
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_NORM_RECORDED_ROWS_H_
