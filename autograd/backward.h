#ifndef FIRN_AUTOGRAD_BACKWARD_H_
#define FIRN_AUTOGRAD_BACKWARD_H_

#include <vector>

#include "firn/tensor/dispatch.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct BackwardOptions {
  // dLoss / dRoot for each root; missing or undefined ones are 1, which wants a root of one
  // element.
  std::vector<Tensor> seeds = {};
  // Keeps saved tensors, so that backward can run through the same graph again.
  bool retain_graph = false;
  // Records the gradient computation itself, for derivatives of gradients; implies retain_graph.
  bool create_graph = false;
};

struct GradOptions {
  std::vector<Tensor> seeds = {};
  bool retain_graph = false;
  bool create_graph = false;
  // An input that the outputs do not depend on gets an undefined tensor instead of an error.
  bool allow_unused = false;
};

// Adds dRoots/dLeaf to grad() of every leaf that the roots were computed from. Runs on the calling
// thread, in memory proportional to the widest point of the graph; a second call through the same
// graph needs retain_graph in the first. Throws firn::Error, and then no grad() has changed:
// gradients are added only when the whole pass has succeeded.
namespace autograd {
void Backward(const std::vector<Tensor>& roots, const BackwardOptions& options = {});
}  // namespace autograd
using autograd::Backward;

// The gradients of the (summed) outputs with respect to `inputs`, which may be computed tensors
// too. Adds nothing to any grad(). With create_graph the results can be differentiated again.
std::vector<Tensor> Grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options = {});
Tensor Grad(const Tensor& output, const Tensor& input, const GradOptions& options = {});

}  // namespace firn

#endif  // FIRN_AUTOGRAD_BACKWARD_H_
