#ifndef FIRN_TENSOR_OPS_RANDOM_VAT_NOISE_H_
#define FIRN_TENSOR_OPS_RANDOM_VAT_NOISE_H_

#include "firn/tensor/tensor.h"

namespace firn {

// noise / |noise| * xi, with the Euclidean norm of each sample: [n, ...], floating; 0 where the
// norm is 0. Half types compute in f32. Both steps of virtual adversarial training (Miyato et al.,
// 2018) use it, the second on the gradient of the divergence of the outputs:
//
//   Tensor d = VatNoise(RandnLike(x), 1e-6).Detach();
//   d.SetRequiresGrad();
//   const Tensor worst = VatNoise(Grad(Divergence(y, model(x + d)), d), epsilon);
//   loss = Divergence(y, model(x + worst));
//
// NNabla's vat_noise is this formula with a gradient of 1, and keeps the gradient that it is given
// for its next call. Throws on fewer than two dimensions and an xi that is not finite.
Tensor VatNoise(const Tensor& noise, inner::Real xi);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RANDOM_VAT_NOISE_H_
