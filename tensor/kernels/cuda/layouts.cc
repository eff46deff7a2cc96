#include "firn/tensor/kernels/cuda/layouts.h"

#include "firn/device/environment.h"
#include "firn/tensor/kernels/keep_blocks.h"
#include "firn/tensor/precision.h"

namespace firn::cuda {

void ChannelLayouts(const KernelQuery& q, LayoutRequest& want) {
  KeepBlocks(q, ChannelsLastBlock, want);
}

void StridedLayouts(const KernelQuery& q, LayoutRequest& want) {
  if (q.in(0).layout.blocked()) want.in[0] = ChannelsLastBlock(q.in(0).shape);
}

bool ConvWantsNhwc(DType dtype, bool tf32) {
  static const bool allowed = env::CudaNhwc();
  return allowed && (SizeOf(dtype) == 2 || (dtype == DType::kF32 && tf32));
}

bool ConvWantsNhwc(DType dtype) { return ConvWantsNhwc(dtype, ConvMath() == F32Math::kTf32); }

void RequestNhwc(const KernelQuery& q, bool weight_gradient, LayoutRequest& want) {
  for (int i = 0; i < 2; ++i) {
    want.in[static_cast<size_t>(i)] = ChannelsLastBlock(q.in(i).shape);
  }
  if (!weight_gradient) want.out[0] = ChannelsLastBlock(q.out().shape);
}

void ConvLayouts(const KernelQuery& q, LayoutRequest& want) {
  if (ConvWantsNhwc(q.in(0).dtype)) RequestNhwc(q, false, want);
}

void ConvWeightGradLayouts(const KernelQuery& q, LayoutRequest& want) {
  if (ConvWantsNhwc(q.in(0).dtype)) RequestNhwc(q, true, want);
}

}  // namespace firn::cuda
