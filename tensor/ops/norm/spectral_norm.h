#ifndef FIRN_TENSOR_OPS_NORM_SPECTRAL_NORM_H_
#define FIRN_TENSOR_OPS_NORM_SPECTRAL_NORM_H_

#include <cstdint>

#include "firn/tensor/tensor.h"

namespace firn {

struct SpectralNormOptions {
  int64_t dim = 0;         // the rows of the matrix
  int64_t iterations = 1;  // of the power method, at each call in training
  double eps = 1e-12;      // the least length that the vectors are divided by
  bool training = true;
};

// w divided by an estimate of its largest singular value, as a matrix of w.size(dim) rows (Miyato
// et al., 2018; PyTorch's parametrizations.spectral_norm): sigma = u^T W v. In training, u and v
// are first moved, in place, by the power method; the gradient takes them for constants. w:
// floating, rank 2 or more      u: [w.size(dim)]      v: [w.num_elements() / w.size(dim)], both of
// w's dtype. Throws on others.
Tensor SpectralNorm(const Tensor& w, const Tensor& u, const Tensor& v,
                    const SpectralNormOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_NORM_SPECTRAL_NORM_H_
