#ifndef FIRN_TENSOR_INTERNAL_PACKED_CONV_H_
#define FIRN_TENSOR_INTERNAL_PACKED_CONV_H_

#include <optional>

#include "absl/status/statusor.h"
#include "firn/tensor/graph_traits.h"

namespace firn::inner::internal {

// Packing::pack of the weight of convolutions and transposed ones: an operation that takes x, the
// weight as the kernel wants it, and bias. It is not registered: only graphs call it, in the
// process that made them. Errors: memory.
absl::StatusOr<std::optional<PackedCall>> PackConv(const KernelQuery& call, const Kernel& kernel,
                                                   const Tensor& weight);

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_PACKED_CONV_H_
