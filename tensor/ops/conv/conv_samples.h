#ifndef FIRN_TENSOR_OPS_CONV_CONV_SAMPLES_H_
#define FIRN_TENSOR_OPS_CONV_CONV_SAMPLES_H_

// Convolutions as users call them, on the attributes of the operations. Test code only.

#include "firn/tensor/ops/conv/conv.h"
#include "firn/tensor/ops/conv/conv_transpose.h"
#include "firn/tensor/problems/conv_problem.h"
#include "firn/tensor/problems/images.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {

using Conv = Tensor(const Tensor&, const Tensor&, const Tensor&, const ConvOptions&);
template <Conv* kConv>
Tensor CallConv(In in, const ConvAttrs& a) {
  return kConv(
      in[0], in[1], in[2],
      {.stride = a.stride, .padding = a.padding, .dilation = a.dilation, .groups = a.groups});
}

using ConvTranspose = Tensor(const Tensor&, const Tensor&, const Tensor&,
                             const ConvTransposeOptions&);
template <ConvTranspose* kConv>
Tensor CallTransposed(In in, const ConvAttrs& a) {
  const Sizes x = ImageOf(in[0].shape()), kernel = ImageOf(in[1].shape());
  Sizes more = x;  // output_padding: the difference to the result's size
  for (int i = 0; i < x.count(); ++i) {
    const int64_t least =
        (x[i] - 1) * a.stride[i] - 2 * a.padding[i] + a.dilation[i] * (kernel[i] - 1) + 1;
    more.set(i, a.result[i] - least);
  }
  return kConv(in[0], in[1], in[2],
               {.stride = a.stride,
                .padding = a.padding,
                .output_padding = more,
                .groups = a.groups,
                .dilation = a.dilation});
}

}  // namespace firn::testing

#endif  // FIRN_TENSOR_OPS_CONV_CONV_SAMPLES_H_
