#ifndef FIRN_TENSOR_OPS_COMPARE_CLOSE_H_
#define FIRN_TENSOR_OPS_COMPARE_CLOSE_H_

#include "firn/tensor/tensor.h"

namespace firn {

struct IscloseOptions {
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;  // NaN is close to NaN
};

// True where |x - y| <= atol + rtol |y|, broadcast, and where x equals y, even if both are infinite
// (torch.isclose). Dtypes promote as PyTorch's; half types are compared in f32, integers in f64.
// Throws on a tolerance that is negative or NaN.
Tensor Isclose(const Tensor& x, const Tensor& y, const IscloseOptions& options = {});

// Whether Isclose holds everywhere. Reads the answer on the host: it waits for a CUDA device, and
// is an error during capture.
bool Allclose(const Tensor& x, const Tensor& y, const IscloseOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_COMPARE_CLOSE_H_
