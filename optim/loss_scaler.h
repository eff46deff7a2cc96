#ifndef FIRN_OPTIM_LOSS_SCALER_H_
#define FIRN_OPTIM_LOSS_SCALER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "firn/optim/optimizer.h"
#include "firn/tensor/global_number.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn::optim {

struct LossScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2;        // of the scale, after growth_interval good steps in a row
  double backoff_factor = 0.5;     // of the scale, after a step that was left out
  int64_t growth_interval = 2000;  // steps
  // The least scale, however many steps are left out: by a scale of 0 nothing could be divided any
  // more. An init_scale below it stays as it is. 2^-14, f16's smallest normal number; PyTorch has
  // no least scale.
  double min_scale = 0x1p-14;
  // For ranks with different gradients: if one rank finds an infinity or NaN, all leave their step
  // out. All make the same calls of Unscale, or of Step if there is no Unscale. Not in a state
  // dict.
  GlobalNumber global = {};
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
// The scale and the finding are tensors on the device of the loss, where all decisions are made: a
// step reads nothing on the host, and a captured step follows them. Thread-compatible.
class LossScaler {
 public:
  // Throws kInvalidArgument unless init_scale > 0 is finite as f32, growth_factor > 1,
  // 0 < backoff_factor < 1, growth_interval >= 1 and min_scale, as f32, is a normal number.
  explicit LossScaler(const LossScalerOptions& options = {});

  // Waits for the device.
  double scale() const;
  // Whether a step since the last Update was left out or, if there was no step since, one before
  // it. Waits for the device.
  bool skipped() const;

  // loss * scale: f32, or f64 for a loss in f64.
  Tensor Scale(const Tensor& loss);

  // Divides the gradients of the optimizer's parameters by the scale, once before its Step, for
  // code that uses them in between, such as clipping. Without this call Step does it. Throws
  // kFailedPrecondition when they were divided since the last Update.
  void Unscale(Optimizer& optimizer);

  // optimizer.Step(), which changes nothing if a gradient was infinite or NaN.
  void Step(Optimizer& optimizer);

  // Sets the scale for the next step. Once a step, after all optimizers' steps. Throws
  // kFailedPrecondition when no gradients were divided since the last Update.
  void Update();

  // "scale", "growth_factor", "backoff_factor", "growth_interval" and "_growth_tracker" (good steps
  // in a row), as torch.amp.GradScaler's; 0-d. Shares the elements of the scale and the tracker.
  StateDict state_dict() const;
  // Continues where the saved scaler was. A step that was captured before keeps its factors and
  // interval. Throws kInvalidArgument, and changes nothing, unless all entries and no others are
  // there, hold one number each and make sense.
  void LoadStateDict(const StateDict& state);

 private:
  // Brings the scale to the device of the first loss.
  void MoveTo(Device device);
  // An element of found_; null when there is none.
  const Tensor* FoundOf(const Optimizer& optimizer) const;

  LossScalerOptions options_;
  Tensor scale_;       // f32
  Tensor good_steps_;  // i64
  Tensor skipped_;     // bool
  // For each optimizer, whether dividing its gradients since the last Update found an infinity or
  // NaN; bool, on the scale's device.
  std::vector<std::pair<const Optimizer*, Tensor>> found_;
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_LOSS_SCALER_H_
