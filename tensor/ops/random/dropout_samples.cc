#include <cmath>

#include "firn/device/philox.h"
#include "firn/tensor/ops/random/dropout.h"
#include "firn/tensor/ops/random/random_samples.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(dropout) {
  s.Function([](In in, const DropoutAttrs& a) {
    return DrawFrom(in[1], [&](RandomGenerator* g) { return Dropout(in[0], a.p, true, g); });
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const double p = attrs.get<DropoutAttrs>().p;
    const PhiloxState at{static_cast<uint64_t>(in[1][0]), static_cast<uint64_t>(in[1][1])};
    RefTensor state = in[1], y(in[0].shape), kept(Shape({(y.size() + 7) / 8}));
    kept.dtype = DType::kU8;
    for (int64_t i = 0; i < y.size(); ++i) {
      const uint32_t word = PhiloxAt(at, static_cast<uint64_t>(i / 4)).v[i % 4];
      if (word / 0x1p32 < p) continue;
      y[i] = in[0][i] / (1 - p);
      kept[i / 8] += std::exp2(static_cast<double>(i % 8));
    }
    state[1] += static_cast<double>((y.size() + 3) / 4);
    return std::vector<RefTensor>{state, y, kept};
  });
  const Tensor state = Indices({7, 100});
  s.Add("vector", {Normal({37}), state}, DropoutAttrs{});
  s.Add("channels", {Normal({2, 8, 3, 3}), state}, DropoutAttrs{0.2});
  s.Add("all", {Normal({5}), state}, DropoutAttrs{1});
  s.Add("none", {Normal({5}), state}, DropoutAttrs{0}).check_function = false;  // draws nothing
  s.Add("a number", {Normal({}), state}, DropoutAttrs{0.9});
  s.Add("nothing", {Normal({0, 3}), state}, DropoutAttrs{});
  s.AddLarge("4M", {Normal({2048, 2048}), state}, DropoutAttrs{}, 4.2e6, 33.6e6);
  s.AddError("p", {Normal({3}), state}, DropoutAttrs{1.5}, "p 1.5 is outside [0, 1]");
  s.AddError("state", {Normal({3}), Indices({1})}, DropoutAttrs{},
             "state [1] is not a generator's");
  s.AddError("integers", {Integers({3}, 0, 1), state}, DropoutAttrs{}, "x must be f32, f64");
}

FIRN_REGISTER_SAMPLES(dropout_grad) {
  s.Internal("the gradient of dropout");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const double p = attrs.get<DropoutAttrs>().p;
    RefTensor dx(in[0].shape);
    for (int64_t i = 0; i < dx.size() && p < 1; ++i) {
      const auto bits = static_cast<int>(in[1][i / 8]);
      if ((bits >> i % 8 & 1) != 0) dx[i] = in[0][i] / (1 - p);
    }
    return std::vector<RefTensor>{dx};
  });
  const auto kept = [](int64_t n) { return Cast(Integers({(n + 7) / 8}, 0, 256), DType::kU8); };
  s.Add("vector", {Normal({37}), kept(37)}, DropoutAttrs{});
  s.Add("channels", {Normal({2, 8, 3, 3}), kept(144)}, DropoutAttrs{0.25});
  s.Add("all", {Normal({5}), kept(5)}, DropoutAttrs{1});
  s.Add("none", {Normal({5}), kept(5)}, DropoutAttrs{0});
  s.Add("nothing", {Normal({0, 3}), kept(0)}, DropoutAttrs{});
  s.AddLarge("4M", {Normal({2048, 2048}), kept(1 << 22)}, DropoutAttrs{}, 4.2e6, 33.6e6);
  s.AddError("p", {Normal({3}), kept(3)}, DropoutAttrs{-0.5}, "p -0.5 is outside [0, 1]");
  s.AddError("kept", {Normal({9}), kept(8)}, DropoutAttrs{},
             "kept [1], want [2], a bit an element");
}

}  // namespace
}  // namespace firn::testing
