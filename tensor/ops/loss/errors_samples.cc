#include <cmath>

#include "firn/tensor/ops/loss/errors.h"
#include "firn/tensor/ops/scan/line_samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_COMPOSITE(binary_error) {
  s.Declare({{.name = "x", .dtypes = kAnyDType}, {.name = "target", .dtypes = kAnyDType}},
            {{.name = "y", .dtypes = kFloating, .constant = true}});
  s.Function<BinaryError>();
  s.WithoutVectors("PyTorch has no such function");
  s.Reference([](double x, double target) { return (x >= 0.5) != (target >= 0.5) ? 1.0 : 0.0; });
  s.Add("probabilities", {Uniform({3, 7}, 0, 1), Values({0, 1, 1, 0, 1, 0, 1})});
  s.Add("the middle", {Values({0.5, 0.5, 0.25, 1}), Values({0, 1, 0.5, 0.75})});
  s.Add("integers", {Integers({5}, 0, 2), Integers({5}, 0, 2, 2)});
  s.Add("truth", {Uniform({2, 3}, 0, 1), Booleans({2, 3})});
  s.Add("truth of both", {Booleans({7}), Booleans({7}, 2)});
  s.Add("a number", {Values({0.75}, {}), Values({0}, {})});
  s.Add("nothing", {Normal({0, 3}), Normal({3})});
  s.AddError("shapes", {Normal({3}), Normal({2})}, {}, "[3]");
}

struct TopNErrorAttrs {
  int64_t dim = -1, n = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("n", n);
  }
};

FIRN_REGISTER_COMPOSITE(top_n_error) {
  s.Declare({{.name = "x", .dtypes = kNumeric}, {.name = "target", .dtypes = kIndex}},
            {{.name = "y", .dtypes = kFloating, .constant = true}});
  s.Function([](In in, const TopNErrorAttrs& a) { return TopNError(in[0], in[1], a.dim, a.n); });
  s.WithoutVectors("PyTorch has no such function");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const TopNErrorAttrs& a = attrs.get<TopNErrorAttrs>();
    const RefTensor& x = in[0];
    RefTensor y(in[1].shape);
    const int dim = static_cast<int>(a.dim < 0 ? a.dim + x.shape.rank() : a.dim);
    int64_t line = 0;
    ForEachLine(x.shape, dim, [&](int64_t length, int64_t first, int64_t step) {
      const auto own = static_cast<int64_t>(in[1][line]);
      int64_t others = 0;
      for (int64_t c = 0; c < length; ++c) {
        const double v = x[first + c * step];
        others += c != own && (v >= x[first + own * step] || std::isnan(v)) ? 1 : 0;
      }
      y[line++] = others >= a.n ? 1 : 0;
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("rows", {Normal({5, 4}), Indices({0, 3, 1, 2, 2})}, TopNErrorAttrs{});
  s.Add("two of them", {Normal({5, 4}), Indices({0, 3, 1, 2, 2})}, TopNErrorAttrs{-1, 2});
  s.Add("all", {Normal({5, 4}), Indices({0, 3, 1, 2, 2})}, TopNErrorAttrs{-1, 4});
  s.Add("images", {Normal({2, 8, 3, 2}), Integers({2, 3, 2}, 0, 8)}, TopNErrorAttrs{1, 3});
  s.Add("equal scores", {Values({1, 2, 2, 0, 0, 0}, {2, 3}), Indices({2, 0})}, TopNErrorAttrs{});
  s.Add("a NaN", {Values({1, 2, NAN, 3}, {2, 2}), Indices({1, 1})}, TopNErrorAttrs{});
  s.Add("integers", {Integers({6, 3}, 0, 9), Integers({6}, 0, 3)}, TopNErrorAttrs{});
  s.Add("one sample", {Normal({5}), Indices({2}, {})}, TopNErrorAttrs{});
  s.Add("nothing", {Normal({0, 3}), Indices(std::vector<int64_t>{}, {0})}, TopNErrorAttrs{});
  s.AddError("target", {Normal({2, 3}), Indices({0, 3})}, TopNErrorAttrs{}, "3");
  s.AddError("target shape", {Normal({2, 3}), Indices({0, 1, 2})}, TopNErrorAttrs{},
             "target [3] does not fit x [2, 3] (want [2])");
  s.AddError("n", {Normal({2, 3}), Indices({0, 1})}, TopNErrorAttrs{-1, 0},
             "n must be 1 or more, got 0");
  s.AddError("dim", {Normal({2, 3}), Indices({0, 1})}, TopNErrorAttrs{2}, "top_n_error");
}

}  // namespace
}  // namespace firn::testing
