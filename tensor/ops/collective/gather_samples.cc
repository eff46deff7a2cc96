// In a group of one rank, where the result is x. tests/tensor/collective_test.cc tests several
// ranks.

#include "firn/tensor/ops/collective/gather.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

using comm::Reduction;

constexpr const char* kWhy = "of one rank, it is the identity";

std::vector<RefTensor> Same(absl::Span<const RefTensor> in, AttrsRef) { return {in[0]}; }

FIRN_REGISTER_SAMPLES(all_gather) {
  s.Function([](In in, const AllGatherAttrs& a) { return AllGather(in[0], {.group = a.group}); });
  s.WithoutVectors(kWhy);
  s.Reference(Same);
  s.Add("matrix", {Normal({3, 5})}, AllGatherAttrs());
  s.Add("channels", {Normal({2, 8, 3, 3})}, AllGatherAttrs());
  s.Add("nothing", {Normal({0, 3})}, AllGatherAttrs());
  s.Add("integers", {Integers({5}, -9, 9)}, AllGatherAttrs());
  s.Add("bool", {Booleans({5})}, AllGatherAttrs());
  s.AddLarge("4M", {Normal({2048, 2048})}, AllGatherAttrs(), 0, 33.6e6);
  s.AddError("number", {Normal({})}, AllGatherAttrs(), "x ");
  s.AddError("group", {Normal({3})}, AllGatherAttrs{.group = 1 << 30},
             "there is no group 1073741824 of ranks in this process now");
}

FIRN_REGISTER_SAMPLES(reduce_scatter) {
  s.Function([](In in, const ReduceScatterAttrs& a) {
    return ReduceScatter(in[0], {.reduction = a.reduction, .group = a.group});
  });
  s.WithoutVectors(kWhy);
  s.Reference(Same);
  s.Add("matrix", {Normal({3, 5})}, ReduceScatterAttrs());
  s.Add("mean", {Normal({3, 5})}, ReduceScatterAttrs{.reduction = Reduction::kMean});
  s.Add("channels", {Normal({2, 8, 3, 3})}, ReduceScatterAttrs());
  s.Add("nothing", {Normal({0, 3})}, ReduceScatterAttrs());
  s.Add("integers", {Integers({5}, -9, 9)}, ReduceScatterAttrs{.reduction = Reduction::kMax});
  s.AddLarge("4M", {Normal({2048, 2048})}, ReduceScatterAttrs(), 0, 33.6e6);
  s.AddError("number", {Normal({})}, ReduceScatterAttrs(), "x ");
  s.AddError("mean of integers", {Integers({3}, 0, 9)},
             ReduceScatterAttrs{.reduction = Reduction::kMean},
             "a mean over ranks needs floating numbers, x is i64 [3]");
  s.AddError("group", {Normal({3})}, ReduceScatterAttrs{.group = 1 << 30},
             "there is no group 1073741824 of ranks in this process now");
}

// A root and no reduction.
void AddRooted(Samples& s) {
  s.WithoutVectors(kWhy);
  s.Reference(Same);
  s.Add("matrix", {Normal({3, 5})}, BroadcastOptions());
  s.Add("channels", {Normal({2, 8, 3, 3})}, BroadcastOptions());
  s.Add("number", {Normal({})}, BroadcastOptions());
  s.Add("nothing", {Normal({0, 3})}, BroadcastOptions());
  s.Add("integers", {Integers({5}, -9, 9)}, BroadcastOptions());
  s.AddLarge("4M", {Normal({2048, 2048})}, BroadcastOptions(), 0, 33.6e6);
  s.AddError("root", {Normal({3})}, BroadcastOptions{.root = 1},
             "root must be one of the ranks 0 to 0, got 1");
  s.AddError("group", {Normal({3})}, BroadcastOptions{.group = 1 << 30},
             "there is no group 1073741824 of ranks in this process now");
}

FIRN_REGISTER_SAMPLES(broadcast) {
  s.Function([](In in, const BroadcastOptions& a) { return Broadcast(in[0], a); });
  AddRooted(s);
  s.Add("bool", {Booleans({5})}, BroadcastOptions());
}

FIRN_REGISTER_SAMPLES(reduce_to_root) {
  s.Function([](In in, const BroadcastOptions& a) { return ReduceToRoot(in[0], a); });
  AddRooted(s);
}

}  // namespace
}  // namespace firn::testing
