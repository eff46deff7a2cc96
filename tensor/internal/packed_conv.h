#ifndef FIRN_TENSOR_INTERNAL_PACKED_CONV_H_
#define FIRN_TENSOR_INTERNAL_PACKED_CONV_H_

#include <optional>

#include "absl/status/statusor.h"
#include "tensor/op.h"
#include "tensor/ops/conv/conv_problem.h"

namespace firn::inner::internal {

// A convolution whose weights were transformed for its kernel once: what a compiled graph runs in
// place of conv2d where weights do not change.
struct PackedConv {
  const OpDef* op = nullptr;  // x, packed weights, bias -> y; not registered: only graphs call it
  Attrs attrs;
  Tensor weights;
};

// The packed form of a conv2d with these weights that `kernel` computes, with the same result to
// the bit. Nothing where the kernel takes weights as they are. Errors: memory.
absl::StatusOr<std::optional<PackedConv>> PackConv2d(const KernelQuery& call, const Kernel& kernel,
                                                     const Tensor& weight);

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_PACKED_CONV_H_
