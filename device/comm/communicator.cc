#include "firn/device/comm/communicator.h"

#include "firn/device/status_macros.h"

namespace firn::comm {

absl::StatusOr<std::unique_ptr<Pending>> Communicator::Start(const Collective& call) {
  FIRN_RETURN_IF_ERROR(Check(call, rank_, size_));
  return StartChecked(call);
}

absl::Status Communicator::Run(const Collective& call) {
  FIRN_RETURN_IF_ERROR(Check(call, rank_, size_));
  return RunChecked(call);
}

absl::Status Communicator::RunChecked(const Collective& call) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Pending> pending, StartChecked(call));
  return pending->Wait();
}

absl::Status Communicator::Barrier() { return Run({.kind = CollectiveKind::kBarrier}); }

absl::Status Communicator::Broadcast(void* data, int64_t count, Element element, int root) {
  return Run({.kind = CollectiveKind::kBroadcast,
              .element = element,
              .root = root,
              .count = count,
              .in = data,
              .out = data});
}

absl::Status Communicator::Reduce(const void* in, void* out, int64_t count, Element element,
                                  Reduction reduction, int root) {
  return Run({.kind = CollectiveKind::kReduce,
              .element = element,
              .reduction = reduction,
              .root = root,
              .count = count,
              .in = in,
              .out = out});
}

absl::Status Communicator::AllReduce(void* data, int64_t count, Element element,
                                     Reduction reduction) {
  return Run({.kind = CollectiveKind::kAllReduce,
              .element = element,
              .reduction = reduction,
              .count = count,
              .in = data,
              .out = data});
}

absl::Status Communicator::AllGather(const void* in, void* out, int64_t count, Element element) {
  return Run({.kind = CollectiveKind::kAllGather,
              .element = element,
              .count = count,
              .in = in,
              .out = out});
}

absl::Status Communicator::ReduceScatter(const void* in, void* out, int64_t count, Element element,
                                         Reduction reduction) {
  return Run({.kind = CollectiveKind::kReduceScatter,
              .element = element,
              .reduction = reduction,
              .count = count,
              .in = in,
              .out = out});
}

absl::Status Communicator::Send(const void* data, int64_t count, Element element, int to) {
  return Run(
      {.kind = CollectiveKind::kSend, .element = element, .root = to, .count = count, .in = data});
}

absl::Status Communicator::Recv(void* data, int64_t count, Element element, int from) {
  return Run({.kind = CollectiveKind::kRecv,
              .element = element,
              .root = from,
              .count = count,
              .out = data});
}

}  // namespace firn::comm
