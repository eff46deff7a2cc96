#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/scan/unique.h"
#include "firn/tensor/ops/shape/moved_samples.h"
#include "firn/tensor/testing/golden_samples.h"

namespace firn::testing {
namespace {

struct UniqueAttrs {
  int64_t dim = 0;
  bool flat = true, sorted = true;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("flat", flat);
    v.Field("sorted", sorted);
  }
};

std::vector<Tensor> Call(In in, const UniqueAttrs& a) {
  const std::optional<int64_t> dim = a.flat ? std::optional<int64_t>() : a.dim;
  const UniqueResult r = Unique(in[0], {.dim = dim, .sorted = a.sorted});
  return {r.values, r.first_index, r.inverse, r.counts};
}

std::vector<RefTensor> UniqueReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const UniqueAttrs& a = attrs.get<UniqueAttrs>();
  RefTensor x = in[0];
  const bool flat = a.flat || x.shape.rank() == 0;
  if (flat) x.shape = Shape({x.size()});
  const int dim = static_cast<int>(flat ? 0 : a.dim < 0 ? a.dim + x.shape.rank() : a.dim);
  std::vector<std::vector<double>> slices(static_cast<size_t>(x.shape[dim]));
  ForEachIndex(x.shape, [&](absl::Span<const int64_t> at) {
    slices[static_cast<size_t>(at[static_cast<size_t>(dim)])].push_back(x.at(at));
  });
  std::vector<std::vector<double>> found;
  std::vector<int64_t> first, counts, inverse;
  for (size_t i = 0; i < slices.size(); ++i) {
    const auto at = std::find(found.begin(), found.end(), slices[i]) - found.begin();
    if (at == static_cast<std::ptrdiff_t>(found.size())) {
      found.push_back(slices[i]);
      first.push_back(static_cast<int64_t>(i));
      counts.push_back(0);
    }
    ++counts[static_cast<size_t>(at)];
    inverse.push_back(at);
  }
  std::vector<size_t> order(found.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (a.sorted) {
    std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return found[i] < found[j]; });
  }
  const auto n = static_cast<int64_t>(found.size());
  RefTensor firsts(Shape({n})), inverses(flat ? in[0].shape : Shape({x.shape[dim]})),
      numbers(Shape({n}));
  for (size_t i = 0; i < order.size(); ++i) {
    firsts[static_cast<int64_t>(i)] = static_cast<double>(first[order[i]]);
    numbers[static_cast<int64_t>(i)] = static_cast<double>(counts[order[i]]);
    for (size_t j = 0; j < inverse.size(); ++j) {
      if (inverse[j] == static_cast<int64_t>(order[i])) {
        inverses[static_cast<int64_t>(j)] = static_cast<double>(i);
      }
    }
  }
  Dims shape = x.shape.dims();
  shape[dim] = n;
  const RefTensor values = Moved(x, Shape::Trusted(shape), [&](Index y) {
    int64_t& at = y[static_cast<size_t>(dim)];
    at = static_cast<int64_t>(firsts[at]);
    return y;
  });
  return {values, firsts, inverses, numbers};
}

FIRN_REGISTER_COMPOSITE(unique) {
  const auto index = [](const char* name) {
    return ArgDecl{.name = name, .dtypes = SetOf(DType::kI64), .constant = true};
  };
  s.Declare({{.name = "x"}}, {{.name = "values", .same_dtype_as = "x"},
                              index("first_index"),
                              index("inverse"),
                              index("counts")});
  s.captured = false;
  s.Function(Call);
  s.Reference(UniqueReference);
  const Tensor x = Values({3, 1, 2, 1, 3, 3, 0, 2}, {2, 4});
  // Equal elements would part under the suite's differences.
  s.Add("elements", {x}, UniqueAttrs{}).check_gradient = false;
  s.Add("by appearance", {x}, UniqueAttrs{0, true, false}).check_gradient = false;
  s.Add("distinct", {Distinct({2, 3}, 0.5)}, UniqueAttrs{});
  s.Add("columns", {Values({1, 0, 1, 2, 5, 2}, {2, 3})}, UniqueAttrs{1, false}).check_gradient =
      false;
  s.Add("rows, by appearance", {Values({2, 5, 1, 0, 2, 5, 1, 0}, {4, 2})},
        UniqueAttrs{0, false, false})
      .check_gradient = false;
  s.Add("in the middle", {Distinct({2, 8, 2}, 0.5)}, UniqueAttrs{1, false});
  s.Add("integers", {Integers({7}, 0, 4)}, UniqueAttrs{});
  s.Add("bool", {Booleans({3, 4})}, UniqueAttrs{});
  s.Add("a scalar", {Normal({})}, UniqueAttrs{});
  s.Add("nothing", {Normal({0, 3})}, UniqueAttrs{});
  s.AddLarge("1M", {Integers({1024, 1024}, 0, 1000)}, UniqueAttrs{}, 20e6, 42e6);
  s.AddError("dim", {Normal({3})}, UniqueAttrs{1, false}, "dim 1");
}

FIRN_REGISTER_GOLDEN(unique) {
  UniqueOptions options;
  if (args.Has("dim")) options.dim = args.Int("dim", 0);
  const UniqueResult r = Unique(args["x"], options);
  return {{"values", r.values}, {"inverse", r.inverse}, {"counts", r.counts}};
}

}  // namespace
}  // namespace firn::testing
