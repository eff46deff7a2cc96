#ifndef FIRN_TENSOR_OPS_LOSS_SIMILARITY_H_
#define FIRN_TENSOR_OPS_LOSS_SIMILARITY_H_

// Angles and distances between vectors that go together, and the losses made of them.

#include <functional>

#include "firn/tensor/problems/reduction_mode.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The cosine of the angle between x1 and x2 along `dim`, which is dropped: their product over the
// product of their norms, each at least eps (torch.nn.functional.cosine_similarity, whose gradient
// ignores that bound). Floating tensors of one dtype, which broadcast. Throws on shapes that do not
// broadcast and a dim out of range.
Tensor CosineSimilarity(const Tensor& x1, const Tensor& x2, inner::Integer dim = 1,
                        inner::Real eps = 1e-8);

struct PairwiseDistanceOptions {
  double p = 2;
  double eps = 1e-6;  // added to every difference
  bool keepdim = false;
  template <class V>
  void Visit(V& v) {
    v.Field("p", p);
    v.Field("eps", eps);
    v.Field("keepdim", keepdim);
  }
  // Throws, naming `where`, on a p that Norm does not take.
  void Check(const char* where) const;
};

// The p-norm of x1 - x2 + eps along the last dimension, like torch.nn.functional.pairwise_distance:
// [..., d] -> [...], or [..., 1] with keepdim. Floating tensors of one dtype, which broadcast. p is
// as for Norm. Throws on 0-d tensors and shapes that do not broadcast.
Tensor PairwiseDistance(const Tensor& x1, const Tensor& x2,
                        const PairwiseDistanceOptions& options = {});

struct CosineEmbeddingLossOptions {
  double margin = 0;
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("margin", margin);
    v.Field("reduction", reduction);
  }
  void Check(const char* where) const { inner::CheckLossReduction(reduction, where); }
};

// 1 - cos where target is 1, max(0, cos - margin) where it is -1, else 0; cos is the cosine of the
// angle between x1 and x2, [n, d] or [d], floating and of one shape and dtype. target has the shape
// [n] or [] and any numeric dtype. Throws on other shapes.
Tensor CosineEmbeddingLoss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                           const CosineEmbeddingLossOptions& options = {});

struct TripletMarginLossOptions {
  double margin = 1;
  double p = 2;
  double eps = 1e-6;
  bool swap = false;  // the distance to negative is the smaller one of anchor's and positive's
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("margin", margin);
    v.Field("p", p);
    v.Field("eps", eps);
    v.Field("swap", swap);
    v.Field("reduction", reduction);
  }
  void Check(const char* where) const;
};

// max(0, margin + d(anchor, positive) - d(anchor, negative)) with d = PairwiseDistance (Schroff et
// al., 2015; `swap`: Balntas et al., 2016). Three floating tensors [..., d] of one shape and dtype.
// Throws on other shapes and a margin that is not above 0.
Tensor TripletMarginLoss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                         const TripletMarginLossOptions& options = {});

struct TripletDistanceOptions {
  double margin = 1;
  bool swap = false;
  Reduction reduction = Reduction::kMean;
};

// The same with a distance of the caller's, whose results have one shape
// (torch.nn.functional.triplet_margin_with_distance_loss).
Tensor TripletMarginLoss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                         const std::function<Tensor(const Tensor&, const Tensor&)>& distance,
                         const TripletDistanceOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_SIMILARITY_H_
