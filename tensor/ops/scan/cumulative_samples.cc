#include "tensor/ops/scan/cumulative.h"
#include "tensor/ops/scan/line_samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(cumsum) {
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const CumsumAttrs& a = attrs.get<CumsumAttrs>();
    RefTensor y(in[0].shape);
    ForEachLine(y.shape, a.dim, [&](int64_t n, int64_t first, int64_t step) {
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          const bool before = a.reverse ? j > i : j < i;
          if (before || (j == i && !a.exclusive)) y[first + i * step] += in[0][first + j * step];
        }
      }
    });
    return std::vector<RefTensor>{y};
  });
  const auto x = [](const Shape& shape) { return Uniform(shape, 0.5, 1.5); };
  s.Add("a vector", {x({7})}, CumsumAttrs{0});
  s.Add("rows", {x({3, 5})}, CumsumAttrs{1});
  s.Add("columns", {x({3, 5})}, CumsumAttrs{-2});
  s.Add("middle", {x({2, 4, 3})}, CumsumAttrs{1});
  s.Add("exclusive", {x({3, 5})}, CumsumAttrs{1, true});
  s.Add("reverse", {x({3, 5})}, CumsumAttrs{1, false, true});
  s.Add("exclusive and reverse", {x({4, 3})}, CumsumAttrs{0, true, true});
  s.Add("a scalar", {x({})}, CumsumAttrs{0});
  s.Add("integers", {Integers({3, 5}, 0, 20)}, CumsumAttrs{1});
  s.Add("bool", {Booleans({3, 5})}, CumsumAttrs{1});
  s.Add("long", {x({3000})}, CumsumAttrs{0}).check_gradient = false;
  s.AddLarge("rows of 2048", {x({1024, 2048})}, CumsumAttrs{1}, 2.1e6, 16.8e6);
  s.AddLarge("columns of 1024", {x({1024, 2048})}, CumsumAttrs{0}, 2.1e6, 16.8e6);
  s.AddError("dim", {x({3, 5})}, CumsumAttrs{2}, "dim 2 is outside [3, 5]");
}

}  // namespace
}  // namespace firn::testing
