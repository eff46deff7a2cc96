#ifndef FIRN_TENSOR_ALLOCATE_H_
#define FIRN_TENSOR_ALLOCATE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/tensor/storage.h"
#include "firn/tensor/tensor.h"

namespace firn::inner {

// Allocates a dense tensor of `spec`'s dtype, shape, layout and device, elements uninitialised.
absl::StatusOr<Tensor> AllocateTensor(const TensorSpec& spec, AllocTag tag = AllocTag::kActivation);
absl::Status AllocateInto(const TensorSpec& spec, AllocTag tag, Tensor* out);
// A tensor of `spec` over `storage`, its first element `data`. Requires: the tensor lies inside
// `storage`.
Tensor WrapStorage(IntrusivePtr<Storage> storage, void* data, const TensorSpec& spec);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_ALLOCATE_H_
