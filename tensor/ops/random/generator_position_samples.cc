#include "firn/tensor/ops/random/generator_position.h"
#include "firn/tensor/ops/random/random_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(generator_position) {
  s.Function([](In in, const PositionAttrs& a) {
    return DrawFrom(in[0], [&](RandomGenerator* g) { return TakePosition(*g, a.counters); });
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    RefTensor state = in[0];
    state[1] += static_cast<double>(attrs.get<PositionAttrs>().counters);
    return std::vector<RefTensor>{state, in[0]};
  });
  s.Add("some", {Indices({7, 100})}, PositionAttrs{12});
  s.Add("none", {Indices({-7, 100})}, PositionAttrs{});
  s.AddError("counters", {Indices({7, 100})}, PositionAttrs{-1}, "counters -1 is negative");
  s.AddError("state", {Indices({1})}, PositionAttrs{1}, "state [1] is not a generator's");
}

}  // namespace
}  // namespace firn::testing
