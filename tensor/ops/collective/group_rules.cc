// Checks of collective operations before their kernels wait for other ranks.

#include "firn/tensor/ops/collective/group_rules.h"

#include "firn/device/comm/device_ranks.h"
#include "firn/device/comm/groups.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::inner {

comm::Element ElementOf(DType dtype) {
  // The same types in the same order, except bool.
  static_assert(static_cast<int>(DType::kF64) == static_cast<int>(comm::Element::kF64) &&
                static_cast<int>(DType::kBF16) == static_cast<int>(comm::Element::kBF16) &&
                static_cast<int>(DType::kI64) == static_cast<int>(comm::Element::kI64) &&
                static_cast<int>(DType::kU8) == static_cast<int>(comm::Element::kU8));
  return dtype == DType::kBool ? comm::Element::kU8
                               : static_cast<comm::Element>(static_cast<int>(dtype));
}

int64_t RanksOf(int64_t group, std::string_view op) {
  const absl::StatusOr<comm::Communicator*> ranks = comm::FindGroup(group);
  if (!ranks.ok()) RaiseStatus(ranks.status(), op);
  return (*ranks)->size();
}

absl::Status CheckReduction(const InferContext& c, comm::Reduction reduction) {
  FIRN_RETURN_IF(reduction == comm::Reduction::kMean && !IsFloating(c.dtype(0)),
                 InvalidArgument("a mean over ranks needs floating numbers, x is ",
                                 c.in(0).ToString(), "; sum, and divide"));
  return absl::OkStatus();
}

absl::Status CheckRoot(int64_t root, int64_t ranks) {
  FIRN_RETURN_IF(root < 0 || root >= ranks,
                 InvalidArgument("root must be one of the ranks 0 to ", ranks - 1, ", got ", root));
  return absl::OkStatus();
}

absl::StatusOr<comm::Communicator*> FindRanks(const KernelContext& k, int64_t group,
                                              int64_t ranks) {
  FIRN_ASSIGN_OR_RETURN(comm::Communicator* const found, comm::FindGroup(group));
  FIRN_RETURN_IF(
      ranks != 0 && found->size() != ranks,
      FailedPrecondition("group ", group, " had ", ranks, " ranks when this was captured and has ",
                         found->size(), " now; capture again"));
  return comm::DeviceRanks(*found, k.in_spec(0).device);
}

}  // namespace firn::inner
