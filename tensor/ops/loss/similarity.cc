// cosine_similarity: the product of vectors that were made of length 1 first, so that the products
// of large or small elements stay in range. Half types are computed in f32.
//
// pairwise_distance: a norm of differences, for half types in f32, too. eps is added before the
// norm, so that the distance of equal vectors has a gradient.
//
// cosine_embedding_loss, triplet_margin_loss: made of these. Their hinges are Relu, whose gradient
// at the kink is 0, like PyTorch's.

#include "firn/tensor/ops/loss/similarity.h"

#include <algorithm>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/loss/loss_rules.h"
#include "firn/tensor/ops/norm/normalize.h"
#include "firn/tensor/ops/reduce/norm.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"

namespace firn {
namespace {

// Throws unless the shapes broadcast to one that has dimensions.
Shape CommonShape(const Tensor& x1, const Tensor& x2, std::string_view op) {
  CheckOneFloat({{"x1", x1}, {"x2", x2}}, op);
  const absl::StatusOr<Shape> shape = BroadcastShapes(x1.shape(), x2.shape());
  RaiseIfError(shape.status(), op);
  if (shape->rank() == 0) RaiseStatus(InvalidArgument("x1 and x2 are 0-d: no vectors"), op);
  return *shape;
}

void CheckNorm(double p, const char* where) {
  if (!(p >= 0)) RaiseStatus(InvalidArgument("p must be at least 0, or infinite; got ", p), where);
}
void CheckMargin(double margin, const char* where) {
  if (!(margin > 0)) RaiseStatus(InvalidArgument("margin must be above 0, got ", margin), where);
}

// From the three distances; the third is undefined without swap.
Tensor TripletLoss(const Tensor& near, const Tensor& far, const Tensor& across, double margin,
                   Reduction reduction) {
  const Tensor other = across.defined() ? Minimum(far, across) : far;
  const Tensor losses = Relu(Add(Sub(near, other), margin));
  return ReduceLoss(losses, {}, reduction, "triplet_margin_loss");
}

}  // namespace

Tensor CosineSimilarity(const Tensor& x1, const Tensor& x2, Integer dim, Real eps) {
  constexpr const char* kName = "cosine_similarity";
  const Shape shape = CommonShape(x1, x2, kName);
  const absl::StatusOr<int> along = NormalizeDim(dim, shape);
  RaiseIfError(along.status(), kName);
  const DType wide = ComputeDType(x1.dtype());
  const auto unit = [&](const Tensor& x) {
    return Normalize(Cast(Expand(x, shape), wide), 2, *along, std::max(0.0, double{eps}));
  };
  return Cast(Sum(Mul(unit(x1), unit(x2)), *along), x1.dtype());
}

void PairwiseDistanceOptions::Check(const char* where) const { CheckNorm(p, where); }

Tensor PairwiseDistance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceOptions& o) {
  CommonShape(x1, x2, "pairwise_distance");
  const DType wide = ComputeDType(x1.dtype());
  const Tensor difference = Add(Sub(Cast(x1, wide), Cast(x2, wide)), o.eps);
  return Cast(Norm(difference, o.p, -1, o.keepdim), x1.dtype());
}

Tensor CosineEmbeddingLoss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                           const CosineEmbeddingLossOptions& o) {
  constexpr const char* kName = "cosine_embedding_loss";
  CheckAlike({{"x1", x1}, {"x2", x2}}, kName);
  CheckDefined(target, kName, "target");
  if (x1.rank() != 1 && x1.rank() != 2) {
    RaiseStatus(InvalidArgument("x1 must be [n, d] or [d], got ", x1.shape().ToString()), kName);
  }
  const Shape want = LabelShape(x1.shape());
  if (target.shape() != want) {
    RaiseStatus(InvalidArgument("target ", target.shape().ToString(), " does not fit x1 ",
                                x1.shape().ToString(), " (want ", want.ToString(), ")"),
                kName);
  }
  const Tensor cos = CosineSimilarity(x1, x2, -1);
  const Tensor apart = Where(Eq(target, -1), Relu(Sub(cos, o.margin)), 0.0);
  const Tensor losses = Where(Eq(target, 1), Sub(1, cos), apart);
  return ReduceLoss(losses, {}, o.reduction, kName);
}

void TripletMarginLossOptions::Check(const char* where) const {
  CheckMargin(margin, where);
  CheckNorm(p, where);
  CheckLossReduction(reduction, where);
}

Tensor TripletMarginLoss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                         const TripletMarginLossOptions& o) {
  CheckAlike({{"anchor", anchor}, {"positive", positive}, {"negative", negative}},
             "triplet_margin_loss");
  return TripletMarginLoss(anchor, positive, negative,
                           [&](const Tensor& a, const Tensor& b) {
                             return PairwiseDistance(a, b, {.p = o.p, .eps = o.eps});
                           },
                           {.margin = o.margin, .swap = o.swap, .reduction = o.reduction});
}

Tensor TripletMarginLoss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                         const std::function<Tensor(const Tensor&, const Tensor&)>& distance,
                         const TripletDistanceOptions& o) {
  constexpr const char* kName = "triplet_margin_loss";
  CheckMargin(o.margin, kName);
  if (!distance) RaiseStatus(InvalidArgument("distance is an empty function"), kName);
  const Tensor near = distance(anchor, positive), far = distance(anchor, negative);
  const Tensor across = o.swap ? distance(positive, negative) : Tensor();
  CheckAlike({{"d(anchor, positive)", near}, {"d(anchor, negative)", far}}, kName);
  if (o.swap) {
    CheckAlike({{"d(anchor, positive)", near}, {"d(positive, negative)", across}}, kName);
  }
  return TripletLoss(near, far, across, o.margin, o.reduction);
}

}  // namespace firn
