// rand: four elements a counter, two of f64.
//
// randn: four elements a counter, two of f64.
//
// randint: two elements a counter, made as i64 and written as what the call asks for.
//
// bernoulli: 1 where a random word lies below p * 2^32. p is not checked, because the host would
// have to wait: values below 0 and NaN count as 0, values above 1 as 1.

#include "firn/tensor/kernels/cuda/random.cuh"
#include "firn/tensor/kernels/random_normal.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/random/draws_fn.h"

namespace firn::draws_cuda {
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

absl::Status RunRand(KernelContext& k) {
  const RandAttrs& a = k.attrs<RandAttrs>();
  return VisitFloat(a.dtype, [&]<class T>(TypeTag<T>) {
    return cuda::Draw<T, UniformFn<T>::kEach>(k, 0, k.out<T>(), k.out_spec().num_elements(),
                                              UniformFn<T>{RandFn<T>(a)});
  });
}

FIRN_REGISTER_KERNELS(rand) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunRand}};
}

template <class T>
struct NormalFn {
  static constexpr int kEach = sizeof(T) == 8 ? 2 : 4;
  using Acc = AccumulatorOf<T>;
  Acc mean, std;

  FIRN_HOST_DEVICE cuda::Elements<T, kEach> operator()(int64_t, const PhiloxResult& words) const {
    if constexpr (kEach == 2) {
      const auto [u, v] = NormalDoublesFrom(words.v[0], words.v[1], words.v[2], words.v[3]);
      return {{Scale(u), Scale(v)}};
    } else {
      const auto [u, v] = NormalFloatsFrom(words.v[0], words.v[1]);
      const auto [x, y] = NormalFloatsFrom(words.v[2], words.v[3]);
      return {{Scale(u), Scale(v), Scale(x), Scale(y)}};
    }
  }
  FIRN_HOST_DEVICE T Scale(Acc v) const { return static_cast<T>(mean + std * v); }
};

absl::Status RunRandn(KernelContext& k) {
  const RandnAttrs& a = k.attrs<RandnAttrs>();
  return VisitFloat(a.dtype, [&]<class T>(TypeTag<T>) {
    using Acc = AccumulatorOf<T>;
    return cuda::Draw<T, NormalFn<T>::kEach>(
        k, 0, k.out<T>(), k.out_spec().num_elements(),
        NormalFn<T>{static_cast<Acc>(a.mean), static_cast<Acc>(a.std)});
  });
}

FIRN_REGISTER_KERNELS(randn) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunRandn}};
}

struct RandintBody {
  const int64_t* state;
  void* out;
  DType dtype;
  int64_t n;
  uint64_t low, range;

  FIRN_HOST_DEVICE void operator()(int64_t c) const {
    const PhiloxResult words = PhiloxAt(cuda::StateAt(state), static_cast<uint64_t>(c));
    cuda::Elements<int64_t, 2> y;
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const uint64_t below = BelowFrom(range, words.v[2 * j], words.v[2 * j + 1]);
      y.v[j] = static_cast<int64_t>(low + below);
    }
    cuda::StoreElementsAs(dtype, out, 2 * c, n, y);
  }
};

absl::Status RunRandint(KernelContext& k) {
  const RandintAttrs& a = k.attrs<RandintAttrs>();
  const int64_t n = k.out_spec().num_elements(), counters = CeilDiv(n, 2);
  RandintBody body = {k.in<int64_t>(0), k.out<void>(), a.dtype, n};
  body.low = static_cast<uint64_t>(a.low);
  body.range = static_cast<uint64_t>(a.high) - body.low;
  FIRN_RETURN_IF_ERROR(cuda::ForEach(k, counters, body));
  return cuda::TakeCounters(k, 0, counters);
}

FIRN_REGISTER_KERNELS(randint) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunRandint}};
}

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

absl::Status RunBernoulli(KernelContext& k) {
  const int64_t n = k.out_spec().num_elements();
  return VisitFloat(k.in_spec(1).dtype, [&]<class T>(TypeTag<T>) {
    return cuda::Draw<T, 4>(k, 0, k.out<T>(), n, BernoulliFn<T>{k.in<T>(1), n});
  });
}

FIRN_REGISTER_KERNELS(bernoulli) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunBernoulli}};
}

}  // namespace
}  // namespace firn::draws_cuda
