// Shape rules of the softmax family: results are like the input.

#include "firn/tensor/ops/activation/softmax_rules.h"

#include "firn/tensor/problems/dim_attrs.h"
#include "firn/tensor/promotion.h"

namespace firn {

absl::Status InferSoftmax(InferContext& c) {
  FIRN_RETURN_IF_ERROR(NormalizeDim(c.attrs<DimAttrs>().dim, c.shape(0)).status());
  return InferLikeInput(c);
}

absl::Status InferSoftmaxGrad(InferContext& c) {
  FIRN_RETURN_IF(c.shape(0) != c.shape(1), InvalidArgument("dy ", c.shape(0).ToString(), " and y ",
                                                           c.shape(1).ToString(), " differ"));
  return InferSoftmax(c);
}

}  // namespace firn
