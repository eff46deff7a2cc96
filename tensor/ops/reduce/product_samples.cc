#include <functional>
#include <numeric>

#include "firn/tensor/ops/reduce/product.h"
#include "firn/tensor/ops/reduce/reduction_samples.h"

namespace firn::testing {
namespace {

double Product(const std::vector<double>& elements) {
  return std::accumulate(elements.begin(), elements.end(), 1.0, std::multiplies<>());
}

// The product with element i left out, again and again.
std::vector<RefTensor> GradReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const ReduceAttrs& a = attrs.get<ReduceAttrs>();
  const RefTensor& x = in[1];
  RefTensor dx(x.shape), mark(x.shape);
  for (int64_t i = 0; i < x.size(); ++i) {
    RefTensor without = x;
    without[i] = 1;
    const RefTensor products = ReduceReference(without, a, Product);
    std::fill(mark.values.begin(), mark.values.end(), 0);
    mark[i] = 1;
    const RefTensor hit = ReduceReference(mark, a, [](const std::vector<double>& v) {
      return std::accumulate(v.begin(), v.end(), 0.0);
    });
    for (int64_t j = 0; j < hit.size(); ++j) dx[i] += hit[j] * products[j] * in[0][j];
  }
  return {dx};
}

FIRN_REGISTER_SAMPLES(prod) {
  s.Function([](In in, const ReduceAttrs& a) { return Prod(in[0], a.dims, a.keepdim); });
  s.Reference(ReductionReference(Product));
  const auto add = [&](const char* name, Tensor x, ReduceAttrs a) { s.Add(name, {x}, a); };
  add("all", Uniform({3, 5}, 0.5, 1.5), {});
  add("rows", Uniform({3, 5}, -1.5, -0.5), {{1}, true});
  add("columns", Uniform({4, 20}, 0.5, 1.5), {{0}});
  add("outer two", Uniform({2, 3, 2}, 0.5, 1.5), {{0, 2}});
  add("a scalar", Uniform({}, 0.5, 1.5), {});
  add("one zero", Values({1.5, 0, 2, 0.5, 1, 3}, {2, 3}), {{1}});
  add("two zeros", Values({1.5, 0, 0, 0.5, 1, 3}, {2, 3}), {{1}});
  add("of nothing", Normal({0, 3}), {{0}});
  add("integers", Integers({4, 3}, -3, 4), {{1}});
  add("bool", Booleans({4, 3}), {{0}});
  s.Add("many", {Uniform({300}, 0.99, 1.01)}, ReduceAttrs{}).check_gradient = false;
  s.AddLarge("rows of 2048", {Uniform({2048, 2048}, 0.99, 1.01)}, ReduceAttrs{{1}}, 4.2e6, 16.8e6);
  s.AddError("dim", {Normal({3, 5})}, ReduceAttrs{{2}}, "dim 2 is outside [3, 5]");
}

FIRN_REGISTER_SAMPLES(prod_grad) {
  s.Internal("the gradient of prod");
  s.Reference(GradReference);
  s.Add("all", {Values({1.5}, {}), Uniform({2, 3}, 0.5, 1.5)}, ReduceAttrs{});
  s.Add("rows", {Normal({2, 1}), Uniform({2, 4}, 0.5, 1.5)}, ReduceAttrs{{1}, true});
  s.Add("outer two", {Normal({3}), Uniform({2, 3, 2}, 0.5, 1.5)}, ReduceAttrs{{0, -1}});
  s.Add("zeros", {Normal({3}), Values({1.5, 0, 2, 0.5, 1, 3, 0, 2, 0}, {3, 3})}, ReduceAttrs{{1}});
  s.AddLarge("rows of 2048", {Normal({2048}), Uniform({2048, 2048}, 0.99, 1.01)}, ReduceAttrs{{1}},
             4.2e6, 33.6e6);
  s.AddError("dy", {Normal({2}), Normal({2, 3})}, ReduceAttrs{}, "dy must have shape [], got [2]");
}

}  // namespace
}  // namespace firn::testing
