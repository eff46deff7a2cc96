// In a group of one rank, whose collectives leave x as it is.
// tests/tensor/collective_started_test.cc tests several ranks.

#include "firn/tensor/ops/collective/started.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

using comm::CollectiveKind;
using comm::Reduction;

std::vector<RefTensor> Same(absl::Span<const RefTensor> in, AttrsRef) { return {in[0]}; }

FIRN_REGISTER_SAMPLES(start_collective) {
  s.Function([](In in, const StartCollectiveAttrs& a) {
    if (a.kind == CollectiveKind::kAllReduce) StartAllReduce(in[0], a.reduction, a.group);
    if (a.kind == CollectiveKind::kBroadcast) StartBroadcast(in[0], a.root, a.group);
    if (a.kind == CollectiveKind::kAllGather) StartAllGather(in[0], a.group);
  });
  s.WithoutVectors("of one rank, each is the identity");
  s.Reference(Same);
  const auto attrs = [](CollectiveKind kind, Reduction reduction = Reduction::kSum) {
    return StartCollectiveAttrs{.kind = kind, .reduction = reduction};
  };
  s.Add("sum", {Normal({7})}, attrs(CollectiveKind::kAllReduce));
  s.Add("mean", {Normal({3, 5})}, attrs(CollectiveKind::kAllReduce, Reduction::kMean));
  s.Add("maximum of integers", {Integers({5}, -9, 9)},
        attrs(CollectiveKind::kAllReduce, Reduction::kMax));
  s.Add("number", {Normal({})}, attrs(CollectiveKind::kAllReduce));
  s.Add("nothing", {Normal({0, 3})}, attrs(CollectiveKind::kAllReduce));
  s.Add("broadcast", {Booleans({5})}, attrs(CollectiveKind::kBroadcast));
  s.Add("gather", {Normal({4, 3})}, attrs(CollectiveKind::kAllGather));
  s.AddLarge("4M", {Normal({2048, 2048})}, attrs(CollectiveKind::kAllReduce), 0, 33.6e6);
  s.AddError("mean of integers", {Integers({5}, -9, 9)},
             attrs(CollectiveKind::kAllReduce, Reduction::kMean),
             "a mean over ranks needs floating numbers, x is i64 [5]");
  s.AddError("sum of bool", {Booleans({5})}, attrs(CollectiveKind::kAllReduce),
             "x must be a number, got bool [5]");
  s.AddError("root", {Normal({7})},
             StartCollectiveAttrs{.kind = CollectiveKind::kBroadcast, .root = 1},
             "root must be one of the ranks 0 to 0, got 1");
  s.AddError("rows", {Normal({})}, attrs(CollectiveKind::kAllGather),
             "x must have as many rows for each of the 1 ranks, got []");
  s.AddError("kind", {Normal({7})}, attrs(CollectiveKind::kBarrier),
             "only all_reduce, broadcast and all_gather work in place, got barrier");
  s.AddError("group", {Normal({7})}, StartCollectiveAttrs{.group = 1 << 30},
             "there is no group 1073741824 of ranks in this process now");
}

FIRN_REGISTER_SAMPLES(wait_collective) {
  s.Function([](In in, const WaitCollectiveAttrs& a) { WaitCollective(in[0], a.group); });
  s.WithoutVectors("of one rank, it does nothing");
  s.Reference(Same);
  s.Add("numbers", {Normal({3, 5})}, WaitCollectiveAttrs());
  s.Add("integers", {Integers({5}, -9, 9)}, WaitCollectiveAttrs());
  s.Add("bool", {Booleans({5})}, WaitCollectiveAttrs());
  s.Add("nothing", {Normal({0, 3})}, WaitCollectiveAttrs());
  s.AddLarge("4M", {Normal({2048, 2048})}, WaitCollectiveAttrs(), 0, 33.6e6);
  s.AddError("group", {Normal({7})}, WaitCollectiveAttrs{.group = 1 << 30},
             "there is no group 1073741824 of ranks in this process now");
}

}  // namespace
}  // namespace firn::testing
