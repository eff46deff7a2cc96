#ifndef FIRN_TENSOR_OPS_NORM_NORMALIZE_H_
#define FIRN_TENSOR_OPS_NORM_NORMALIZE_H_

#include <cstdint>
#include <optional>

#include "firn/tensor/dim_list.h"
#include "firn/tensor/tensor.h"

namespace firn {

// x / max(norm, eps), with the p-norm over `dims` (empty: all), like PyTorch's normalize. Where the
// norm is 0, the result is 0. A norm that the dtype does not hold is right, too (PyTorch 2.15: 0
// for {3e38, -3e38}), and so are the gradients. x: floating; half types compute in f32. The norm's
// rules and errors are those of Norm; throws unless eps is 0 or more.
Tensor Normalize(const Tensor& x, inner::Real p = 2, const DimList& dims = 1,
                 inner::Real eps = 1e-12);

// (x - mean) / sqrt(var + eps) with mean and biased variance over `dims` (empty: all): ONNX's
// MeanVarianceNormalization, NNabla's tensor_normalization and weight_standardization (Qiao et al.,
// 2019) with the other dimensions as axes. x: floating; half types compute in f32.
Tensor Standardize(const Tensor& x, const DimList& dims, inner::Real eps = 1e-5);

struct WeightNormOptions {
  std::optional<int64_t> dim = 0;  // each of its indices has a length; without: one for all
  double eps = 0;                  // below the root of the sum of squares: NNabla's is 1e-12
};

// g v / |v|, the Euclidean norm being over all dimensions but `dim`: a weight of direction v and
// length g (Salimans & Kingma, 2016; PyTorch's parametrizations.weight_norm).
// v: floating      g: of v's dtype, [v.size(dim)] or of v's rank with all other sizes 1; one
// element without a `dim`. Throws on other shapes. Without eps a norm of 0 gives NaN. Weights may
// be of any size (PyTorch 2.15 gives 0 for 1e20 and infinity for 1e-30); gradients are right as
// long as the dtype holds the sum of dy v and the digits of g / |v|.
Tensor WeightNorm(const Tensor& v, const Tensor& g, const WeightNormOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_NORM_NORMALIZE_H_
