#ifndef FIRN_TENSOR_INTERNAL_APPLY_CHECKS_H_
#define FIRN_TENSOR_INTERNAL_APPLY_CHECKS_H_

// The part of Apply that looks at arguments.

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "firn/tensor/op.h"

namespace firn::inner::internal {

// Refuses arguments that are not as the operation declares them: how many, which may be undefined,
// dtypes, ranks, one device (written to `device`), and writes into what is being recorded.
absl::Status Validate(const OpDef& op, absl::Span<const TensorRef> in, Device* device);

// Refuses index values outside the bounds that the operation gives for this call.
absl::Status CheckIndices(const OpDef& op, const KernelQuery& q, absl::Span<const Operand> in);

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_APPLY_CHECKS_H_
