#ifndef FIRN_TENSOR_OPS_OPTIMIZER_RMSPROP_H_
#define FIRN_TENSOR_OPS_OPTIMIZER_RMSPROP_H_

namespace firn::inner {

// Options of optim::RmsProp: RMSprop (Hinton, 2012; centred: Graves, 2013) as torch.optim.RMSprop:
//   g = grad + weight_decay param
//   square_avg = alpha square_avg + (1 - alpha) g^2     grad_avg = alpha grad_avg + (1 - alpha) g
//   d = g / (sqrt(square_avg - (centered ? grad_avg^2 : 0)) + eps)
//   momentum_buffer = momentum momentum_buffer + d
//   param -= lr (momentum > 0 ? momentum_buffer : d)
struct RmsPropOptions {
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

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_OPTIMIZER_RMSPROP_H_
