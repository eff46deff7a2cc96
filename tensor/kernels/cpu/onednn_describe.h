#ifndef FIRN_TENSOR_KERNELS_CPU_ONEDNN_DESCRIBE_H_
#define FIRN_TENSOR_KERNELS_CPU_ONEDNN_DESCRIBE_H_

#include <oneapi/dnnl/dnnl.hpp>

#include "firn/tensor/kernels/cpu/onednn_thread.h"

// Primitives' descriptions, as oneDNN 2 and 3 make them: version 2 wraps an operation's arguments
// in a descriptor of their own, version 3 takes them directly. Everything else that Firn calls is
// the same in both. oneDNN 3 has no Winograd on x86-64; Firn asks for direct convolutions and has a
// Winograd of its own.
namespace firn::cpu {

// What dnnl::convolution_forward and its like do, from the arguments that both versions have.
template <class Primitive, class... Args>
typename Primitive::primitive_desc DescribePrimitive(const dnnl::primitive_attr& attr,
                                                     const Args&... args) {
  using Description = typename Primitive::primitive_desc;
  if constexpr (requires { typename Primitive::desc; }) {
    return Description(typename Primitive::desc(args...), attr, OneDnnEngine());
  } else {
    return Description(OneDnnEngine(), args..., attr);
  }
}

// The same for a gradient, which is made for a forward pass.
template <class Primitive, class Forward, class... Args>
typename Primitive::primitive_desc DescribeGradient(const dnnl::primitive_attr& attr,
                                                    const Forward& forward, const Args&... args) {
  using Description = typename Primitive::primitive_desc;
  if constexpr (requires { typename Primitive::desc; }) {
    return Description(typename Primitive::desc(args...), attr, OneDnnEngine(), forward);
  } else {
    return Description(OneDnnEngine(), args..., forward, attr);
  }
}

// Has the primitive take a zero point of its source when it runs; 3 renamed that.
template <class Attr>
void TakeSourceZeroPoint(Attr& attr) {
  if constexpr (requires { attr.set_zero_points_mask(DNNL_ARG_SRC, 0); }) {
    attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
  } else {
    attr.set_zero_points(DNNL_ARG_SRC, 0, {DNNL_RUNTIME_S32_VAL});
  }
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ONEDNN_DESCRIBE_H_
