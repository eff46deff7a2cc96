// rand: four elements a counter, two of f64.
#include "tensor/kernels/cuda/random.cuh"
#include "tensor/ops/rand.h"
#include "tensor/ops/rand_fn.h"

namespace firn::rand_cuda {
namespace {

template <class T>
struct UniformFn {
  static constexpr int kEach = sizeof(T) == 8 ? 2 : 4;
  RandFn<T> f;

  FIRN_HOST_DEVICE cuda::Elements<T, kEach> operator()(int64_t, const PhiloxResult& words) const {
    cuda::Elements<T, kEach> y;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      if constexpr (kEach == 2) {
        y.v[j] = f(words.v[2 * j], words.v[2 * j + 1]);
      } else {
        y.v[j] = f(words.v[j]);
      }
    }
    return y;
  }
};

absl::Status Run(KernelContext& k) {
  const RandAttrs& a = k.attrs<RandAttrs>();
  return VisitFloat(a.dtype, [&]<class T>(TypeTag<T>) {
    return cuda::Draw<T, UniformFn<T>::kEach>(k, 0, k.out<T>(), k.out_spec().num_elements(),
                                              UniformFn<T>{RandFn<T>(a)});
  });
}

FIRN_REGISTER_KERNELS(rand) { return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}}; }

}  // namespace
}  // namespace firn::rand_cuda
