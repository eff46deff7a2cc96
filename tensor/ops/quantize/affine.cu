#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/quantize/affine_body.h"

namespace firn {

FIRN_REGISTER_KERNELS(quantize_linear) { return cuda::Portable<QuantizeKernel>(); }
FIRN_REGISTER_KERNELS(dequantize_linear) { return cuda::Portable<DequantizeKernel>(); }
FIRN_REGISTER_KERNELS(fake_quantize) { return cuda::Portable<FakeQuantizeKernel>(); }
FIRN_REGISTER_KERNELS(fake_quantize_grad) { return cuda::Portable<FakeQuantizeGradKernel>(); }

}  // namespace firn
