#ifndef FIRN_TENSOR_INTERNAL_KERNEL_CHOICE_H_
#define FIRN_TENSOR_INTERNAL_KERNEL_CHOICE_H_

// The part of Apply that chooses a kernel and the layouts of its operands; graphs choose the same.

#include "absl/status/statusor.h"
#include "tensor/op.h"

namespace firn::inner::internal {

// The first kernel of `device` that supports the call, or Unimplemented with why each refused.
absl::StatusOr<const Kernel*> SelectKernel(const OpDef& op, const KernelQuery& q, Device device);

// The layouts that `k` wants for this call. Returns false when everything may stay as it is (the
// usual case) and the outputs are as inferred.
bool AskLayouts(const Kernel& k, const KernelQuery& q, size_t num_outputs, LayoutRequest* want);

// Whether an input that AskLayouts wants with `block` may stay as `spec` is.
bool Fits(const Kernel& k, const TensorSpec& spec, int32_t block);

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_KERNEL_CHOICE_H_
