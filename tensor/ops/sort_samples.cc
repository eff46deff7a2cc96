#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tensor/line_samples.h"
#include "tensor/ops/sort.h"

namespace firn::testing::sort {
namespace {

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const SortAttrs& a = attrs.get<SortAttrs>();
  const RefTensor& x = in[0];
  RefTensor values(x.shape), indices(x.shape);
  ForEachLine(x.shape, a.dim, [&](int64_t n, int64_t first, int64_t step) {
    const auto at = [&](int64_t i) { return x[first + i * step]; };
    const auto less = [&](double u, double v) { return std::isnan(v) ? !std::isnan(u) : u < v; };
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      return a.descending ? less(at(j), at(i)) : less(at(i), at(j));
    });
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = order[static_cast<size_t>(i)];
      values[first + i * step] = at(from);
      indices[first + i * step] = static_cast<double>(from);
    }
  });
  return {values, indices};
}

}  // namespace

FIRN_REGISTER_SAMPLES(sort) {
  s.Reference(Reference);
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  s.Add("a vector", {Distinct({9})}, SortAttrs{});
  s.Add("rows", {Distinct({3, 5})}, SortAttrs{1});
  s.Add("columns, descending", {Distinct({5, 3})}, SortAttrs{0, true});
  s.Add("middle", {Distinct({2, 4, 3})}, SortAttrs{-2});
  s.Add("ties", {Integers({4, 30}, 0, 4)}, SortAttrs{1, false, true});
  s.Add("ties, descending", {Integers({4, 30}, 0, 4)}, SortAttrs{1, true, true});
  s.Add("bool", {Booleans({2, 9})}, SortAttrs{1, false, true});
  s.Add("NaN and infinities", {Values({1, nan, -inf, inf, 0, nan, -1, inf}, {2, 4})}, SortAttrs{1})
      .check_gradient = false;
  s.Add("NaN, descending", {Values({1, nan, -inf, inf, 0, nan, -1, inf}, {2, 4})},
        SortAttrs{1, true})
      .check_gradient = false;
  s.Add("a scalar", {Normal({})}, SortAttrs{});
  s.Add("many rows", {Distinct({40, 3})}, SortAttrs{1});
  s.Add("empty rows", {Normal({3, 0})}, SortAttrs{1});
  s.AddLarge("256 rows of 4096", {Normal({256, 4096})}, SortAttrs{1}, 0, 8.4e6);
  s.AddError("dim", {Normal({3, 5})}, SortAttrs{2}, "dim 2 is outside [3, 5]");
}

}  // namespace firn::testing::sort
