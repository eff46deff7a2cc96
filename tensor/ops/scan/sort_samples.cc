#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "firn/tensor/ops/scan/line_samples.h"
#include "firn/tensor/ops/scan/sort.h"

namespace firn::testing {
namespace {

std::vector<RefTensor> ReferenceSort(absl::Span<const RefTensor> in, AttrsRef attrs) {
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

FIRN_REGISTER_SAMPLES(sort) {
  s.Function([](In in, const SortAttrs& a) {
    return Sort(in[0], a.dim, {.descending = a.descending, .stable = a.stable});
  });
  s.Reference(ReferenceSort);
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

std::vector<RefTensor> ReferenceTopk(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const TopkAttrs& a = attrs.get<TopkAttrs>();
  const RefTensor& x = in[0];
  Dims shape = x.shape.dims();
  if (shape.rank > 0) shape[static_cast<int>(a.dim < 0 ? a.dim + shape.rank : a.dim)] = a.k;
  RefTensor values(Shape(shape.span())), indices(values.shape);
  std::vector<int64_t> firsts;
  ForEachLine(values.shape, a.dim,
              [&](int64_t, int64_t first, int64_t) { firsts.push_back(first); });
  size_t line = 0;
  ForEachLine(x.shape, a.dim, [&](int64_t n, int64_t first, int64_t step) {
    const auto at = [&](int64_t i) { return x[first + i * step]; };
    const auto less = [&](double u, double v) { return std::isnan(v) ? !std::isnan(u) : u < v; };
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      return a.largest ? less(at(j), at(i)) : less(at(i), at(j));
    });
    for (int64_t i = 0; i < a.k; ++i) {
      const int64_t from = order[static_cast<size_t>(i)], to = firsts[line] + i * step;
      values[to] = at(from);
      indices[to] = static_cast<double>(from);
    }
    ++line;
  });
  return {values, indices};
}

FIRN_REGISTER_SAMPLES(topk) {
  s.Function([](In in, const TopkAttrs& a) {
    return Topk(in[0], a.k, a.dim, {.largest = a.largest, .sorted = a.sorted});
  });
  s.Reference(ReferenceTopk);
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  s.Add("a vector", {Distinct({9})}, TopkAttrs{3});
  s.Add("rows", {Distinct({3, 5})}, TopkAttrs{2, 1});
  s.Add("columns, smallest", {Distinct({5, 3})}, TopkAttrs{2, 0, false});
  s.Add("middle", {Distinct({2, 4, 3})}, TopkAttrs{3, -2});
  s.Add("all", {Distinct({2, 4})}, TopkAttrs{4});
  s.Add("unsorted", {Distinct({2, 8})}, TopkAttrs{3, -1, true, false}).check_values = false;
  s.Add("ties", {Integers({4, 30}, 0, 4)}, TopkAttrs{7, 1});
  s.Add("bool", {Booleans({2, 9})}, TopkAttrs{4});
  s.Add("NaN and infinities", {Values({1, nan, -inf, inf, 0, nan, -1, inf}, {2, 4})},
        TopkAttrs{3, 1})
      .check_gradient = false;
  s.Add("a scalar", {Normal({})}, TopkAttrs{1});
  s.Add("many rows", {Distinct({40, 6})}, TopkAttrs{2});
  s.AddLarge("256 rows of 4096", {Normal({256, 4096})}, TopkAttrs{10}, 0, 4.2e6);
  s.AddError("k", {Normal({3, 5})}, TopkAttrs{6, 1},
             "k 6 is outside [0, 5], the size of dim 1 of x [3, 5]");
  s.AddError("dim", {Normal({3, 5})}, TopkAttrs{1, 2}, "dim 2 is outside [3, 5]");
}

FIRN_REGISTER_COMPOSITE(argsort) {
  s.Declare({{.name = "x"}}, {{.name = "y", .dtypes = SetOf(DType::kI64), .constant = true}});
  s.Function([](In in, const SortAttrs& a) {
    return Argsort(in[0], a.dim, {.descending = a.descending, .stable = a.stable});
  });
  s.WithoutVectors("they are among those of sort");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    return std::vector<RefTensor>{ReferenceSort(in, attrs)[1]};
  });
  s.Add("rows", {Distinct({3, 5})}, SortAttrs{1});
  s.Add("columns, descending", {Distinct({5, 3})}, SortAttrs{0, true});
  s.Add("ties", {Integers({4, 30}, 0, 4)}, SortAttrs{1, false, true});
  s.Add("bool", {Booleans({2, 9})}, SortAttrs{1, false, true});
  s.AddError("dim", {Normal({3, 5})}, SortAttrs{2}, "dim 2 is outside [3, 5]");
}

}  // namespace
}  // namespace firn::testing
