#include "firn/tensor/kernels/cuda/layouts.h"
#include "firn/tensor/kernels/cuda/pool_tiles.cuh"
#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/pool/avg_pool_body.h"

namespace firn::avg_pool_cuda {
namespace {

// The gradient of a single pixel does not tell the image's order; the next operation is usually a
// convolution's gradient.
void GradLayouts(const KernelQuery& q, LayoutRequest& want) {
  const TensorSpec& grad = q.in(0);
  const bool either = ChannelsLastBlock(grad.shape) == 0;
  if (!grad.layout.blocked() && !(either && cuda::ConvWantsNhwc(grad.dtype))) return;
  want.in[0] = ChannelsLastBlock(grad.shape);
  want.out[0] = ChannelsLastBlock(q.out().shape);
}

template <class T>
struct ShareFlow {
  using Acc = AccumulatorOf<T>;
  const T* grad;
  Acc divisor;

  FIRN_HOST_DEVICE T operator()(int64_t window, int64_t) const {
    return static_cast<T>(static_cast<Acc>(grad[window]) / divisor + Acc(0));  // no negative 0
  }
};

absl::Status RunGradient(KernelContext& k) {
  const TensorSpec &image = k.out_spec(), &pooled = k.in_spec(0);
  const AvgPoolWindows s(image, pooled, k.attrs<PoolAttrs>());
  const int64_t lanes = PoolLanesOf(image, pooled), n = image.num_elements();
  return VisitFloat(image.dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
    if (!cuda::ArePoolTiles<T>(s, lanes)) return AvgPoolGradKernel::Run(cuda::Runner(k), k);
    const int64_t whole = s.d.kernel * s.h.kernel * s.w.kernel;
    const int64_t divisor = s.divisor_override != 0 ? s.divisor_override : whole;
    const ShareFlow<T> flow = {k.in<T>(0), static_cast<AccumulatorOf<T>>(divisor)};
    using Body = cuda::PoolTilesBody<T, ShareFlow<T>>;
    return cuda::ForEach(k, n / Body::kN, Body{s, flow, k.out<T>(), n});
  });
}

std::vector<Kernel> Forward() {
  return cuda::Portable<AvgPoolKernel>({.name = "loop", .layouts = cuda::ChannelLayouts});
}
std::vector<Kernel> Gradient() {
  return {
      {.name = "loop", .device = DeviceType::kCuda, .layouts = GradLayouts, .run = RunGradient}};
}

}  // namespace

FIRN_REGISTER_KERNELS(avg_pool1d) { return Forward(); }
FIRN_REGISTER_KERNELS(avg_pool2d) { return Forward(); }
FIRN_REGISTER_KERNELS(avg_pool3d) { return Forward(); }
FIRN_REGISTER_KERNELS(avg_pool1d_grad) { return Gradient(); }
FIRN_REGISTER_KERNELS(avg_pool2d_grad) { return Gradient(); }
FIRN_REGISTER_KERNELS(avg_pool3d_grad) { return Gradient(); }

}  // namespace firn::avg_pool_cuda
