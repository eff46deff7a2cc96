#include <cmath>

#include "firn/tensor/ops/attention/rotary_embedding.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct RotaryAttrs {
  int64_t offset = 0, dims = 0;
  double base = 10000;
  bool interleaved = false;
  template <class V>
  void Visit(V& v) {
    v.Field("offset", offset);
    v.Field("dims", dims);
    v.Field("base", base);
    v.Field("interleaved", interleaved);
  }
};

std::vector<RefTensor> Turned(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RotaryAttrs& a = attrs.get<RotaryAttrs>();
  const RefTensor& x = in[0];
  RefTensor y = x;
  const int64_t features = x.shape.dim(-1), length = x.shape.dim(-2);
  const int64_t dims = a.dims == 0 ? features : a.dims;
  for (int64_t row = 0; row * features < x.size(); ++row) {
    const double at = in.size() > 1 && in[1].defined()
                          ? in[1][row % in[1].size()]
                          : static_cast<double>(row % length + a.offset);
    for (int64_t i = 0; i < dims / 2; ++i) {
      const double angle =
          at / std::pow(a.base, 2.0 * static_cast<double>(i) / static_cast<double>(dims));
      const int64_t one = row * features + (a.interleaved ? 2 * i : i);
      const int64_t other = a.interleaved ? one + 1 : one + dims / 2;
      y[one] = x[one] * std::cos(angle) - x[other] * std::sin(angle);
      y[other] = x[other] * std::cos(angle) + x[one] * std::sin(angle);
    }
  }
  return {y};
}

FIRN_REGISTER_COMPOSITE(rotary_embedding) {
  s.Declare({{.name = "x", .dtypes = kFloating},
             {.name = "positions", .dtypes = SetOf(DType::kI64), .optional = true}});
  s.Function([](In in, const RotaryAttrs& a) {
    return RotaryEmbedding(in[0], {.positions = in[1],
                                   .offset = a.offset,
                                   .base = a.base,
                                   .dims = a.dims,
                                   .interleaved = a.interleaved});
  });
  s.WithoutVectors("PyTorch has no such function");
  s.Reference(Turned);
  const Tensor none;
  s.Add("matrix", {Normal({3, 4}), none}, RotaryAttrs{});
  s.Add("heads", {Normal({2, 2, 5, 6}), none}, RotaryAttrs{.offset = 7, .base = 100});
  s.Add("neighbours", {Normal({2, 5, 6}), none}, RotaryAttrs{.interleaved = true});
  s.Add("some features", {Normal({2, 5, 6}), none}, RotaryAttrs{.dims = 4});
  s.Add("positions", {Normal({2, 3, 4}), Indices({5, 0, 3})}, RotaryAttrs{});
  s.Add("positions of each", {Normal({2, 3, 4}), Indices({5, 0, 3, 1, 2, 9}, {2, 3})},
        RotaryAttrs{.interleaved = true});
  s.Add("nothing", {Normal({0, 4}), none}, RotaryAttrs{});
  s.AddLarge("8x12x512x64", {Normal({8, 12, 512, 64}), none}, RotaryAttrs{}, 3 * 3.1e6, 25e6);
  s.AddError("odd", {Normal({3, 5}), none}, RotaryAttrs{},
             "dims 5 must be even and at most the 5 features of x [3, 5]");
  s.AddError("positions", {Normal({3, 4}), Indices({1, 2, 3, 4, 5, 6}, {2, 3})}, RotaryAttrs{},
             "positions [2, 3] do not broadcast to the rows of x [3, 4]");
  s.AddError("base", {Normal({3, 4}), none}, RotaryAttrs{.base = -1}, "base -1 is not a positive");
}

}  // namespace
}  // namespace firn::testing
