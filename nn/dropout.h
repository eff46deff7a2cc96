#ifndef FIRN_NN_DROPOUT_H_
#define FIRN_NN_DROPOUT_H_

#include "firn/nn/function_layer.h"
#include "firn/tensor/ops/random/dropout.h"

namespace firn::nn {

struct DropoutOptions {
  double p = 0.5;
  template <class V>
  void Visit(V& v) {
    v.Always("p", p);
  }
};

// In training, sets elements to 0 with probability p and scales the others by 1 / (1 - p); in eval
// mode x itself.
struct DropoutFunction {
  static constexpr const char* kName = "Dropout";
  using Options = DropoutOptions;
  static Tensor Call(const Tensor& x, const Options& o, bool training) {
    return firn::Dropout(x, o.p, training);
  }
};
using Dropout = FunctionLayer<DropoutFunction>;

}  // namespace firn::nn

#endif  // FIRN_NN_DROPOUT_H_
