#include <cmath>

#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/ops/quantize/binary.h"

// The gradients are not derivatives of the functions: tests/tensor/quantize_test.cc has them. Where
// they are 0 both agree.

namespace firn::testing {
namespace {

void AddSteps(Samples& s) {
  s.WithoutVectors("PyTorch does not have it");
  AddUnary(s, Normal);
  for (Sample& sample : s.samples) sample.check_gradient = false;
  s.Add("far", {Values({1.5, -1.5, 30, -4})});
  s.Add("edges", {Values({0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 1e-30, -1e-30})})
      .check_gradient = false;
  s.AddError("integers", {Integers({3}, 0, 9)}, {}, "x must be f32, f64, f16 or bf16");
}

FIRN_REGISTER_SAMPLES(binary_sigmoid) {
  s.Function<BinarySigmoid>();
  s.Reference([](double x) { return x > 0 ? 1.0 : 0.0; });
  AddSteps(s);
}

FIRN_REGISTER_SAMPLES(binary_tanh) {
  s.Function<BinaryTanh>();
  s.Reference([](double x) { return x > 0 ? 1.0 : -1.0; });
  AddSteps(s);
}

FIRN_REGISTER_SAMPLES(binary_grad) {
  s.Internal("the gradient of binary_tanh");
  s.Reference([](double dy, double x) { return std::abs(x) < 1 ? dy : 0.0; });
  AddGradient(s, Grid);
  s.Add("edges", {Values({1, 2, 3, 4, 5, INFINITY}), Values({1, -1, INFINITY, NAN, -0.0, 0.5})})
      .check_gradient = false;
}

struct BinarizeAttrs {
  double zero_to = 1;
  int64_t scale_dim = -100;  // none
  template <class V>
  void Visit(V& v) {
    v.Field("zero_to", zero_to);
    v.Field("scale_dim", scale_dim);
  }
};

FIRN_REGISTER_COMPOSITE(binarize) {
  s.gradient_is_derivative = false;  // tests/tensor/quantize_test
  s.Declare({{.name = "w", .dtypes = kFloating}}, {{.name = "y", .same_dtype_as = "w"}});
  s.Function([](In in, const BinarizeAttrs& a) {
    BinarizeOptions options{.zero_to = a.zero_to};
    if (a.scale_dim != -100) options.scale_dim = a.scale_dim;
    return Binarize(in[0], options);
  });
  s.WithoutVectors("PyTorch does not have it");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<BinarizeAttrs>();
    const RefTensor& w = in[0];
    const bool scaled = a.scale_dim != -100;
    const int64_t dim = a.scale_dim < 0 ? a.scale_dim + w.shape.rank() : a.scale_dim;
    std::vector<double> sums(scaled ? static_cast<size_t>(w.shape[static_cast<int>(dim)]) : 1);
    const auto row = [&](absl::Span<const int64_t> at) {
      return scaled ? static_cast<size_t>(at[static_cast<size_t>(dim)]) : 0;
    };
    ForEachIndex(w.shape,
                 [&](absl::Span<const int64_t> at) { sums[row(at)] += std::abs(w.at(at)); });
    const double n = static_cast<double>(w.size()) / static_cast<double>(sums.size());
    RefTensor y(w.shape);
    ForEachIndex(w.shape, [&](absl::Span<const int64_t> at) {
      const double v = w.at(at), sign = v > 0 ? 1 : v < 0 ? -1 : v == 0 ? a.zero_to : v;
      y.at(at) = sign * (scaled ? sums[row(at)] / n : 1);
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("matrix", {Normal({3, 5})}, BinarizeAttrs{});
  s.Add("filters", {Normal({4, 8, 3, 2})}, BinarizeAttrs{1, 0});
  s.Add("the last dimension", {Normal({3, 5})}, BinarizeAttrs{1, -1});
  s.Add("one dimension", {Normal({5})}, BinarizeAttrs{1, 0});
  s.Add("zeros", {Values({0, -0.0, 2, -3, NAN})}, BinarizeAttrs{0.5});
  s.Add("nothing", {Normal({0, 3})}, BinarizeAttrs{});
  s.AddLarge("2048x2048", {Normal({2048, 2048})}, BinarizeAttrs{1, 0}, 3 * 4.2e6, 33.6e6);
  s.AddError("dim", {Normal({3})}, BinarizeAttrs{1, 1}, "binarize");
  s.AddError("integers", {Integers({3}, 0, 9)}, BinarizeAttrs{}, "must be f32, f64, f16 or bf16");
}

}  // namespace
}  // namespace firn::testing
