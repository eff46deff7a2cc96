#ifndef FIRN_TENSOR_KERNELS_CONV_PASS_H_
#define FIRN_TENSOR_KERNELS_CONV_PASS_H_

namespace firn {

// Which tensor of y = conv(x, weight) is computed: y, dx or dweight.
enum class ConvPass { kForward, kBackwardData, kBackwardWeight };

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_CONV_PASS_H_
