// Backward and Grad: arguments checked, then one sweep (tape/sweep.h).

#include "firn/autograd/backward.h"

#include <string>

#include "firn/autograd/tape/sweep.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"

namespace firn {
namespace autograd {
namespace {

Tensor SeedOf(const std::vector<Tensor>& roots, const std::vector<Tensor>& seeds, size_t i) {
  const Tensor& root = roots[i];
  const auto name = [&] { return roots.size() == 1 ? "the root" : "root " + std::to_string(i); };
  if (!root.defined()) {
    RaiseStatus(InvalidArgument(name(), " is an undefined tensor"), "backward");
  }
  if (!root.requires_grad()) {
    RaiseStatus(FailedPrecondition(name(),
                                   " does not require a gradient: nothing it was computed from has "
                                   "requires_grad, or it was computed in a NoGradScope"),
                "backward");
  }
  if (i < seeds.size() && seeds[i].defined()) {
    const Tensor& seed = seeds[i];
    if (seed.shape() != root.shape() || seed.dtype() != root.dtype() ||
        seed.device() != root.device()) {
      RaiseStatus(InvalidArgument("the seed ", seed.spec().ToString(), " does not fit ", name(),
                                  " ", root.spec().ToString()),
                  "backward");
    }
    return seed;
  }
  if (root.num_elements() != 1) {
    RaiseStatus(InvalidArgument(name(), " has ", root.num_elements(),
                                " elements; give a seed gradient, or reduce it to one"),
                "backward");
  }
  return Ones(root.shape(), root.dtype(), root.device());
}

// Seeds all roots; the sweep may be restricted already.
void SeedAll(Sweep& sweep, const std::vector<Tensor>& roots, const std::vector<Tensor>& seeds) {
  if (seeds.size() > roots.size()) {
    RaiseStatus(InvalidArgument("more seeds than roots: ", seeds.size(), " for ", roots.size()),
                "backward");
  }
  for (size_t i = 0; i < roots.size(); ++i) {
    sweep.Seed(EdgeTo(roots[i]), SeedOf(roots, seeds, i));
  }
}

std::vector<Edge> EdgesTo(const std::vector<Tensor>& tensors) {
  std::vector<Edge> edges;
  for (const Tensor& t : tensors) edges.push_back(EdgeTo(t));
  return edges;
}

}  // namespace

void Backward(const std::vector<Tensor>& roots, const BackwardOptions& options) {
  Sweep sweep({.retain = options.retain_graph || options.create_graph, .announce = true});
  GradScope scope(options.create_graph);
  SeedAll(sweep, roots, options.seeds);
  sweep.Run();
  sweep.AddToLeaves();
}

}  // namespace autograd

std::vector<Tensor> Grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) {
      RaiseStatus(InvalidArgument("input ", i, " is an undefined tensor"), "grad");
    }
    if (!inputs[i].requires_grad()) {
      RaiseStatus(FailedPrecondition("input ", i, " does not require a gradient"), "grad");
    }
  }
  const std::vector<autograd::Edge> targets = autograd::EdgesTo(inputs);
  autograd::Sweep sweep({.retain = options.retain_graph || options.create_graph});
  sweep.RestrictTo(autograd::EdgesTo(outputs), targets);
  GradScope scope(options.create_graph);
  autograd::SeedAll(sweep, outputs, options.seeds);
  sweep.Run();
  std::vector<Tensor> results;
  for (size_t i = 0; i < inputs.size(); ++i) {
    results.push_back(sweep.Result(targets[i]));
    if (!results.back().defined() && !options.allow_unused) {
      RaiseStatus(FailedPrecondition("the outputs do not depend on input ", i,
                                     "; pass allow_unused to get an undefined tensor"),
                  "grad");
    }
  }
  return results;
}

Tensor Grad(const Tensor& output, const Tensor& input, const GradOptions& options) {
  return std::move(Grad(std::vector<Tensor>{output}, std::vector<Tensor>{input}, options)[0]);
}

}  // namespace firn
