#ifndef FIRN_TENSOR_OPS_QUANTIZE_FINISHED_CONV_H_
#define FIRN_TENSOR_OPS_QUANTIZE_FINISHED_CONV_H_

#include <optional>

#include "absl/status/statusor.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/op.h"

namespace firn::inner {

// GraphTraits::finish of int_conv2d: through oneDNN where it multiplies bytes. The operation is not
// registered: only graphs call it.
absl::StatusOr<std::optional<PackedCall>> FinishIntConv2d(const KernelQuery& call,
                                                          const FinishedSums& sums);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_QUANTIZE_FINISHED_CONV_H_
