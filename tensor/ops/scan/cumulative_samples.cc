#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/tensor/ops/scan/cumulative.h"
#include "firn/tensor/ops/scan/line_samples.h"

namespace firn::testing {
namespace {

Tensor Factors(const Shape& shape) { return Uniform(shape, 0.5, 1.5); }

// What both share: the reference, which goes on from `start` by `step`, and samples.
void AddCumulative(Samples& s, double start, double (*step)(double, double)) {
  s.Reference([start, step](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const CumsumAttrs& a = attrs.get<CumsumAttrs>();
    RefTensor y(in[0].shape, start);
    ForEachLine(y.shape, a.dim, [&](int64_t n, int64_t first, int64_t apart) {
      for (int64_t i = 0; i < n; ++i) {
        double& to = y[first + i * apart];
        for (int64_t j = 0; j < n; ++j) {
          const bool before = a.reverse ? j > i : j < i;
          if (before || (j == i && !a.exclusive)) to = step(to, in[0][first + j * apart]);
        }
      }
    });
    return std::vector<RefTensor>{y};
  });
  s.Add("a vector", {Factors({7})}, CumsumAttrs{0});
  s.Add("rows", {Factors({3, 5})}, CumsumAttrs{1});
  s.Add("columns", {Factors({3, 5})}, CumsumAttrs{-2});
  s.Add("middle", {Factors({2, 4, 3})}, CumsumAttrs{1});
  s.Add("exclusive", {Factors({3, 5})}, CumsumAttrs{1, true});
  s.Add("reverse", {Factors({3, 5})}, CumsumAttrs{1, false, true});
  s.Add("exclusive and reverse", {Factors({4, 3})}, CumsumAttrs{0, true, true});
  s.Add("a scalar", {Factors({})}, CumsumAttrs{0});
  s.Add("bool", {Booleans({3, 5})}, CumsumAttrs{1});
  s.AddError("dim", {Factors({3, 5})}, CumsumAttrs{2}, "dim 2 is outside [3, 5]");
}

FIRN_REGISTER_SAMPLES(cumsum) {
  s.Function([](In in, const CumsumAttrs& a) {
    return Cumsum(in[0], a.dim, {.exclusive = a.exclusive, .reverse = a.reverse});
  });
  AddCumulative(s, 0, [](double y, double x) { return y + x; });
  s.Add("integers", {Integers({3, 5}, 0, 20)}, CumsumAttrs{1});
  s.Add("long", {Factors({3000})}, CumsumAttrs{0}).check_gradient = false;
  s.AddLarge("rows of 2048", {Factors({1024, 2048})}, CumsumAttrs{1}, 2.1e6, 16.8e6);
  s.AddLarge("columns of 1024", {Factors({1024, 2048})}, CumsumAttrs{0}, 2.1e6, 16.8e6);
}

FIRN_REGISTER_SAMPLES(cumprod) {
  s.Function([](In in, const CumsumAttrs& a) {
    return Cumprod(in[0], a.dim, {.exclusive = a.exclusive, .reverse = a.reverse});
  });
  AddCumulative(s, 1, [](double y, double x) { return y * x; });
  const Tensor zeros = Values({2, 0, 3, -1, 0, 2, 0.5, 1.5, 0, 1, 1, 2}, {3, 4});
  s.Add("zeros", {zeros}, CumsumAttrs{1});
  s.Add("zeros, exclusive", {zeros}, CumsumAttrs{1, true});
  s.Add("zeros, reverse", {zeros}, CumsumAttrs{0, false, true});
  s.Add("an exclusive scalar", {Factors({})}, CumsumAttrs{0, true});
  s.Add("nothing", {Factors({3, 0})}, CumsumAttrs{1});
  s.Add("integers", {Integers({3, 4}, 0, 3)}, CumsumAttrs{1});
  s.Add("long", {Uniform({3000}, 0.99, 1.01)}, CumsumAttrs{0}).check_gradient = false;
  s.AddLarge("rows of 2048", {Uniform({1024, 2048}, 0.99, 1.01)}, CumsumAttrs{1}, 2.1e6, 16.8e6);
  s.AddLarge("columns of 1024", {Uniform({1024, 2048}, 0.99, 1.01)}, CumsumAttrs{0}, 2.1e6, 16.8e6);
}

FIRN_REGISTER_SAMPLES(linear_scan) {
  s.Function([](In in, const LinearScanAttrs& a) { return LinearScan(in[0], in[1], a); });
  s.WithoutVectors("the gradient of cumprod");
  // The sum over all elements on the way, each times the factors of the steps that follow it.
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const LinearScanAttrs& a = attrs.get<LinearScanAttrs>();
    RefTensor y(in[0].shape);
    ForEachLine(y.shape, a.dim, [&](int64_t n, int64_t first, int64_t step) {
      const auto at = [&](int64_t i) { return first + (a.reverse ? n - 1 - i : i) * step; };
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
          double term = in[1][at(j)];
          for (int64_t l = j + 1; l <= i; ++l) term *= in[0][at(a.previous ? l - 1 : l)];
          y[at(i)] += term;
        }
      }
    });
    return std::vector<RefTensor>{y};
  });
  const auto a = [](const Shape& shape) { return Uniform(shape, 0.25, 1.25, 5); };
  for (bool reverse : {false, true}) {
    for (bool previous : {false, true}) {
      const LinearScanAttrs rows{1, reverse, previous}, columns{0, reverse, previous};
      const std::string way =
          absl::StrCat(reverse ? ", reverse" : "", previous ? ", previous" : "");
      s.Add("rows" + way, {a({3, 5}), Uniform({3, 5}, 0.5, 1.5)}, rows);
      s.Add("columns" + way, {a({4, 3}), Uniform({4, 3}, 0.5, 1.5)}, columns);
    }
  }
  s.Add("middle", {a({2, 4, 3}), Uniform({2, 4, 3}, 0.5, 1.5)}, LinearScanAttrs{-2});
  s.Add("zeros", {Values({0, 2, 0, 1}), Values({1, 2, 3, 4})}, LinearScanAttrs{});
  s.Add("an infinite first factor", {Values({INFINITY, 2}), Values({1, 2})}, LinearScanAttrs{})
      .check_gradient = false;
  s.Add("a scalar", {a({}), Uniform({}, 0.5, 1.5)}, LinearScanAttrs{});
  s.Add("nothing", {a({3, 0}), a({3, 0})}, LinearScanAttrs{1});
  s.AddLarge("rows of 2048", {a({1024, 2048}), a({1024, 2048})}, LinearScanAttrs{1}, 4.2e6, 25.2e6);
  s.AddError("shapes", {a({3}), a({4})}, LinearScanAttrs{}, "differ in shape");
  s.AddError("dim", {a({3}), a({3})}, LinearScanAttrs{1}, "dim 1 is outside [3]");
}

}  // namespace
}  // namespace firn::testing
