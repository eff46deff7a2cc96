#ifndef FIRN_TENSOR_OPS_LOSS_LOSS_SAMPLES_H_
#define FIRN_TENSOR_OPS_LOSS_LOSS_SAMPLES_H_

// Parts shared by the samples of losses. Test code only.

#include <functional>

#include "firn/tensor/problems/reduction_mode.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {

// The losses f(x, target) of all elements, reduced. A: the attributes, with `reduction`.
template <class A>
ReferenceFn LossReference(std::function<double(double x, double target, const A& a)> f) {
  return [f](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const A& a = attrs.get<A>();
    RefTensor losses(in[0].shape), total{Shape()};
    for (int64_t i = 0; i < losses.size(); ++i) losses[i] = f(in[0][i], in[1][i], a);
    if (a.reduction == Reduction::kNone) return std::vector<RefTensor>{losses};
    for (double v : losses.values) total[0] += v;
    if (a.reduction == Reduction::kMean) total[0] /= static_cast<double>(losses.size());
    if (a.reduction == Reduction::kBatchMean) {
      total[0] /= static_cast<double>(losses.shape.rank() == 0 ? 1 : losses.shape[0]);
    }
    return std::vector<RefTensor>{total};
  };
}

// Samples of every reduction, of `attrs` with its `reduction` replaced. make(shape, which) makes x
// (0) and the target (1).
template <class A>
void AddLossSamples(Samples& s, A attrs, const std::function<Tensor(const Shape&, int)>& make) {
  const auto add = [&](const char* name, const Shape& shape, Reduction reduction) {
    attrs.reduction = reduction;
    s.Add(name, {make(shape, 0), make(shape, 1)}, attrs).check_gradient =
        shape.num_elements() < 1000;
  };
  add("mean", {3, 4}, Reduction::kMean);
  add("sum", {2, 3, 2}, Reduction::kSum);
  add("none", {3, 5}, Reduction::kNone);
  add("a scalar", {}, Reduction::kMean);
  add("nothing", {0, 3}, Reduction::kSum);
  add("blocks", {3, 6000}, Reduction::kMean);
  attrs.reduction = Reduction::kMean;
  s.AddLarge("4M", {make({2048, 2048}, 0), make({2048, 2048}, 1)}, attrs, 3 * 4.2e6, 33.6e6);
  s.AddError("shapes", {make({3, 4}, 0), make({3, 1}, 1)}, attrs,
             "shapes [3, 4] and [3, 1] differ");
  s.AddError("dtypes", {make({3}, 0), Integers({3}, 0, 2)}, attrs, ": convert one with To(...)");
  attrs.reduction = static_cast<Reduction>(9);
  s.AddError("reduction", {make({3}, 0), make({3}, 1)}, attrs,
             "reduction must be none, mean or sum, got 9");
}

}  // namespace firn::testing

#endif  // FIRN_TENSOR_OPS_LOSS_LOSS_SAMPLES_H_
