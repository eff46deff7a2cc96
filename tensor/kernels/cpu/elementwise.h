#ifndef FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_H_
#define FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_H_

// The loops behind every elementwise operation. A functor is written once for scalars,
//   struct ExpFn { template <class T> FIRN_HOST_DEVICE T operator()(T x) const { ... } };
// takes and returns compute types (float for the half types) and should be free of branches, so
// that the compiler vectorises the loop it is inlined into. A functor with options declares `using
// Attrs = FooAttrs;` and is constructed from them.

#include <tuple>
#include <type_traits>
#include <utility>

#include "device/parallel.h"
#include "device/simd.h"
#include "tensor/kernels/cpu/loop_plan.h"
#include "tensor/op.h"

namespace firn::cpu {

// Elements below which a loop stays on the calling thread.
inline constexpr int64_t kElementGrain = 16384;

// In what a loop computes on elements of T: float for the half types, T otherwise.
template <class T>
using ComputeOf =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <class F>
F MakeFunctor(const KernelContext& k) {
  if constexpr (requires { typename F::Attrs; }) {
    return F(k.attrs<typename F::Attrs>());
  } else {
    return F();
  }
}

namespace internal {

// One row. `Step` tells the compiler about the strides: with a constant 1 or 0 it vectorises.
template <class Out, class... In, class F, size_t... I>
FIRN_ALWAYS_INLINE void Row(Out* __restrict out, std::tuple<const In*...> in, const int64_t* steps,
                            int64_t n, const F& f, std::index_sequence<I...>) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<Out>(f(static_cast<ComputeOf<In>>(std::get<I>(in)[i * steps[I]])...));
  }
}

template <class Out, class... In, class F, size_t... I>
FIRN_ALWAYS_INLINE void FlatRow(Out* out, std::tuple<const In*...> in, int64_t n, const F& f,
                                std::index_sequence<I...>) {
  // Output and inputs either coincide or do not overlap, so iterations are independent.
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<Out>(f(static_cast<ComputeOf<In>>(std::get<I>(in)[i])...));
  }
}

// A binary row with one operand constant along it: `x + number`, `x * per_channel`.
template <bool kFirstConstant, class Out, class A, class B, class F>
FIRN_ALWAYS_INLINE void ConstantRow(Out* out, const A* a, const B* b, int64_t n, const F& f) {
  const ComputeOf<A> a0 = static_cast<ComputeOf<A>>(*a);
  const ComputeOf<B> b0 = static_cast<ComputeOf<B>>(*b);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kFirstConstant) {
      out[i] = static_cast<Out>(f(a0, static_cast<ComputeOf<B>>(b[i])));
    } else {
      out[i] = static_cast<Out>(f(static_cast<ComputeOf<A>>(a[i]), b0));
    }
  }
}

template <class Out, class... In, class F>
FIRN_ALWAYS_INLINE void AnyRow(Out* out, std::tuple<const In*...> in, const int64_t* steps,
                               int64_t n, const F& f) {
  constexpr auto kIndices = std::index_sequence_for<In...>();
  bool unit = true;
  for (size_t i = 0; i < sizeof...(In); ++i) unit &= steps[i] == 1;
  if (unit) return FlatRow(out, in, n, f, kIndices);
  if constexpr (sizeof...(In) == 2) {
    const auto [a, b] = in;
    if (steps[0] == 1 && steps[1] == 0) return ConstantRow<false>(out, a, b, n, f);
    if (steps[0] == 0 && steps[1] == 1) return ConstantRow<true>(out, a, b, n, f);
  }
  Row(out, in, steps, n, f, kIndices);
}

}  // namespace internal

// out[i] = f(in0[i], in1[i], ...) with broadcasting, for element types Out and In...; reads inputs
// 0 .. sizeof...(In) - 1 of the context and writes output 0.
template <class Out, class... In, class F>
void ElementwiseLoop(KernelContext& k, const F& f) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    const TensorSpec* specs[] = {&k.out_spec(), &k.in_spec(I)...};
    const LoopPlan p = PlanLoop(k.out_spec().shape, specs);
    Out* out = k.out<Out>();
    const std::tuple<const In*...> in(k.in<In>(I)...);
    if (p.flat()) {
      ParallelFor(p.sizes[0], kElementGrain, [&](int64_t begin, int64_t end) {
        internal::FlatRow(out + begin, std::tuple<const In*...>((std::get<I>(in) + begin)...),
                          end - begin, f, std::index_sequence<I...>());
      });
      return;
    }
    const int64_t steps[] = {p.strides[I + 1][p.rank - 1]...};
    const int64_t n = p.inner();
    if (p.rank == 1) {
      ParallelFor(n, kElementGrain, [&](int64_t begin, int64_t end) {
        internal::AnyRow(out + begin,
                         std::tuple<const In*...>((std::get<I>(in) + begin * steps[I])...), steps,
                         end - begin, f);
      });
      return;
    }
    ParallelFor(p.rows(), std::max<int64_t>(1, kElementGrain / n), [&](int64_t begin, int64_t end) {
      ForEachRow(p, begin, end, [&](const int64_t* offset) {
        internal::AnyRow(out + offset[0],
                         std::tuple<const In*...>((std::get<I>(in) + offset[I + 1])...), steps, n,
                         f);
      });
    });
  }
  (std::index_sequence_for<In...>());
}

// Kernels for operations declared with one dtype throughout.
template <class F>
absl::Status RunUnaryFloat(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) { ElementwiseLoop<T, T>(k, f); });
  return absl::OkStatus();
}
template <class F>
absl::Status RunUnaryNumeric(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  VisitNumeric(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) { ElementwiseLoop<T, T>(k, f); });
  return absl::OkStatus();
}
template <class F>
absl::Status RunBinaryFloat(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) { ElementwiseLoop<T, T, T>(k, f); });
  return absl::OkStatus();
}
template <class F>
absl::Status RunBinaryNumeric(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  VisitNumeric(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) { ElementwiseLoop<T, T, T>(k, f); });
  return absl::OkStatus();
}
// bool results from inputs of any dtype: comparisons and logic.
template <class F>
absl::Status RunBinaryPredicate(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) { ElementwiseLoop<bool, T, T>(k, f); });
  return absl::OkStatus();
}

// The reference kernel entry of an elementwise operation.
constexpr Kernel ElementwiseKernel(absl::Status (*run)(KernelContext&)) {
  return Kernel{
      .name = "loop", .device = DeviceType::kCpu, .run = run, .takes = Takes::kElementwise};
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_H_
