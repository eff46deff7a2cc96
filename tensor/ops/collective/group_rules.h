#ifndef FIRN_TENSOR_OPS_COLLECTIVE_GROUP_RULES_H_
#define FIRN_TENSOR_OPS_COLLECTIVE_GROUP_RULES_H_

// Parts shared by collective operations: the communicator's element types, and the group's ranks.

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/device/comm/communicator.h"
#include "firn/tensor/op.h"

namespace firn::inner {

// Booleans are moved as bytes, and not reduced.
comm::Element ElementOf(DType dtype);

// The number of ranks in the group, for attributes on which shapes depend. Throws the errors of
// comm::FindGroup in the name of `op`.
int64_t RanksOf(int64_t group, std::string_view op);

// InvalidArgument for a mean of integers.
absl::Status CheckReduction(const InferContext& c, comm::Reduction reduction);
// InvalidArgument for a root outside of the `ranks`.
absl::Status CheckRoot(int64_t root, int64_t ranks);

// The group's communicator for the memory of the call. FailedPrecondition unless it has `ranks`
// ranks, the number when the operation was called or captured; 0 allows any number.
absl::StatusOr<comm::Communicator*> FindRanks(const KernelContext& k, int64_t group,
                                              int64_t ranks = 0);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_COLLECTIVE_GROUP_RULES_H_
