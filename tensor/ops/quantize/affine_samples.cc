#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/ops/quantize/affine.h"
#include "firn/tensor/ops/shape/convert.h"

// The straight-through gradient of fake_quantize is not the derivative:
// tests/tensor/quantize_test.cc has it. Beyond the range, where it is 0, both agree.

namespace firn::testing {
namespace {

// The place of x's element `at` in a scale for each index of `dim`.
int64_t PlaceOf(const RefTensor& scale, absl::Span<const int64_t> at, int64_t dim) {
  return scale.shape.rank() == 0 ? 0 : at[static_cast<size_t>(dim)];
}

double Rounded(double x, bool away) {
  const double up = std::round(x);
  return !away && std::abs(x - std::trunc(x)) == 0.5 ? 2 * std::round(x / 2) : up;
}

// f(element, scale, zero point) for every element of x, where they are inputs x, x + 1 and x + 2.
template <class F>
std::vector<RefTensor> Mapped(absl::Span<const RefTensor> in, size_t x, int64_t dim, const F& f) {
  RefTensor y(in[x].shape);
  ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
    const int64_t i = PlaceOf(in[x + 1], at, dim);
    y.at(at) = f(at, in[x].at(at), in[x + 1][i], in[x + 2][i]);
  });
  return {y};
}
using At = absl::Span<const int64_t>;

// A scale of shape [n, ...] or 0-d; multiples of it are exact in all dtypes.
Tensor Scale() { return Values({0.125}, {}); }
Tensor Scales() { return Values({0.125, 0.25, 0.5, 0.0625, 1, 2, 0.25, 0.125}); }
Tensor Points(std::vector<int64_t> values) { return Cast(Indices(std::move(values)), DType::kI32); }
Tensor Point(int64_t value) { return Cast(Indices({value}, {}), DType::kI32); }
Tensor Zero() { return Point(3); }
Tensor NoZero() { return Point(0); }
Tensor ZeroPoints() { return Points({0, 1, -2, 3, 10, -7, 0, 5}); }

template <class Attrs>
void AddCalls(Samples& s, Attrs one, Attrs channel, Attrs last) {
  s.Add("number", {Grid({}, 1), Scale(), Zero()}, one);
  s.Add("matrix", {Grid({3, 16}, 2), Scale(), NoZero()}, one);
  s.Add("channels", {Grid({2, 8, 3, 2}, 3), Scales(), ZeroPoints()}, channel);
  s.Add("the last dimension", {Grid({3, 8}, 4), Scales(), ZeroPoints()}, last);
  s.Add("nothing", {Grid({0, 8}, 5), Scales(), ZeroPoints()}, last);
  s.Add("edges",
        {Values({0.0, -0.0, INFINITY, -INFINITY, NAN, 0.0625, 0.1875, -0.0625, -0.1875, 1e30}),
         Scale(), Zero()},
        one);
  s.Add("scales of 0",
        {Values({1, -2, 0, 3, NAN, 4}, {2, 3}), Values({0, -0.5, NAN}), Points({1, 2, 3})}, last);
}

template <class Attrs>
void AddErrors(Samples& s, Attrs channel) {
  s.AddError("scales", {Normal({2, 3}), Values({1, 2}), Points({0, 0})}, channel, "does not fit");
  s.AddError("integers", {Integers({3}, 0, 9), Scale(), NoZero()}, channel, "x must be f32");
}

