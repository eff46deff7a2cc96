#ifndef FIRN_TENSOR_KERNELS_CUDA_ELEMENTWISE_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_ELEMENTWISE_CUH_

// The loops behind elementwise operations on CUDA, over the functors that the CPU's loops run. An
// operation's .cu file gives the functor and the dtypes:
//
//   FIRN_REGISTER_KERNELS(exp) { return cuda::FloatKernels<ExpFn>(); }

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/functor.h"
#include "firn/tensor/kernels/loop_plan.h"
#include "firn/tensor/op.h"

namespace firn::cuda {

namespace internal {

// Sixteen bytes of the widest operand are moved at once.
template <class... T>
inline constexpr int kPack = static_cast<int>(16 / std::max({sizeof(T)...}));

template <class T, int kN>
struct alignas(sizeof(T) * kN) Pack {
  T v[kN];
};

}  // namespace internal

// out[i] = f(in0[i], ...). Dense operands of one layout are read kPack elements at a time, of many
// two such packs at once; others element by element through a plan.
template <class F, class Out, class... In>
struct ElementwiseBody {
  static constexpr int kIn = sizeof...(In);
  static constexpr int kPack = internal::kPack<Out, In...>;

  F f;
  Out* out;
  std::tuple<const In*...> in;
  int64_t n = 0;
  bool dense = false;
  unsigned moving = 0;  // dense only: bit i is 0 where input i is one element for all
  int64_t apart = 0;    // dense only: from a thread's first pack to its second; 0: it has one
  int rank = 0;         // strided only, outermost dimension first, as the plan
  int64_t sizes[kMaxRank] = {};
  int64_t strides[kIn + 1][kMaxRank] = {};

  ElementwiseBody(const F& fn, Out* to, const std::tuple<const In*...>& from)
      : f(fn), out(to), in(from) {}

  // Decides how many packs a thread has. Requires: all members but `apart` are set.
  int64_t ShareOut() {
    if (!dense) return n;
    const int64_t packs = CeilDiv(n, kPack);
    if (packs < 2 * kBusyThreads) return packs;
    const int64_t threads = CeilDiv(packs, 2);
    apart = threads * kPack;
    return threads;
  }

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    if (dense) {
      constexpr std::index_sequence_for<In...> kInputs;
      const int64_t at = i * kPack;
      if (apart == 0) {
        Dense(at, kInputs);
      } else if (at + apart + kPack <= n) {
        DenseTwice(at, kInputs);
      } else {
        Dense(at, kInputs);
        if (at + apart < n) Dense(at + apart, kInputs);
      }
    } else {
      Strided(i, std::index_sequence_for<In...>());
    }
  }

 private:
  template <size_t... I>
  FIRN_HOST_DEVICE void Dense(int64_t at, std::index_sequence<I...>) const {
    if (at + kPack > n) {
      for (; at < n; ++at) {
        out[at] = static_cast<Out>(
            f(static_cast<ComputeOf<In>>(std::get<I>(in)[(moving >> I & 1u) != 0 ? at : 0])...));
      }
      return;
    }
    Store(at, Load(std::get<I>(in), at, (moving >> I & 1u) != 0)...);
  }

  // Two packs, of which the second is read before the first is written.
  template <size_t... I>
  FIRN_HOST_DEVICE void DenseTwice(int64_t at, std::index_sequence<I...>) const {
    const std::tuple<internal::Pack<In, kPack>...> x(
        Load(std::get<I>(in), at, (moving >> I & 1u) != 0)...),
        later(Load(std::get<I>(in), at + apart, (moving >> I & 1u) != 0)...);
    Store(at, std::get<I>(x)...);
    Store(at + apart, std::get<I>(later)...);
  }

  FIRN_HOST_DEVICE void Store(int64_t at, const internal::Pack<In, kPack>&... x) const {
    internal::Pack<Out, kPack> y;
#pragma unroll
    for (int j = 0; j < kPack; ++j) {
      y.v[j] = static_cast<Out>(f(static_cast<ComputeOf<In>>(x.v[j])...));
    }
    *reinterpret_cast<internal::Pack<Out, kPack>*>(out + at) = y;
  }

  template <class T>
  static FIRN_HOST_DEVICE internal::Pack<T, kPack> Load(const T* from, int64_t at, bool moves) {
    if (moves) return *reinterpret_cast<const internal::Pack<T, kPack>*>(from + at);
    internal::Pack<T, kPack> p;
    for (int j = 0; j < kPack; ++j) p.v[j] = *from;
    return p;
  }

  template <size_t... I>
  FIRN_HOST_DEVICE void Strided(int64_t i, std::index_sequence<I...>) const {
    int64_t offset[kIn + 1] = {};
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t at = d == 0 ? i : TakeDigit(i, sizes[d]);
#pragma unroll
      for (int o = 0; o <= kIn; ++o) offset[o] += at * strides[o][d];
    }
    out[offset[0]] =
        static_cast<Out>(f(static_cast<ComputeOf<In>>(std::get<I>(in)[offset[I + 1]])...));
  }
};

