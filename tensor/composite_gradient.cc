// The composite is run on views of the inputs, so that a tensor that is two inputs at once has two
// gradients, and the pass ends at them: the operations that computed the inputs belong to the outer
// pass.

#include "firn/tensor/composite_gradient.h"

#include <utility>

#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::inner {

void CompositeGradient(GradContext& g, CompositeFn composite) {
  const GradScope record;
  std::vector<Tensor> inputs, wanted;
  std::vector<int> places;
  for (int i = 0; i < g.num_inputs(); ++i) {
    inputs.push_back(g.input(i));
    if (!g.needs(i)) continue;
    Tensor& x = inputs.back();
    if (!x.requires_grad()) x = x.Detach().SetRequiresGrad();  // it did when it was recorded
    x = View(x, x.shape());
    wanted.push_back(x);
    places.push_back(i);
  }
  if (wanted.empty()) return;
  std::vector<Tensor> gradients =
      internal::recorded_gradients(composite(inputs), g.grad_output(), wanted);
  for (size_t k = 0; k < wanted.size(); ++k) {
    if (!gradients[k].defined()) gradients[k] = ZerosLike(wanted[k]);
    g.set_grad_input(places[k], std::move(gradients[k]));
  }
}

}  // namespace firn::inner
