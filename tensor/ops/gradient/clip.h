#ifndef FIRN_TENSOR_OPS_GRADIENT_CLIP_H_
#define FIRN_TENSOR_OPS_GRADIENT_CLIP_H_

#include <cstdint>

#include "firn/tensor/dim_list.h"
#include "firn/tensor/tensor.h"

namespace firn {

// x itself, whose gradient on the way back is cut off at `min` and `max` (numbers, or tensors that
// broadcast to x), like NNabla's clip_grad_by_value. x: floating.
Tensor ClipGradByValue(const Tensor& x, const Tensor& min, const Tensor& max);

namespace inner {
struct ClipGradByNormAttrs {
  double norm = 1;      // of the gradient, at most
  DimList dims = {};    // over which it is taken; empty: all
  bool always = false;  // smaller gradients get this norm, too, except for 0, as in NNabla
  template <class V>
  void Visit(V& v) {
    v.Field("norm", norm);
    v.Field("dims", dims);
    v.Field("always", always);
  }
};
struct TopKGradAttrs {
  int64_t k = 1;
  bool abs = false;      // the largest in absolute value
  int64_t base_dim = 1;  // the dimensions before it are those of samples
  template <class V>
  void Visit(V& v) {
    v.Field("k", k);
    v.Field("abs", abs);
    v.Field("base_dim", base_dim);
  }
};
}  // namespace inner
using ClipGradByNormOptions = inner::ClipGradByNormAttrs;

// x itself, whose gradient on the way back is scaled down to a Euclidean norm of options.norm where
// its own is larger (NNabla's clip_grad_by_norm). x: floating; half types compute in f32. Throws on
// a negative norm, one that is infinite and `always`, and dimensions that x lacks.
Tensor ClipGradByNorm(const Tensor& x, const ClipGradByNormOptions& options = {});

struct TopKGradOptions {
  bool abs = false;      // the largest in absolute value
  int64_t base_dim = 1;  // the dimensions before it are those of samples
};

// x itself, whose gradient keeps only the k largest elements of each sample; the others become 0
// (NNabla's top_k_grad). x: floating. Throws unless each sample has k elements or more.
Tensor TopKGrad(const Tensor& x, inner::Integer k, const TopKGradOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_GRADIENT_CLIP_H_