namespace internal {

inline bool Aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }

}  // namespace internal

// The first sizeof...(In) inputs of the context through `f` into output 0, with broadcasting.
template <class Out, class... In, class F>
absl::Status ElementwiseLoop(KernelContext& k, const F& f) {
  constexpr int kIn = sizeof...(In);
  return [&]<size_t... I>(std::index_sequence<I...>) {
    ElementwiseBody<F, Out, In...> body(f, k.out<Out>(), {k.in<In>(I)...});
    body.n = k.out_spec().num_elements();
    const TensorSpec* specs[] = {&k.out_spec(), &k.in_spec(I)...};
    const LoopPlan p = PlanLoop(k.out_spec().shape, specs);
    body.dense = p.rank == 1 && p.strides[0][0] == 1 && internal::Aligned(k.out<Out>());
    for (int i = 0; i < kIn; ++i) {
      const int64_t stride = p.strides[i + 1][0];
      body.dense &= stride == 0 || stride == 1;
      if (stride == 1) body.moving |= 1u << i;
    }
    ((body.dense &= internal::Aligned(k.in<In>(I)) || (body.moving >> I & 1u) == 0), ...);
    body.rank = p.rank;
    for (int d = 0; d < p.rank; ++d) {
      body.sizes[d] = p.sizes[d];
      for (int o = 0; o <= kIn; ++o) body.strides[o][d] = p.strides[o][d];
    }
    const int64_t threads = body.ShareOut();
    return ForEach(k, threads, body);
  }
  (std::index_sequence_for<In...>());
}

// --- Kernels of operations declared with one dtype throughout
// -------------------------------------

namespace internal {

template <int kIn, class Out, class T, class F>
absl::Status RunWith(KernelContext& k, const F& f) {
  if constexpr (kIn == 1) return ElementwiseLoop<Out, T>(k, f);
  if constexpr (kIn == 2) return ElementwiseLoop<Out, T, T>(k, f);
  if constexpr (kIn == 3) return ElementwiseLoop<Out, T, T, T>(k, f);
}

}  // namespace internal

template <class F, int kIn>
absl::Status RunFloat(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  return VisitFloat(k.in_spec(0).dtype,
                    [&]<class T>(TypeTag<T>) { return internal::RunWith<kIn, T, T>(k, f); });
}
template <class F, int kIn>
absl::Status RunNumeric(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  return VisitNumeric(k.in_spec(0).dtype,
                      [&]<class T>(TypeTag<T>) { return internal::RunWith<kIn, T, T>(k, f); });
}
template <class F, int kIn>
absl::Status RunAny(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  return VisitDType(k.in_spec(0).dtype,
                    [&]<class T>(TypeTag<T>) { return internal::RunWith<kIn, T, T>(k, f); });
}
template <class F, int kIn>
absl::Status RunInteger(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  return VisitInteger(k.in_spec(0).dtype,
                      [&]<class T>(TypeTag<T>) { return internal::RunWith<kIn, T, T>(k, f); });
}
template <class F, int kIn>
absl::Status RunIntegerOrBool(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  return VisitIntegerOrBool(
      k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) { return internal::RunWith<kIn, T, T>(k, f); });
}
template <class F, int kIn>
absl::Status RunPredicate(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  return VisitDType(k.in_spec(0).dtype,
                    [&]<class T>(TypeTag<T>) { return internal::RunWith<kIn, bool, T>(k, f); });
}

inline std::vector<Kernel> ElementwiseKernels(absl::Status (*run)(KernelContext&)) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = run, .takes = Takes::kElementwise}};
}
// Functors of kIn inputs on floating, numeric and all dtypes, on integers without and with bool,
// and those that give bools.
template <class F, int kIn = 1>
std::vector<Kernel> FloatKernels() {
  return ElementwiseKernels(RunFloat<F, kIn>);
}
template <class F, int kIn = 1>
std::vector<Kernel> NumericKernels() {
  return ElementwiseKernels(RunNumeric<F, kIn>);
}
template <class F, int kIn = 1>
std::vector<Kernel> AnyKernels() {
  return ElementwiseKernels(RunAny<F, kIn>);
}
template <class F, int kIn = 1>
std::vector<Kernel> IntegerKernels() {
  return ElementwiseKernels(RunInteger<F, kIn>);
}
template <class F, int kIn = 1>
std::vector<Kernel> BitKernels() {
  return ElementwiseKernels(RunIntegerOrBool<F, kIn>);
}
template <class F, int kIn = 1>
std::vector<Kernel> PredicateKernels() {
  return ElementwiseKernels(RunPredicate<F, kIn>);
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_ELEMENTWISE_CUH_
