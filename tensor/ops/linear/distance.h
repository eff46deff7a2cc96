#ifndef FIRN_TENSOR_OPS_LINEAR_DISTANCE_H_
#define FIRN_TENSOR_OPS_LINEAR_DISTANCE_H_

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct CdistAttrs {
  double p = 2;
  template <class V>
  void Visit(V& v) {
    v.Field("p", p);
  }
};
struct CdistGradAttrs {
  double p = 2;
  bool turned = false;  // dy and the distances are [..., m, n]
  template <class V>
  void Visit(V& v) {
    v.Field("p", p);
    v.Field("turned", turned);
  }
};
}  // namespace inner

// The p-norms of the differences of all rows of x and all rows of y, like torch.cdist:
//   x: [..., n, d]      y: [..., m, d]      result: [..., n, m]
// Floating tensors of one dtype whose leading dimensions broadcast. p = 0 counts the elements that
// differ, infinity takes the largest difference. Every difference is formed before it is squared,
// so that close rows keep their digits (PyTorch loses them from 25 rows on, where it multiplies
// matrices instead). The gradient of a distance of 0 is 0; for p = infinity it goes to every
// largest difference. Throws on other shapes and a p that is negative or NaN.
Tensor Cdist(const Tensor& x, const Tensor& y, inner::Real p = 2);

namespace inner {
// The gradient to x [..., n, d] from that to the distances [..., n, m]; all tensors are f32 or f64.
// The gradient to y is that to x with x and y exchanged, and `turned`.
Tensor CdistGrad(const Tensor& dy, const Tensor& x, const Tensor& y, const Tensor& distances,
                 const CdistGradAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINEAR_DISTANCE_H_
