#ifndef FIRN_TENSOR_KERNELS_WIDTH_H_
#define FIRN_TENSOR_KERNELS_WIDTH_H_

#include <cstdint>

#include "firn/device/inner.h"
#include "firn/tensor/dtype.h"

namespace firn {

// The unsigned integer as wide as an element: code that moves elements needs only one type for each
// width.
template <class F>
decltype(auto) VisitWidth(DType d, F&& f) {
  switch (SizeOf(d)) {
    case 1:
      return f(TypeTag<uint8_t>{});
    case 2:
      return f(TypeTag<uint16_t>{});
    case 4:
      return f(TypeTag<uint32_t>{});
    default:
      return f(TypeTag<uint64_t>{});
  }
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_WIDTH_H_