FIRN_REGISTER_SAMPLES(quantize_linear) {
  s.Function([](In in, const QuantizeAttrs& a) {
    QuantizeOptions o{.dtype = a.dtype, .round = a.round, .narrow_range = a.narrow_range};
    if (in[1].defined() && in[1].rank() == 1) o.dim = a.dim;
    return QuantizeLinear(in[0], in[1], in[2], o);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<QuantizeAttrs>();
    const bool wide = a.dtype == DType::kI32, u8 = a.dtype == DType::kU8;
    const double high = wide ? 0x1p31 - 1 : u8 ? 255 : 127;
    const double low = (wide ? -0x1p31 : u8 ? 0 : -128) + (a.narrow_range ? 1 : 0);
    auto y = Mapped(in, 0, a.dim, [&](At, double x, double scale, double zero) {
      const double q = Rounded(x / scale, a.round == RoundTies::kAway);
      return std::clamp((std::isnan(q) ? 0 : q) + zero, low, high);
    });
    y[0].dtype = a.dtype;
    return y;
  });
  AddCalls(s, QuantizeAttrs{}, QuantizeAttrs{.dim = 1}, QuantizeAttrs{.dim = 1});
  const Tensor far = Values({-100, 100, 31.25, -31.25, 0.0625, 0.1875, -0.0625});
  s.Add("away", {far, Scale(), Zero()}, QuantizeAttrs{.round = RoundTies::kAway});
  s.Add("narrow", {far, Scale(), Zero()}, QuantizeAttrs{.narrow_range = true});
  s.Add("u8", {far, Scale(), Point(128)}, QuantizeAttrs{.dtype = DType::kU8});
  s.Add("narrow u8", {far, Scale(), Zero()}, QuantizeAttrs{0, DType::kU8, RoundTies::kEven, true});
  s.Add("i32", {Values({1e12, -1e12, 4096, NAN}), Scale(), Point(1000001)},
        QuantizeAttrs{.dtype = DType::kI32});
  AddErrors(s, QuantizeAttrs{.dim = 1});
  s.AddLarge("4M", {Normal({2048, 2048}), Scale(), Zero()}, QuantizeAttrs{.dtype = DType::kU8},
             2 * 4.2e6, 21e6);
  s.AddLarge("channels", {Normal({64, 8, 64, 64}), Scales(), ZeroPoints()},
             QuantizeAttrs{.dim = 1, .dtype = DType::kU8}, 2 * 2.1e6, 10.5e6);
  s.AddError("dtype", {Normal({3}), Scale(), NoZero()}, QuantizeAttrs{.dtype = DType::kI64},
             "dtype must be i8, u8 or i32, got i64");
}

FIRN_REGISTER_SAMPLES(dequantize_linear) {
  s.Function([](In in, const DequantizeAttrs& a) {
    DequantizeOptions o;
    if (in[1].defined() && in[1].rank() == 1) o.dim = a.dim;
    return DequantizeLinear(in[0], in[1], in[2], o);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    return Mapped(in, 0, attrs.get<DequantizeAttrs>().dim,
                  [](At, double q, double scale, double zero) { return (q - zero) * scale; });
  });
  const auto levels = [](const Shape& shape, uint64_t seed) {
    return Cast(Integers(shape, -100, 100, seed), DType::kI8);
  };
  s.Add("number", {levels({}, 1), Scale(), Zero()}, DequantizeAttrs{});
  s.Add("matrix", {levels({3, 16}, 2), Scale(), NoZero()}, DequantizeAttrs{});
  s.Add("channels", {levels({2, 8, 3, 2}, 3), Scales(), ZeroPoints()}, DequantizeAttrs{1});
  s.Add("the last dimension", {levels({3, 8}, 4), Scales(), ZeroPoints()}, DequantizeAttrs{1});
  s.Add("u8", {Cast(Integers({3, 8}, 0, 255, 5), DType::kU8), Scale(), Zero()}, DequantizeAttrs{});
  s.Add("i32", {Cast(Integers({3, 8}, -90000, 90000, 6), DType::kI32), Scale(), Zero()},
        DequantizeAttrs{});
  s.Add("nothing", {levels({0, 8}, 5), Scales(), ZeroPoints()}, DequantizeAttrs{1});
  s.AddLarge("4M", {Cast(Integers({2048, 2048}, 0, 255, 5), DType::kU8), Scale(), Zero()},
             DequantizeAttrs{}, 2 * 4.2e6, 21e6);
  s.AddError("scales", {levels({2, 3}, 1), Values({1, 2}), Points({0, 0})}, DequantizeAttrs{1},
             "does not fit");
  s.AddError("floats", {Normal({3}), Scale(), Zero()}, DequantizeAttrs{}, "x must be i8");
}

