#include <cmath>

#include "device/philox.h"
#include "tensor/ops/bernoulli.h"
#include "tensor/samples.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(bernoulli) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    RefTensor state = in[0];
    const PhiloxState at{static_cast<uint64_t>(state[0]), static_cast<uint64_t>(state[1])};
    RefTensor y(in[1].shape);
    for (int64_t i = 0; i < y.size(); ++i) {
      const uint32_t word = PhiloxAt(at, static_cast<uint64_t>(i / 4)).v[i % 4];
      y[i] = word / 0x1p32 < in[1][i] ? 1 : 0;
    }
    state[1] += static_cast<double>((y.size() + 3) / 4);
    return std::vector<RefTensor>{state, y};
  });
  const Tensor state = Indices({7, 100});
  s.Add("vector", {state, Uniform({37}, 0, 1)});
  s.Add("matrix", {state, Uniform({5, 7}, 0, 0.5)});
  s.Add("certain", {state, Values({0, 1, 0, 1, 1})});
  s.Add("a number", {state, Values({0.25}, {})});
  s.Add("nothing", {state, Normal({0, 3})});
  s.AddLarge("4M", {state, Uniform({2048, 2048}, 0, 1)}, {}, 0, 33.6e6);
  s.AddError("above 1", {state, Values({0.5, 1.5})}, {}, "p 1.5 at index 1 is outside [0, 1]");
  s.AddError("negative", {state, Values({-0.5})}, {}, "p -0.5 at index 0 is outside [0, 1]");
  s.AddError("NaN", {state, Values({NAN})}, {}, "p nan at index 0 is outside [0, 1]");
  s.AddError("state", {Indices({1, 2, 3}), Values({0.5})}, {}, "state [3] is not a generator's");
  s.AddError("integers", {state, Integers({3}, 0, 1)}, {}, "p must be f32, f64");
}

}  // namespace firn::testing
