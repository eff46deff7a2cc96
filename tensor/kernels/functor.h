#ifndef FIRN_TENSOR_KERNELS_FUNCTOR_H_
#define FIRN_TENSOR_KERNELS_FUNCTOR_H_

#include <type_traits>

#include "firn/device/inner.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/op.h"

// Scalar functors of elementwise operations, on every device: see kernels/cpu/elementwise.h.
namespace firn {

// The type in which a loop computes on elements of T: float for the half types, T otherwise.
template <class T>
using ComputeOf =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

// A functor that declares `using Attrs = FooAttrs;` is constructed from the call's. A functor that
// needs nothing else inherits them: struct FooFn : FooAttrs.
template <class F>
F MakeFunctor(const KernelContext& k) {
  if constexpr (requires { typename F::Attrs; }) {
    return F{k.attrs<typename F::Attrs>()};
  } else {
    return F();
  }
}

// Like VisitDType for the integer types, and those with bool. Requires: d is one of them.
template <class F>
decltype(auto) VisitInteger(DType d, F&& f) {
  switch (d) {
    case DType::kI8:
      return f(TypeTag<int8_t>{});
    case DType::kI32:
      return f(TypeTag<int32_t>{});
    case DType::kU8:
      return f(TypeTag<uint8_t>{});
    default:
      return f(TypeTag<int64_t>{});
  }
}
template <class F>
decltype(auto) VisitIntegerOrBool(DType d, F&& f) {
  return d == DType::kBool ? f(TypeTag<bool>{}) : VisitInteger(d, f);
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_FUNCTOR_H_
