#ifndef FIRN_OPTIM_LOSS_SCALER_H_
#define FIRN_OPTIM_LOSS_SCALER_H_

#include <cstdint>
#include <set>

#include "optim/optimizer.h"
#include "tensor/tensor.h"

namespace firn::optim {

struct LossScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2;        // of the scale, after growth_interval good steps in a row
  double backoff_factor = 0.5;     // of the scale, after a step that was left out
  int64_t growth_interval = 2000;  // steps
};

// Dynamic loss scaling, for training in f16 (Micikevicius et al., "Mixed precision training", 2018;
// the rules and defaults are those of torch.amp.GradScaler): the loss is multiplied by a scale, so
// that small gradients do not vanish, and the gradients are divided by it before the optimizer's
// step. A step with an infinity or NaN among its gradients is left out, and the scale made smaller.
//
//   optim::LossScaler scaler;
//   scaler.Scale(loss).Backward();
//   scaler.Step(optimizer);   // in place of optimizer.Step()
//   scaler.Update();
//
// Each Step reads one number from the device of the parameters. Not for captured steps: what it
// decides depends on values. Thread-compatible.
class LossScaler {
 public:
  // Throws kInvalidArgument unless init_scale > 0, growth_factor > 1, 0 < backoff_factor < 1 and
  // growth_interval >= 1.
  explicit LossScaler(const LossScalerOptions& options = {});

  double scale() const { return scale_; }
  // Of the steps since the last Update, whether one was left out.
  bool skipped() const { return skipped_; }

  // loss * scale().
  Tensor Scale(const Tensor& loss) const;

  // Divides the gradients of the optimizer's parameters by the scale, once before its Step: for
  // what looks at them in between, such as clipping. Step does it otherwise. Throws
  // kFailedPrecondition when they were divided since the last Update.
  void Unscale(Optimizer& optimizer);

  // optimizer.Step() unless a gradient is infinite or NaN. Returns whether the step was made.
  bool Step(Optimizer& optimizer);

  // Sets the scale for the next step. Once a step, after all optimizers' steps.
  void Update();

 private:
  const LossScalerOptions options_;
  double scale_;
  int64_t good_steps_ = 0;
  bool skipped_ = false;
  std::set<const Optimizer*> unscaled_;  // since the last Update
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_LOSS_SCALER_H_
