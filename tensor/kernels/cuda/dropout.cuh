#ifndef FIRN_TENSOR_KERNELS_CUDA_DROPOUT_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_DROPOUT_CUH_

#include <algorithm>

#include "tensor/kernels/cuda/random.cuh"

namespace firn::cuda {

template <class T>
struct DropFn {
  const T* x;
  int64_t n;
  uint32_t first_kept;
  bool all;  // are dropped
  AccumulatorOf<T> scale;

  FIRN_HOST_DEVICE Elements<T, 4> operator()(int64_t e, const PhiloxResult& words) const {
    Elements<T, 4> y = LoadElements<4>(x, e, n);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const AccumulatorOf<T> v = static_cast<AccumulatorOf<T>>(y.v[j]) * scale;
      y.v[j] = static_cast<T>(words.v[j] >= first_kept && !all ? v : AccumulatorOf<T>{0});
    }
    return y;
  }
};

// Output 0 = input 0 as cpu::DropElements makes it from the random words behind `state`.
inline absl::Status DropElements(KernelContext& k, const int64_t* state, double p) {
  const int64_t n = k.in_spec(0).num_elements();
  // Below 2^32 - 1, so that it fits: p = 1 is a case of its own, also where x is infinite.
  const auto first_kept = static_cast<uint32_t>(std::min(p * 0x1p32, 0x1p32 - 1));
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const auto scale = static_cast<AccumulatorOf<T>>(1 / (1 - p));
    return DrawFrom<T, 4>(state, k, k.out<T>(), n,
                          DropFn<T>{k.in<T>(0), n, first_kept, p == 1, scale});
  });
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_DROPOUT_CUH_