FIRN_REGISTER_SAMPLES(fake_quantize) {
  s.Function([](In in, const FakeQuantizeAttrs& a) {
    const bool channels = in[1].defined() && in[1].rank() == 1;
    return FakeQuantize(in[0], in[1], in[2], a.qmin, a.qmax,
                        channels ? std::optional(a.dim) : std::nullopt);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<FakeQuantizeAttrs>();
    return Mapped(in, 0, a.dim, [&](At, double x, double scale, double zero) {
      const double q = Rounded(x / scale, false) + zero;
      if (std::isnan(q)) return q;
      const auto low = static_cast<double>(a.qmin), high = static_cast<double>(a.qmax);
      return (std::clamp(q, low, high) - zero) * scale;
    });
  });
  AddCalls(s, FakeQuantizeAttrs{}, FakeQuantizeAttrs{1, -8, 7}, FakeQuantizeAttrs{1, 0, 15});
  for (Sample& sample : s.samples) sample.check_gradient = false;
  s.Add("beyond the range", {Values({100, -100, 40}), Scale(), Zero()}, FakeQuantizeAttrs{})
      .constant_inputs = {1};
  s.AddLarge("4M", {Normal({2048, 2048}), Scale(), Zero()}, FakeQuantizeAttrs{}, 4 * 4.2e6, 33.6e6)
      .constant_inputs = {1};
  s.AddLarge("channels", {Normal({64, 8, 64, 64}), Scales(), ZeroPoints()},
             FakeQuantizeAttrs{1, -8, 7}, 4 * 2.1e6, 16.8e6)
      .constant_inputs = {1};
  AddErrors(s, FakeQuantizeAttrs{.dim = 1});
  s.AddError("range", {Normal({3}), Scale(), NoZero()}, FakeQuantizeAttrs{0, 5, 4},
             "expected -2^24 <= qmin <= qmax <= 2^24, got 5 and 4");
}

FIRN_REGISTER_SAMPLES(fake_quantize_grad) {
  s.Internal("the gradient of fake_quantize");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<FakeQuantizeAttrs>();
    return Mapped(in, 1, a.dim, [&](At at, double x, double scale, double zero) {
      const double q = Rounded(x / scale, false) + zero;
      const auto low = static_cast<double>(a.qmin), high = static_cast<double>(a.qmax);
      return q >= low && q <= high ? in[0].at(at) : 0;
    });
  });
  // Another scale may have another element in the range.
  s.Add("matrix", {Normal({3, 16}), Grid({3, 16}, 2), Scale(), NoZero()},
        FakeQuantizeAttrs{0, -8, 7})
      .constant_inputs = {2};
  s.Add("channels", {Normal({2, 8, 3, 2}), Grid({2, 8, 3, 2}, 3), Scales(), ZeroPoints()},
        FakeQuantizeAttrs{1, -8, 7})
      .constant_inputs = {2};
  s.Add("nothing", {Normal({0, 8}), Grid({0, 8}, 5), Scales(), ZeroPoints()},
        FakeQuantizeAttrs{1, -8, 7});
  s.Add("edges", {Values({1, 2, 3, 4}), Values({INFINITY, NAN, 0, -INFINITY}), Scale(), Zero()},
        FakeQuantizeAttrs{})
      .check_gradient = false;
  s.AddError("shapes", {Normal({3}), Normal({4}), Scale(), NoZero()}, FakeQuantizeAttrs{},
             "dy [3] must have the shape of x [4]");
  s.AddError("range", {Normal({3}), Normal({3}), Scale(), NoZero()}, FakeQuantizeAttrs{0, 5, 4},
             "got 5 and 4");
}

}  // namespace
}  // namespace firn::testing
