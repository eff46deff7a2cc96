#ifndef FIRN_NN_SHAPE_LAYERS_H_
#define FIRN_NN_SHAPE_LAYERS_H_

// Layers that move no values.

#include "firn/nn/function_layer.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::nn {

// Joins all dimensions but the first by default: [n, c, h, w] -> [n, c h w].
struct FlattenFunction {
  static constexpr const char* kName = "Flatten";
  struct Options {
    int64_t start_dim = 1;
    int64_t end_dim = -1;
  };
  static Tensor Call(const Tensor& x, const Options& o) {
    return firn::Flatten(x, o.start_dim, o.end_dim);
  }
  static void Describe(const Options& o, Describer& d) {
    d.Field("start_dim", o.start_dim, 1).Field("end_dim", o.end_dim, -1);
  }
};
using Flatten = FunctionLayer<FlattenFunction>;

// x itself.
struct IdentityFunction {
  static constexpr const char* kName = "Identity";
  static Tensor Call(const Tensor& x) { return x; }
};
using Identity = FunctionLayer<IdentityFunction>;

}  // namespace firn::nn

#endif  // FIRN_NN_SHAPE_LAYERS_H_
