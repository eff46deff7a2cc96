#include "tensor/kernels/cpu/reducers.h"
#include "tensor/kernels/cuda/channels.cuh"

namespace firn::channel_sum_cuda {
namespace {

size_t Workspace(const KernelQuery& q) { return cuda::PlanChannels(q.in(0)).Bytes(sizeof(double)); }

absl::Status Run(KernelContext& k) {
  const cuda::ReduceWork work = cuda::PlanChannels(k.in_spec(0));
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const cuda::ReducerFold<cpu::SumReducer<AccumulatorOf<T>>, T> fold = {{}, k.out<T>()};
    return cuda::ReduceWith(k, fold, work, k.workspace(), k.in<T>(0));
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(channel_sum) {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = Workspace,
           .layouts = cuda::ChannelLayouts,
           .run = Run}};
}

}  // namespace firn::channel_sum_cuda
