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

#include "device/macros.h"
#include "device/own_flags.h"
#include "device/parallel.h"
#include "tensor/kernels/cpu/loop_plan.h"
#include "tensor/kernels/functor.h"
#include "tensor/op.h"

namespace firn::cpu {

// Elements below which a loop stays on the calling thread.
inline constexpr int64_t kElementGrain = 16384;

using firn::ComputeOf;
using firn::MakeFunctor;

namespace internal {

// One row with any strides.
template <class Out, class... In, class F, size_t... I>
void StridedRow(Out* __restrict out, std::tuple<const In*...> in, const int64_t* steps, int64_t n,
                const F& f, std::index_sequence<I...>) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<Out>(f(static_cast<ComputeOf<In>>(std::get<I>(in)[i * steps[I]])...));
  }
}

// One row in which input I steps by 1 where bit I of kMoving is set and else stands still: constant
// strides are what the compiler needs to vectorise. Requires: n > 0.
template <unsigned kMoving, class Out, class... In, class F, size_t... I>
FIRN_ALWAYS_INLINE void Row(Out* out, std::tuple<const In*...> in, int64_t n, const F& f,
                            std::index_sequence<I...>) {
  const F fn = f;  // a copy that stores to `out` cannot change
  const std::tuple<ComputeOf<In>...> still(static_cast<ComputeOf<In>>(*std::get<I>(in))...);
  // Output and moving inputs either coincide or do not overlap, so iterations are independent.
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<Out>(
        fn(((kMoving >> I & 1u) != 0 ? static_cast<ComputeOf<In>>(std::get<I>(in)[i])
                                     : std::get<I>(still))...));
  }
}

// Any row: a loop for each combination of moving and still inputs, up to four of them.
template <class Out, class... In, class F>
FIRN_NOINLINE void AnyRow(Out* out, std::tuple<const In*...> in, const int64_t* steps, int64_t n,
                          const F& f) {
  constexpr auto kIndices = std::index_sequence_for<In...>();
  constexpr unsigned kCombinations = sizeof...(In) <= 4 ? (1u << sizeof...(In)) - 1u : 0u;
  unsigned moving = 0;
  bool simple = true;
  for (unsigned i = 0; i < sizeof...(In); ++i) {
    moving |= steps[i] == 1 ? 1u << i : 0u;
    simple &= steps[i] == 1 || steps[i] == 0;
  }
  const bool done = [&]<unsigned... M>(std::integer_sequence<unsigned, M...>) {
    return simple && ((moving == M + 1u && (Row<M + 1u>(out, in, n, f, kIndices), true)) || ...);
  }
  (std::make_integer_sequence<unsigned, kCombinations>());
  if (!done) StridedRow(out, in, steps, n, f, kIndices);
}

}  // namespace internal

// out[i] = f(in0[i], in1[i], ...) with broadcasting, for element types Out and In...; reads inputs
// 0 .. sizeof...(In) - 1 of the context and writes output 0.
template <class Out, class... In, class F>
void ElementwiseLoop(KernelContext& k, const F& f) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    Out* out = k.out<Out>();
    const std::tuple<const In*...> in(k.in<In>(I)...);
    if (k.alike() || (SameDenseLayout(k.out_spec(), k.in_spec(I)) && ...)) {  // no plan needed
      constexpr int64_t kOnes[] = {static_cast<int64_t>(I - I + 1)...};
      ParallelFor(k.out_spec().num_elements(), kElementGrain, [&](int64_t begin, int64_t end) {
        internal::AnyRow(out + begin, std::tuple<const In*...>((std::get<I>(in) + begin)...), kOnes,
                         end - begin, f);
      });
      return;
    }
    const TensorSpec* specs[] = {&k.out_spec(), &k.in_spec(I)...};
    const LoopPlan p = PlanLoop(k.out_spec().shape, specs);
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

// Whether some element of input i satisfies the predicate; any strides.
template <class T, class P>
bool AnyElement(const KernelContext& k, int i, const P& predicate) {
  const TensorSpec* spec = &k.in_spec(i);
  const LoopPlan p = PlanLoop(spec->shape, {&spec, 1});
  const int64_t step = p.strides[0][p.rank - 1], n = p.inner();
  bool any = false;
  ForEachRow(p, 0, p.rows(), [&](const int64_t* offset) {
    const T* row = k.in<T>(i) + offset[0];
    for (int64_t j = 0; j < n; ++j) any |= predicate(row[j * step]);
  });
  return any;
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
template <class F>
absl::Status RunBinaryAny(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) { ElementwiseLoop<T, T, T>(k, f); });
  return absl::OkStatus();
}
template <class F>
absl::Status RunTernaryFloat(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) { ElementwiseLoop<T, T, T, T>(k, f); });
  return absl::OkStatus();
}
// bool results from inputs of any dtype: comparisons and logic.
template <class F>
absl::Status RunUnaryPredicate(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) { ElementwiseLoop<bool, T>(k, f); });
  return absl::OkStatus();
}
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
