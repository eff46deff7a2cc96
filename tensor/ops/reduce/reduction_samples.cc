// Reductions the slow way: the elements of every result are listed, then reduced together.

#include "firn/tensor/ops/reduce/reduction_samples.h"

#include <utility>

namespace firn::testing {

RefTensor ReduceReference(const RefTensor& x, const ReduceAttrs& attrs,
                          const std::function<double(const std::vector<double>&)>& f) {
  const Shape& shape = x.shape;
  std::vector<bool> reduced(static_cast<size_t>(shape.rank()), attrs.dims.empty());
  for (int64_t d : attrs.dims) {  // a scalar takes 0 and -1
    if (shape.rank() > 0) reduced[static_cast<size_t>(d < 0 ? d + shape.rank() : d)] = true;
  }
  Dims kept, squeezed;
  for (int d = 0; d < shape.rank(); ++d) {
    const bool out = reduced[static_cast<size_t>(d)];
    kept.push_back(out ? 1 : shape[d]);
    if (!out) squeezed.push_back(shape[d]);
  }
  RefTensor result(Shape(kept.span()));
  std::vector<std::vector<double>> elements(static_cast<size_t>(result.size()));
  ForEachIndex(shape, [&](absl::Span<const int64_t> at) {
    size_t to = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      const auto size = static_cast<size_t>(kept[static_cast<int>(d)]);
      to = to * size + (reduced[d] ? 0 : static_cast<size_t>(at[d]));
    }
    elements[to].push_back(x.at(at));
  });
  for (size_t i = 0; i < elements.size(); ++i) result.values[i] = f(elements[i]);
  if (!attrs.keepdim) result.shape = Shape(squeezed.span());
  return result;
}

ReferenceFn ReductionReference(double (*f)(const std::vector<double>&)) {
  return [f](absl::Span<const RefTensor> in, AttrsRef attrs) {
    return std::vector<RefTensor>{ReduceReference(in[0], attrs.get<ReduceAttrs>(), f)};
  };
}

void AddReductionSamples(Samples& s, bool positive) {
  const auto make = [&](const Shape& shape) {
    return positive ? Uniform(shape, 0.2, 1.5) : Distinct(shape, 1.0 / 64);
  };
  const auto add = [&](const char* name, const Shape& shape, ReduceAttrs attrs) {
    s.Add(name, {make(shape)}, std::move(attrs)).check_gradient = shape.num_elements() < 1000;
  };
  add("all", {3, 5}, {});
  add("a vector", {17}, {{0}, false});
  add("a scalar", {}, {});
  add("rows", {3, 5}, {{1}, false});
  add("columns", {3, 5}, {{0}, true});
  add("middle", {2, 3, 4}, {{-2}, false});
  add("outer two", {2, 3, 4, 5}, {{0, -3}, true});
  add("per channel", {2, 8, 3, 3}, {{0, 2, 3}, false});
  add("of size 1", {4, 1, 3}, {{1}, false});
  add("no results", {0, 3}, {{1}, false});
  add("long rows", {2, 700}, {{1}, false});
  add("short rows", {40, 3}, {{1}, false});
  add("rows that fill no vector", {150, 17}, {{1}, false});
  add("rows that fill few vectors", {150, 50}, {{1}, false});
  add("many blocks", {40001}, {});
  add("columns in strips", {7, 300}, {{0}, false});
  add("columns in blocks", {600, 20}, {{0}, false});
  add("stacked columns", {2, 90, 18}, {{1}, false});
}

}  // namespace firn::testing
