#include "tensor/kernels/cuda/channels.cuh"

namespace firn::channel_affine_cuda {
namespace {

template <class T>
struct Affine {
  using Acc = AccumulatorOf<T>;
  struct Numbers {
    Acc scale, shift;
  };

  const T *scale, *shift;  // null: 1 and 0

  FIRN_HOST_DEVICE Numbers of(int64_t c) const {
    return {scale == nullptr ? Acc{1} : static_cast<Acc>(scale[c]),
            shift == nullptr ? Acc{0} : static_cast<Acc>(shift[c])};
  }
  FIRN_HOST_DEVICE Acc operator()(const Numbers& a, Acc x) const { return x * a.scale + a.shift; }
};

absl::Status Run(KernelContext& k) {
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::MapChannels(k, k.in_spec(0), Affine<T>{k.in<T>(1), k.in<T>(2)}, k.out<T>(),
                             k.in<T>(0));
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(channel_affine) {
  return {
      {.name = "loop", .device = DeviceType::kCuda, .layouts = cuda::ChannelLayouts, .run = Run}};
}

}  // namespace firn::channel_affine_cuda
