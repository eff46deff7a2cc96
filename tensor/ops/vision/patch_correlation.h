#ifndef FIRN_TENSOR_OPS_VISION_PATCH_CORRELATION_H_
#define FIRN_TENSOR_OPS_VISION_PATCH_CORRELATION_H_

#include "firn/tensor/sizes.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct PatchCorrelationOptions {
  Sizes patch = 1;
  Sizes shift = 0;  // the largest distance, up and down, left and right
  Sizes patch_step = 1, shift_step = 1;
  Sizes padding = 0;  // zeros at both sides, in which patches of x1 may begin and end
};

// Sums of products of patches of x1 with patches of x2 around the same place, without
// normalisation: the correlation of FlowNet (Dosovitskiy et al., 2015), as NNabla's
// patch_correlation.
//   y[n, i, j, u, v] = sum_{c, a, b} x1[n, c, t + a, l + b] x2[n, c, t + s_i + a, l + s_j + b]
//   t = u patch_step - padding, s_i = i shift_step - shift, l and s_j likewise; 0 outside of both
// x1, x2: [n, c, h, w], floating, of one shape and dtype
// y: [n, 2 shift / shift_step + 1 (twice), (h + 2 padding - patch) / patch_step + 1, ...]
// Half types compute in f32. Throws on other shapes, dtypes and options.
Tensor PatchCorrelation(const Tensor& x1, const Tensor& x2,
                        const PatchCorrelationOptions& options = {});

namespace inner {
struct PatchCorrelationAttrs : PatchCorrelationOptions {
  template <class V>
  void Visit(V& v) {
    v.Field("patch", patch);
    v.Field("shift", shift);
    v.Field("patch_step", patch_step);
    v.Field("shift_step", shift_step);
    v.Field("padding", padding);
  }
};
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_PATCH_CORRELATION_H_
