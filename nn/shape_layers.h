#ifndef FIRN_NN_SHAPE_LAYERS_H_
#define FIRN_NN_SHAPE_LAYERS_H_

// Layers that move no values.

#include "firn/nn/function_layer.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::nn {

// Joins all dimensions but the first by default: [n, c, h, w] -> [n, c h w].
struct FlattenOptions {
  int64_t start_dim = 1;
  int64_t end_dim = -1;
  template <class V>
  void Visit(V& v) {
    v.Field("start_dim", start_dim);
    v.Field("end_dim", end_dim);
  }
};
using Flatten = LayerOfFunction<"Flatten", firn::Flatten, FlattenOptions>;

// x itself.
struct IdentityFunction {
  static constexpr const char* kName = "Identity";
  static Tensor Call(const Tensor& x) { return x; }
};
using Identity = FunctionLayer<IdentityFunction>;

}  // namespace firn::nn

#endif  // FIRN_NN_SHAPE_LAYERS_H_
