// The pass behind CompositeGradient (tensor/composite_gradient.h): a sweep within a sweep, over the
// calls that a gradient rule has just recorded. Everything that it visits is kept, since gradients
// of gradients go through the same nodes.

#include "firn/tensor/composite_gradient.h"

#include "firn/autograd/tape/sweep.h"

namespace firn::autograd {
namespace {

std::vector<Tensor> RecordedGradients(const Tensor& y, const Tensor& dy,
                                      const std::vector<Tensor>& inputs) {
  std::vector<Tensor> gradients(inputs.size());
  if (!y.requires_grad()) return gradients;
  std::vector<Edge> targets;
  for (const Tensor& x : inputs) targets.push_back(EdgeTo(x));
  const Edge root = EdgeTo(y);
  Sweep sweep({.retain = true, .stop_at_targets = true});
  sweep.RestrictTo({&root, 1}, targets);
  sweep.Seed(root, dy);
  sweep.Run();
  for (size_t i = 0; i < inputs.size(); ++i) gradients[i] = sweep.Result(targets[i]);
  return gradients;
}

const bool installed = [] {
  inner::internal::recorded_gradients = RecordedGradients;
  return true;
}();

}  // namespace
}  // namespace firn::autograd
