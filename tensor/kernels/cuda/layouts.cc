#include "tensor/kernels/cuda/layouts.h"

#include "device/environment.h"
#include "tensor/precision.h"

namespace firn::cuda {

void ChannelLayouts(const KernelQuery& q, LayoutRequest& want) {
  const Shape& x = q.in(0).shape;
  const auto alike = [&](const TensorSpec& s) {
    return s.shape.rank() == x.rank() && s.shape[0] == x[0] && s.shape[1] == x[1];
  };
  bool any = false;
  for (int i = 0; i < q.num_inputs(); ++i) {
    any |= q.has(i) && alike(q.in(i)) && q.in(i).layout.blocked();
  }
  if (!any) return;
  for (int i = 0; i < q.num_inputs(); ++i) {
    if (!q.has(i) || !alike(q.in(i))) continue;
    want.in[static_cast<size_t>(i)] = ChannelsLastBlock(q.in(i).shape);
  }
  for (size_t i = 0; i < want.out.size(); ++i) {
    const TensorSpec& out = q.out(static_cast<int>(i));
    if (alike(out)) want.out[i] = ChannelsLastBlock(out.shape);
  }
}

bool ConvWantsNhwc(DType dtype, bool tf32) {
  static const bool allowed = env::CudaNhwc();
  return allowed && (SizeOf(dtype) == 2 || (dtype == DType::kF32 && tf32));
}

void RequestNhwc(const KernelQuery& q, bool weight_gradient, LayoutRequest& want) {
  for (int i = 0; i < 2; ++i) {
    want.in[static_cast<size_t>(i)] = ChannelsLastBlock(q.in(i).shape);
  }
  if (!weight_gradient) want.out[0] = ChannelsLastBlock(q.out().shape);
}

void ConvLayouts(const KernelQuery& q, LayoutRequest& want) {
  if (!ConvWantsNhwc(q.in(0).dtype, ConvMath() == F32Math::kTf32)) return;
  RequestNhwc(q, false, want);
}

void ConvWeightGradLayouts(const KernelQuery& q, LayoutRequest& want) {
  if (!ConvWantsNhwc(q.in(0).dtype, ConvMath() == F32Math::kTf32)) return;
  RequestNhwc(q, true, want);
}

}  // namespace firn::cuda
