// Collectives that move elements without combining them, and their gradients, which are collectives
// too.

#include "firn/tensor/ops/collective/gather.h"

#include <cstring>

#include "firn/device/internal/cuda_context.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/collective/group_rules.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"

namespace firn {
namespace {

using comm::CollectiveKind;
using comm::Reduction;

absl::Status CheckRanks(int64_t ranks) {
  FIRN_RETURN_IF(ranks < 1, InvalidArgument("a group has 1 rank or more, got ", ranks));
  return absl::OkStatus();
}

// x's shape with `rows` rows.
absl::StatusOr<Shape> WithRows(const Shape& x, int64_t rows) {
  Dims sizes = x.dims();
  sizes.d[0] = rows;
  return Shape::Make({sizes.d, static_cast<size_t>(sizes.rank)});
}

absl::Status InferAllGather(InferContext& c) {
  const int64_t ranks = c.attrs<AllGatherAttrs>().ranks;
  FIRN_RETURN_IF_ERROR(CheckRanks(ranks));
  int64_t rows = 0;
  FIRN_RETURN_IF(__builtin_mul_overflow(c.shape(0)[0], ranks, &rows),
                 InvalidArgument("the rows of ", ranks, " ranks with x ", c.shape(0).ToString(),
                                 " are too many"));
  FIRN_ASSIGN_OR_RETURN(const Shape y, WithRows(c.shape(0), rows));
  c.set_out(0, c.dtype(0), y);
  return absl::OkStatus();
}

absl::Status RunAllGather(KernelContext& k) {
  const auto& a = k.attrs<AllGatherAttrs>();
  FIRN_ASSIGN_OR_RETURN(comm::Communicator* const ranks, FindRanks(k, a.group, a.ranks));
  return ranks->Run({.kind = CollectiveKind::kAllGather,
                     .element = ElementOf(k.in_spec(0).dtype),
                     .count = k.in_spec(0).num_elements(),
                     .in = k.in<void>(0),
                     .out = k.out<void>()});
}

void GradAllGather(GradContext& g) {
  g.set_grad_input(0, ReduceScatter(g.grad_output(), {.group = g.attrs<AllGatherAttrs>().group}));
}

FIRN_REGISTER_OP(all_gather) {
  return {
      .doc = "The rows of all ranks, in their order.",
      .inputs = {{.name = "x", .min_rank = 1}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<AllGatherAttrs>(),
      .infer = InferAllGather,
      .grad = GradAllGather,
      .collective = true,
      .kernels = OnEveryDevice({.name = "ranks", .run = RunAllGather}),
  };
}

absl::Status InferReduceScatter(InferContext& c) {
  const auto& a = c.attrs<ReduceScatterAttrs>();
  FIRN_RETURN_IF_ERROR(CheckRanks(a.ranks));
  FIRN_RETURN_IF_ERROR(CheckReduction(c, a.reduction));
  FIRN_RETURN_IF(c.shape(0)[0] % a.ranks != 0,
                 InvalidArgument("x must have as many rows for each of the ", a.ranks,
                                 " ranks, got ", c.shape(0).ToString()));
  FIRN_ASSIGN_OR_RETURN(const Shape y, WithRows(c.shape(0), c.shape(0)[0] / a.ranks));
  c.set_out(0, c.dtype(0), y);
  return absl::OkStatus();
}

absl::Status RunReduceScatter(KernelContext& k) {
  const auto& a = k.attrs<ReduceScatterAttrs>();
  FIRN_ASSIGN_OR_RETURN(comm::Communicator* const ranks, FindRanks(k, a.group, a.ranks));
  return ranks->Run({.kind = CollectiveKind::kReduceScatter,
                     .element = ElementOf(k.in_spec(0).dtype),
                     .reduction = a.reduction,
                     .count = k.out_spec().num_elements(),
                     .in = k.in<void>(0),
                     .out = k.out<void>()});
}

bool HasGradient(Reduction reduction) {
  return reduction == Reduction::kSum || reduction == Reduction::kMean;
}

absl::Status NoGradient(Reduction reduction) {
  return Unimplemented("the ", WordFor(reduction),
                       " of ranks has no gradient here, a sum or mean has; take the rank's rows of "
                       "AllReduce, or detach x");
}

void GradReduceScatter(GradContext& g) {
  const auto& a = g.attrs<ReduceScatterAttrs>();
  if (!HasGradient(a.reduction)) RaiseStatus(NoGradient(a.reduction), "reduce_scatter");
  Tensor dx = AllGather(g.grad_output(), {.group = a.group});
  if (a.reduction == Reduction::kMean) dx = Div(dx, static_cast<double>(a.ranks));
  g.set_grad_input(0, dx);
}

FIRN_REGISTER_OP(reduce_scatter) {
  return {
      .doc = "The rank's rows of the reduction over ranks. A sum or mean is differentiable.",
      .inputs = {{.name = "x", .dtypes = kNumeric, .min_rank = 1}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ReduceScatterAttrs>(),
      .infer = InferReduceScatter,
      .grad = GradReduceScatter,
      .collective = true,
      .kernels = OnEveryDevice({.name = "ranks", .run = RunReduceScatter}),
  };
}

absl::Status InferLikeX(InferContext& c) {
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

// All of the result.
absl::Status SetZero(KernelContext& k) {
  const size_t bytes = k.out_spec().bytes();
  if (k.out_spec().device.is_cuda()) {
    FIRN_ASSIGN_OR_RETURN(internal::CudaDeviceContext* const context,
                          internal::CudaDeviceOf(k.out_spec().device));
    return context->SetZero(k.out<void>(), bytes);
  }
  if (bytes != 0) std::memset(k.out<void>(), 0, bytes);
  return absl::OkStatus();
}

// The rule for calls with a root, of any kind.
absl::Status RunRooted(KernelContext& k, CollectiveKind kind) {
  const auto& a = k.attrs<BroadcastOptions>();
  FIRN_ASSIGN_OR_RETURN(comm::Communicator* const ranks, FindRanks(k, a.group));
  FIRN_RETURN_IF_ERROR(CheckRoot(a.root, ranks->size()));
  if (kind == CollectiveKind::kReduce && ranks->rank() != a.root) {
    FIRN_RETURN_IF_ERROR(SetZero(k));
  }
  return ranks->Run({.kind = kind,
                     .element = ElementOf(k.in_spec(0).dtype),
                     .root = static_cast<int>(a.root),
                     .count = k.in_spec(0).num_elements(),
                     .in = k.in<void>(0),
                     .out = kind == CollectiveKind::kReduce && ranks->rank() != a.root
                                ? nullptr
                                : k.out<void>()});
}

absl::Status RunBroadcast(KernelContext& k) { return RunRooted(k, CollectiveKind::kBroadcast); }
absl::Status RunReduce(KernelContext& k) { return RunRooted(k, CollectiveKind::kReduce); }

void GradBroadcast(GradContext& g) {
  g.set_grad_input(0, ReduceToRoot(g.grad_output(), g.attrs<BroadcastOptions>()));
}

FIRN_REGISTER_OP(broadcast) {
  return {
      .doc = "What one rank has, on all of them.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<BroadcastOptions>(),
      .infer = InferLikeX,
      .grad = GradBroadcast,
      .collective = true,
      .kernels = OnEveryDevice({.name = "ranks", .run = RunBroadcast}),
  };
}

void GradReduce(GradContext& g) {
  g.set_grad_input(0, Broadcast(g.grad_output(), g.attrs<BroadcastOptions>()));
}

FIRN_REGISTER_OP(reduce_to_root) {
  return {
      .doc = "The sum over ranks on one of them, zeros on the others.",
      .inputs = {{.name = "x", .dtypes = kNumeric}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<BroadcastOptions>(),
      .infer = InferLikeX,
      .grad = GradReduce,
      .collective = true,
      .kernels = OnEveryDevice({.name = "ranks", .run = RunReduce}),
  };
}

}  // namespace

Tensor AllGather(const Tensor& x, const AllGatherOptions& options) {
  const OpDef& op = TheOp<"all_gather">();
  CheckDefined(x, op.name);
  return Apply1(op, {x}, AllGatherAttrs{options.group, RanksOf(options.group, op.name)});
}

Tensor ReduceScatter(const Tensor& x, const AllReduceOptions& options) {
  const OpDef& op = TheOp<"reduce_scatter">();
  CheckDefined(x, op.name);
  if (GradEnabled() && x.requires_grad() && !HasGradient(options.reduction)) {
    RaiseStatus(NoGradient(options.reduction), op.name);
  }
  const int64_t ranks = RanksOf(options.group, op.name);
  return Apply1(op, {x}, ReduceScatterAttrs{options.reduction, options.group, ranks});
}

Tensor Broadcast(const Tensor& x, const BroadcastOptions& options) {
  const OpDef& op = TheOp<"broadcast">();
  CheckDefined(x, op.name);
  return Apply1(op, {x}, options);
}

Tensor inner::ReduceToRoot(const Tensor& x, const BroadcastOptions& options) {
  return Apply1(TheOp<"reduce_to_root">(), {x}, options);
}

}  // namespace firn
