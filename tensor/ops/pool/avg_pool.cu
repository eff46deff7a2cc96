#include "tensor/kernels/cuda/layouts.h"
#include "tensor/kernels/cuda/portable.cuh"
#include "tensor/ops/pool/avg_pool_body.h"

namespace firn::avg_pool_cuda {
namespace {

// The gradient of a single pixel says nothing of the image's order; what comes next is usually a
// convolution's gradient.
void GradLayouts(const KernelQuery& q, LayoutRequest& want) {
  const TensorSpec& grad = q.in(0);
  const bool either = ChannelsLastBlock(grad.shape) == 0;
  if (!grad.layout.blocked() && !(either && cuda::ConvWantsNhwc(grad.dtype))) return;
  want.in[0] = ChannelsLastBlock(grad.shape);
  want.out[0] = ChannelsLastBlock(q.out().shape);
}

std::vector<Kernel> Forward() {
  return cuda::Portable<AvgPoolKernel>({.name = "loop", .layouts = cuda::ChannelLayouts});
}
std::vector<Kernel> Gradient() {
  return cuda::Portable<AvgPoolGradKernel>({.name = "loop", .layouts = GradLayouts});
}

}  // namespace

FIRN_REGISTER_KERNELS(avg_pool1d) { return Forward(); }
FIRN_REGISTER_KERNELS(avg_pool2d) { return Forward(); }
FIRN_REGISTER_KERNELS(avg_pool3d) { return Forward(); }
FIRN_REGISTER_KERNELS(avg_pool1d_grad) { return Gradient(); }
FIRN_REGISTER_KERNELS(avg_pool2d_grad) { return Gradient(); }
FIRN_REGISTER_KERNELS(avg_pool3d_grad) { return Gradient(); }

}  // namespace firn::avg_pool_cuda
