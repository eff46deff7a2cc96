#ifndef FIRN_TENSOR_OPS_QUANTIZE_MIN_MAX_H_
#define FIRN_TENSOR_OPS_QUANTIZE_MIN_MAX_H_

#include "firn/tensor/tensor.h"

namespace firn {

struct MinMaxQuantizeOptions {
  double decay = 0.999;          // of the moving averages
  bool x_min_max = false;        // the range is moved to x's extremes
  bool ema = false;              // it follows them by moving averages
  bool ste_fine_grained = true;  // no gradient to x outside of the range
  double eps = 0.01;             // the least length of the range
};

// x rounded to the ql_max - ql_min + 1 levels of a range [qr_min, qr_max], halves up, and cut off
// at its ends (Jacob et al., 2018; NNabla's min_max_quantize). The range is first moved so that 0
// is a level. x: floating      qr_min, qr_max: of x's dtype, f32 for half types; one element, or of
// x's rank with sizes 1 or x's      ql_min, ql_max: whole numbers, or tensors that broadcast to
// qr_min
//
// With x_min_max, qr_min and qr_max are first overwritten, in place, by the extremes of x over the
// dimensions in which they have size 1; with ema too, by decay times themselves + (1 - decay) times
// these. They get no gradient then. With only ema they are used unchanged, as in evaluation. With
// neither they are learnt and not written: each end gets the gradient of the elements that it cut
// off. The gradient to x is dy, and with ste_fine_grained 0 outside of the range.
// Throws on shapes and dtypes that do not fit, a decay outside of [0, 1] and an eps that is not
// above 0. A range of NaN, or ql_min >= ql_max, gives NaN or what its formula says.
Tensor MinMaxQuantize(const Tensor& x, const Tensor& qr_min, const Tensor& qr_max,
                      const Tensor& ql_min, const Tensor& ql_max,
                      const MinMaxQuantizeOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_QUANTIZE_MIN_MAX_H_
