// The two find each other by the memory that both write into (device/comm/started.h), so a graph
// need only give them the same buffer: everything that orders writes orders them.

#include "firn/tensor/ops/collective/started.h"

#include <memory>

#include "firn/device/comm/started.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/collective/group_rules.h"
#include "firn/tensor/storage.h"

namespace firn {
namespace {

using comm::CollectiveKind;

absl::Status InferStart(InferContext& c) {
  const auto& a = c.attrs<StartCollectiveAttrs>();
  FIRN_RETURN_IF(a.ranks < 1, InvalidArgument("a group has 1 rank or more, got ", a.ranks));
  switch (a.kind) {
    case CollectiveKind::kAllReduce:
      FIRN_RETURN_IF(c.dtype(0) == DType::kBool,
                     InvalidArgument("x must be a number, got ", c.in(0).ToString()));
      return CheckReduction(c, a.reduction);
    case CollectiveKind::kBroadcast:
      return CheckRoot(a.root, a.ranks);
    case CollectiveKind::kAllGather:
      FIRN_RETURN_IF(c.shape(0).rank() == 0 || c.shape(0)[0] % a.ranks != 0,
                     InvalidArgument("x must have as many rows for each of the ", a.ranks,
                                     " ranks, got ", c.shape(0).ToString()));
      return absl::OkStatus();
    default:
      return InvalidArgument("only all_reduce, broadcast and all_gather work in place, got ",
                             WordFor(a.kind));
  }
}

absl::Status InferWait(InferContext&) { return absl::OkStatus(); }

absl::Status RunStart(KernelContext& k) {
  const auto& a = k.attrs<StartCollectiveAttrs>();
  FIRN_ASSIGN_OR_RETURN(comm::Communicator* const ranks, FindRanks(k, a.group, a.ranks));
  if (a.ranks == 1) return absl::OkStatus();
  comm::Collective call{.kind = a.kind,
                        .element = ElementOf(k.in_spec(0).dtype),
                        .reduction = a.reduction,
                        .root = a.kind == CollectiveKind::kBroadcast ? static_cast<int>(a.root) : 0,
                        .count = k.in_spec(0).num_elements(),
                        .in = k.inout<void>(0),
                        .out = k.inout<void>(0)};
  if (a.kind == CollectiveKind::kAllGather) {
    call.count /= a.ranks;
    call.in = k.inout<char>(0) + ranks->rank() * call.count * comm::BytesOf(call.element);
  }
  return comm::StartInto(*ranks, call);
}

absl::Status RunWait(KernelContext& k) {
  const auto& a = k.attrs<WaitCollectiveAttrs>();
  FIRN_RETURN_IF_ERROR(FindRanks(k, a.group, a.ranks).status());
  return a.ranks == 1 ? absl::OkStatus() : comm::WaitInto(k.inout<void>(0));
}

FIRN_REGISTER_OP(start_collective) {
  return {
      .doc =
          "Starts a collective operation on x in place, of which wait_collective is the end. "
          "Not differentiable.",
      .inputs = {{.name = "x", .inout = true}},
      .attrs = AttrsOf<StartCollectiveAttrs>(),
      .infer = InferStart,
      .collective = true,
      .kernels = OnEveryDevice({.name = "ranks", .run = RunStart}),
  };
}

FIRN_REGISTER_OP(wait_collective) {
  return {
      .doc = "Waits for what start_collective has started on x. Not differentiable.",
      .inputs = {{.name = "x", .inout = true}},
      .attrs = AttrsOf<WaitCollectiveAttrs>(),
      .infer = InferWait,
      .collective = true,
      .kernels = OnEveryDevice({.name = "ranks", .run = RunWait}),
  };
}

void Start(const Tensor& x, StartCollectiveAttrs attrs) {
  const OpDef& op = TheOp<"start_collective">();
  CheckDefined(x, op.name);
  attrs.ranks = RanksOf(attrs.group, op.name);
  const std::shared_ptr<const void> memory =
      std::make_shared<IntrusivePtr<Storage>>(x.impl()->storage);
  try {
    Apply(op, {x}, attrs);
  } catch (...) {  // perhaps an observer's error, after the start
    comm::KeepUntilDone(x.impl()->data, memory);
    throw;
  }
  comm::KeepUntilDone(x.impl()->data, memory);
}

}  // namespace

void inner::StartAllReduce(const Tensor& x, comm::Reduction reduction, int64_t group) {
  Start(x, {.kind = CollectiveKind::kAllReduce, .reduction = reduction, .group = group});
}

void inner::StartBroadcast(const Tensor& x, int64_t root, int64_t group) {
  Start(x, {.kind = CollectiveKind::kBroadcast, .root = root, .group = group});
}

void inner::StartAllGather(const Tensor& x, int64_t group) {
  Start(x, {.kind = CollectiveKind::kAllGather, .group = group});
}

void inner::WaitCollective(const Tensor& x, int64_t group) {
  const OpDef& op = TheOp<"wait_collective">();
  CheckDefined(x, op.name);
  Apply(op, {x}, WaitCollectiveAttrs{group, RanksOf(group, op.name)});
}

}  // namespace firn
