#ifndef FIRN_TENSOR_OPS_OPTIMIZER_RMSPROP_H_
#define FIRN_TENSOR_OPS_OPTIMIZER_RMSPROP_H_

namespace firn::inner {

// Options of optim::Rmsprop: RMSprop (Hinton, 2012; centred: Graves, 2013) as torch.optim.RMSprop:
//   g = grad + weight_decay param
//   square_avg = alpha square_avg + (1 - alpha) g^2     grad_avg = alpha grad_avg + (1 - alpha) g
//   d = g / (sqrt(square_avg - (centered ? grad_avg^2 : 0)) + eps)
//   momentum_buffer = momentum momentum_buffer + d
//   param -= lr (momentum > 0 ? momentum_buffer : d)
struct RmspropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centered = false;
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
    v.Field("momentum", momentum);
    v.Field("centered", centered);
  }
};

struct RmspropStepAttrs : RmspropOptions {
  bool eps_inside = false;      // of the root: sqrt(... + eps)
  bool lr_in_velocity = false;  // momentum_buffer = momentum momentum_buffer + lr d
  template <class V>
  void Visit(V& v) {
    RmspropOptions::Visit(v);
    v.Field("eps_inside", eps_inside);
    v.Field("lr_in_velocity", lr_in_velocity);
  }
};

// Options of optim::RmspropGraves: RMSprop as Graves (2013) has it, with NNabla's defaults:
//   square_avg = alpha square_avg + (1 - alpha) grad^2
//   grad_avg = alpha grad_avg + (1 - alpha) grad
//   momentum_buffer = momentum momentum_buffer + lr grad / sqrt(square_avg - grad_avg^2 + eps)
//   param -= momentum_buffer
struct RmspropGravesOptions {
  double lr = 1e-4;
  double alpha = 0.95;
  double momentum = 0.9;
  double eps = 1e-4;
  double weight_decay = 0;  // added to the gradient
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
    v.Field("momentum", momentum);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
  }
};

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_OPTIMIZER_RMSPROP_H_
