#ifndef FIRN_TENSOR_KERNELS_FUNCTOR_H_
#define FIRN_TENSOR_KERNELS_FUNCTOR_H_

#include <type_traits>

#include "device/inner.h"
#include "tensor/dtype.h"
#include "tensor/op.h"

// Scalar functors of elementwise operations, on every device: see kernels/cpu/elementwise.h.
namespace firn {

// In what a loop computes on elements of T: float for the half types, T otherwise.
template <class T>
using ComputeOf =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

// A functor that declares `using Attrs = FooAttrs;` is constructed from the call's.
template <class F>
F MakeFunctor(const KernelContext& k) {
  if constexpr (requires { typename F::Attrs; }) {
    return F(k.attrs<typename F::Attrs>());
  } else {
    return F();
  }
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_FUNCTOR_H_
