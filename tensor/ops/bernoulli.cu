// bernoulli: 1 where a random word lies below p * 2^32. Whether p is in [0, 1] is not looked at,
// for the host would have to wait: below is as 0, NaN too, and above as 1.
#include "tensor/kernels/cuda/random.cuh"
#include "tensor/ops/bernoulli.h"

namespace firn::bernoulli_cuda {
namespace {

template <class T>
struct BernoulliFn {
  const T* p;
  int64_t n;

  FIRN_HOST_DEVICE cuda::Elements<T, 4> operator()(int64_t e, const PhiloxResult& words) const {
    cuda::Elements<T, 4> y = cuda::LoadElements<4>(p, e, n);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      y.v[j] = static_cast<T>(words.v[j] < static_cast<double>(y.v[j]) * 0x1p32 ? 1.0f : 0.0f);
    }
    return y;
  }
};

absl::Status Run(KernelContext& k) {
  const int64_t n = k.out_spec().num_elements();
  return VisitFloat(k.in_spec(1).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::Draw<T, 4>(k, 0, k.out<T>(), n, BernoulliFn<T>{k.in<T>(1), n});
  });
}

FIRN_REGISTER_KERNELS(bernoulli) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}};
}

}  // namespace
}  // namespace firn::bernoulli_cuda
