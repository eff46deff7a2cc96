// randn: four elements a counter, two of f64.
#include "tensor/kernels/cuda/random.cuh"
#include "tensor/ops/randn.h"

namespace firn::randn_cuda {
namespace {

template <class T>
struct NormalFn {
  static constexpr int kEach = sizeof(T) == 8 ? 2 : 4;
  using Acc = AccumulatorOf<T>;
  Acc mean, std;

  FIRN_HOST_DEVICE cuda::Elements<T, kEach> operator()(int64_t, const PhiloxResult& words) const {
    if constexpr (kEach == 2) {
      const auto [u, v] = NormalDoubles(words);
      return {{Scale(u), Scale(v)}};
    } else {
      const auto [u, v] = NormalFloats(words.v[0], words.v[1]);
      const auto [x, y] = NormalFloats(words.v[2], words.v[3]);
      return {{Scale(u), Scale(v), Scale(x), Scale(y)}};
    }
  }
  FIRN_HOST_DEVICE T Scale(Acc v) const { return static_cast<T>(mean + std * v); }
};

absl::Status Run(KernelContext& k) {
  const RandnAttrs& a = k.attrs<RandnAttrs>();
  return VisitFloat(a.dtype, [&]<class T>(TypeTag<T>) {
    using Acc = AccumulatorOf<T>;
    return cuda::Draw<T, NormalFn<T>::kEach>(
        k, 0, k.out<T>(), k.out_spec().num_elements(),
        NormalFn<T>{static_cast<Acc>(a.mean), static_cast<Acc>(a.std)});
  });
}

FIRN_REGISTER_KERNELS(randn) { return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}}; }

}  // namespace
}  // namespace firn::randn_cuda
