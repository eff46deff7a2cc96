#include "firn/tensor/kernels/cuda/channels.cuh"
#include "firn/tensor/kernels/reducers.h"
#include "firn/tensor/ops/conv/channels.h"

namespace firn::channels_cuda {
namespace {

template <class Number>
struct Affine {
  using Acc = AccumulatorOf<Number>;
  struct Numbers {
    Acc scale, shift;
  };

  const Number *scale, *shift;  // null: 1 and 0

  FIRN_HOST_DEVICE Numbers of(int64_t c) const {
    return {scale == nullptr ? Acc{1} : static_cast<Acc>(scale[c]),
            shift == nullptr ? Acc{0} : static_cast<Acc>(shift[c])};
  }
  FIRN_HOST_DEVICE Acc operator()(const Numbers& a, Acc x) const { return x * a.scale + a.shift; }
};

absl::Status RunChannelAffine(KernelContext& k) {
  using In = ChannelAffineIn;
  const TensorSpec& x = k.in_spec(In::kX);
  const DType numbers = k.dtype_of_first({In::kScale, In::kShift, In::kX});
  return VisitFloat(x.dtype, [&]<class T>(TypeTag<T>) {
    return VisitOrWide<T>(numbers, [&]<class Number>(TypeTag<Number>) {
      const Affine<Number> affine = {k.in<Number>(In::kScale), k.in<Number>(In::kShift)};
      return cuda::MapChannels(k, x, affine, k.out<T>(), k.in<T>(In::kX));
    });
  });
}

size_t Workspace(const KernelQuery& q) { return cuda::PlanChannels(q.in(0)).Bytes(sizeof(double)); }

absl::Status RunChannelSum(KernelContext& k) {
  const cuda::ReduceWork work = cuda::PlanChannels(k.in_spec(0));
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const cuda::ReducerFold<SumReducer<AccumulatorOf<T>>, T> fold = {{}, k.out<T>(), 0};
    return cuda::ReduceWith(k, fold, work, k.workspace(), k.in<T>(0));
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(channel_affine) {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .layouts = cuda::ChannelLayouts,
           .run = RunChannelAffine}};
}

FIRN_REGISTER_KERNELS(channel_sum) {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = Workspace,
           .layouts = cuda::ChannelLayouts,
           .run = RunChannelSum}};
}

}  // namespace firn::channels_cuda
