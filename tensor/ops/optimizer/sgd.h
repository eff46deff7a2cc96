#ifndef FIRN_TENSOR_OPS_OPTIMIZER_SGD_H_
#define FIRN_TENSOR_OPS_OPTIMIZER_SGD_H_

namespace firn {

namespace inner {

// Options of optim::Sgd: stochastic gradient descent as torch.optim.SGD does it,
//   g = grad + weight_decay param
//   v = momentum v + (1 - dampening) g        (g itself in the first step)
//   param -= lr (nesterov ? g + momentum v : v)
// where v is momentum_buffer. Without momentum it is g.
struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  template <class V>
  void Visit(V& v) {
    v.Field("momentum", momentum);
    v.Field("dampening", dampening);
    v.Field("weight_decay", weight_decay);
    v.Field("nesterov", nesterov);
  }
};

struct SgdStepAttrs : SgdOptions {
  bool lr_in_velocity = false;  // v = momentum v + lr g; param -= v (NNabla's Momentum)
  template <class V>
  void Visit(V& v) {
    SgdOptions::Visit(v);
    v.Field("lr_in_velocity", lr_in_velocity);
  }
};

}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_OPTIMIZER_SGD_H_
