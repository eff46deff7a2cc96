#ifndef FIRN_TENSOR_INTERNAL_PACKED_CONV_H_
#define FIRN_TENSOR_INTERNAL_PACKED_CONV_H_

#include <optional>

#include "absl/status/statusor.h"
#include "firn/tensor/graph_traits.h"

namespace firn::inner::internal {

// Packing::pack of conv2d's weight: an operation that takes x, the weights as the kernel has
// transformed them, and bias. It is not registered: only graphs call it. Errors: memory.
absl::StatusOr<std::optional<PackedCall>> PackConv2d(const KernelQuery& call, const Kernel& kernel,
                                                     const Tensor& weight);

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_PACKED_CONV_H_
