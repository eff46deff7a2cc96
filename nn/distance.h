#ifndef FIRN_NN_DISTANCE_H_
#define FIRN_NN_DISTANCE_H_

// Similarity and distance of pairs of vectors, called with (x1, x2).

#include "firn/nn/function_layer.h"
#include "firn/tensor/ops/loss/similarity.h"

namespace firn::nn {

struct CosineSimilarityOptions {
  int64_t dim = 1;
  double eps = 1e-8;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("eps", eps);
  }
};
using CosineSimilarity =
    LayerOfFunction<"CosineSimilarity", firn::CosineSimilarity, CosineSimilarityOptions>;

using PairwiseDistance = LayerOfFunction<"PairwiseDistance", firn::PairwiseDistance>;

}  // namespace firn::nn

#endif  // FIRN_NN_DISTANCE_H_
