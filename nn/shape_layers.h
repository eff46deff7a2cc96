#ifndef FIRN_NN_SHAPE_LAYERS_H_
#define FIRN_NN_SHAPE_LAYERS_H_

// Layers that move no values.

#include <vector>

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

// Splits dimension `dim` into `sizes`, one of which may be -1: [n, c h w] -> [n, c, h, w].
struct UnflattenOptions {
  int64_t dim = 1;
  std::vector<int64_t> sizes = {-1};
  template <class V>
  void Visit(V& v) {
    v.Always("dim", dim);
    v.Always("sizes", sizes);
  }
  // Throws when the sizes cannot be a tensor's, or several are -1.
  void Check(const char* where) const;
};
using Unflatten = LayerOfFunction<"Unflatten", firn::Unflatten, UnflattenOptions>;

// x itself.
struct IdentityFunction {
  static constexpr const char* kName = "Identity";
  static Tensor Call(const Tensor& x) { return x; }
};
using Identity = FunctionLayer<IdentityFunction>;

}  // namespace firn::nn

#endif  // FIRN_NN_SHAPE_LAYERS_H_
