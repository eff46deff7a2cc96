#ifndef FIRN_TENSOR_INTERNAL_KERNEL_CHOICE_H_
#define FIRN_TENSOR_INTERNAL_KERNEL_CHOICE_H_

// The part of Apply that chooses a kernel and the layouts of its operands; graphs choose the same.

#include "absl/status/status.h"
#include "firn/tensor/op.h"

namespace firn::inner::internal {

// The answer of `k` for a call that it takes; `supports` is not called. Errors: those of `prepare`.
absl::Status Ask(const Kernel& k, const KernelQuery& q, Prepared* answer);

// The answer of the first kernel of `device` that takes the call. Errors: Unimplemented, with why
// each refused.
absl::Status Prepare(const OpDef& op, const KernelQuery& q, Device device, Prepared* answer);

// Whether an input that `k` wants with `block` may stay as `spec` is.
bool Fits(const Kernel& k, const TensorSpec& spec, int32_t block);

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_KERNEL_CHOICE_H_
