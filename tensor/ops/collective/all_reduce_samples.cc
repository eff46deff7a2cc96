// In a group of one rank, where the result is x. tests/tensor/collective_test.cc tests several
// ranks.

#include "firn/tensor/ops/collective/all_reduce.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

using comm::Reduction;

constexpr const char* kWhy = "of one rank, it is the identity";

void AddReduction(Samples& s, Reduction reduction, Reduction other) {
  const AllReduceOptions attrs{.reduction = reduction};
  s.Function([](In in, const AllReduceOptions& a) { return AllReduce(in[0], a); });
  s.WithoutVectors(kWhy);
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) { return std::vector{in[0]}; });
  s.Add("matrix", {Normal({3, 5})}, attrs);
  s.Add("channels", {Normal({2, 8, 3, 3})}, attrs);
  s.Add("number", {Normal({})}, attrs);
  s.Add("nothing", {Normal({0, 3})}, attrs);
  if (reduction != Reduction::kMean) s.Add("integers", {Integers({5}, -9, 9)}, attrs);
  s.AddError("bool", {Booleans({5})}, attrs, "x must be ");
  s.AddError("other operation", {Normal({3})}, AllReduceOptions{.reduction = other}, " is all_");
  s.AddError("group", {Normal({3})}, AllReduceOptions{.reduction = reduction, .group = 1 << 30},
             "there is no group 1073741824 of ranks in this process now");
}

FIRN_REGISTER_SAMPLES(all_reduce) {
  AddReduction(s, Reduction::kSum, Reduction::kMax);
  s.Add("mean", {Normal({3, 5})}, AllReduceOptions{.reduction = Reduction::kMean});
  s.AddError("mean of integers", {Integers({3}, 0, 9)},
             AllReduceOptions{.reduction = Reduction::kMean},
             "a mean over ranks needs floating numbers, x is i64 [3]");
  s.AddLarge("4M", {Normal({2048, 2048})}, AllReduceOptions(), 0, 33.6e6);
}

FIRN_REGISTER_SAMPLES(all_reduce_prod) {
  AddReduction(s, Reduction::kProd, Reduction::kSum);
  s.AddLarge("4M", {Normal({2048, 2048})}, AllReduceOptions{.reduction = Reduction::kProd}, 0,
             33.6e6);
}

FIRN_REGISTER_SAMPLES(all_reduce_extreme) {
  AddReduction(s, Reduction::kMax, Reduction::kProd);
  s.Add("smallest", {Normal({3, 5})}, AllReduceOptions{.reduction = Reduction::kMin});
  s.AddLarge("4M", {Normal({2048, 2048})}, AllReduceOptions{.reduction = Reduction::kMax}, 0,
             33.6e6);
}

}  // namespace
}  // namespace firn::testing
