#ifndef FIRN_TENSOR_DLPACK_H_
#define FIRN_TENSOR_DLPACK_H_

// Exchange of tensors with other libraries in one process, without copying, by DLPack 0.8
// (https://dmlc.github.io/dlpack).

#include "firn/tensor/tensor.h"

namespace firn {

// A `DLManagedTensor*` over x's elements, which it keeps alive until its deleter is called (by the
// library that takes it: exactly once). Both sides then share the memory and see each other's
// changes. A blocked tensor is copied to row-major order first. Throws on an undefined tensor, on
// one that requires a gradient (use Detach()), and during capture.
void* ToDlpack(const Tensor& x);

// A tensor over the elements of a `DLManagedTensor*`, whose deleter is called once when the last
// tensor that uses them is gone. Throws, and leaves the deleter to the caller, on a null pointer, a
// device, dtype or shape that Firn does not have, negative strides, and data not aligned to its
// elements.
Tensor FromDlpack(void* managed);

}  // namespace firn

#endif  // FIRN_TENSOR_DLPACK_H_
