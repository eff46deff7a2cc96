#ifndef FIRN_OPTIM_LBFGS_H_
#define FIRN_OPTIM_LBFGS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "firn/optim/optimizer.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn::optim {

struct LbfgsOptions {
  double lr = 1;                   // the length of a step, and where the line search begins
  int64_t max_iterations = 20;     // of a Step
  int64_t max_evaluations = 0;     // of a Step; 0: 1.25 max_iterations
  double tolerance_grad = 1e-7;    // a gradient whose largest element is at most this counts as 0
  double tolerance_change = 1e-9;  // of loss and parameters, below which a Step ends
  int64_t history = 100;           // pairs of steps and changes of the gradient
  bool line_search = true;         // for the strong Wolfe conditions; false: steps of length lr
};

// Limited-memory BFGS (Nocedal & Wright, "Numerical Optimization", 2006, chapters 3 and 7), for
// whole batches and few parameters, as torch.optim.LBFGS, which searches lines only when asked to.
// Computes in f64. Loss and gradient are read on the host several times a Step, so it cannot be
// captured.
//
//   optim::Lbfgs lbfgs(net.parameters());
//   const double loss = lbfgs.Step([&] {
//     lbfgs.ZeroGrad();
//     Tensor loss = MseLoss(net(x), y);
//     loss.Backward();
//     return loss;
//   });
class Lbfgs {
 public:
  // Throws kInvalidArgument on options that make no sense, and for parameters that are no floating
  // leaves or not known yet.
  explicit Lbfgs(const ParameterList& parameters, const LbfgsOptions& options = {});

  // Runs some iterations. `evaluate` computes loss and gradients at the present parameters. Returns
  // the loss before. If `evaluate` throws, the parameters stay at the point of that call.
  double Step(const std::function<Tensor()>& evaluate);
  void ZeroGrad();

  // The state from which a later Step goes on: "gradient", "direction", "steps" and "changes" (f64;
  // without elements before the first) and numbers.
  StateDict state_dict() const;
  // Throws, and changes nothing, unless all of it fits the parameters.
  void LoadStateDict(const StateDict& state);

 private:
  // All parameters are one vector in f64, x.
  struct Point {  // of the line x + at direction
    double at = 0, loss = 0, slope = 0;
    Tensor gradient;
  };
  class Line;

  Point Evaluate(const std::function<Tensor()>& evaluate);
  Tensor Position() const;
  void MoveTo(const Tensor& position);
  void NextDirection(const Tensor& gradient);

  LbfgsOptions options_;
  std::vector<Tensor> parameters_;
  int64_t size_ = 0;                     // of all
  std::vector<Tensor> steps_, changes_;  // the oldest first
  Tensor gradient_, direction_;          // of the last iteration; undefined before the first
  double length_ = 0;                    // of its step, in directions
  double scale_ = 1;                     // of the first guess of the inverse Hessian
  int64_t evaluations_ = 0;              // in this Step
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_LBFGS_H_
