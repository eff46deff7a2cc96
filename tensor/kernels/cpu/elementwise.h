#ifndef FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_H_
#define FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_H_

// The loops behind every elementwise operation. A functor is written once for scalars,
//   struct ExpFn { template <class T> FIRN_HOST_DEVICE T operator()(T x) const { ... } };
// takes and returns compute types (float for the half types) and should be free of branches, so
// that the compiler vectorises the loop it is inlined into. A functor with options declares `using
// Attrs = FooAttrs;` and is constructed from them.
//
// A functor is compiled into a row for each of its compute types and nothing else: one loop over
// elements that lie side by side. All around it - broadcasting, strides, threads, and half types,
// which go through the row as tiles of floats - is compiled once, in elementwise.cc.

#include <tuple>
#include <type_traits>
#include <utility>

#include "device/macros.h"
#include "device/own_flags.h"
#include "tensor/kernels/functor.h"
#include "tensor/kernels/loop_plan.h"
#include "tensor/op.h"

namespace firn::cpu {

// Elements below which a loop stays on the calling thread.
inline constexpr int64_t kElementGrain = 16384;

using firn::ComputeOf;
using firn::MakeFunctor;

// out[i] = f(in0[i], in1[i], ...) for i < n, n > 0. Bit j of `moving` is 0 where input j is one
// element for all. Elements have the row's compute types.
using RowFn = void (*)(const void* functor, void* out, const void* const* in, unsigned moving,
                       int64_t n);

struct RowLoop {
  RowFn run;
  int inputs;
  // The most inputs that may stand still: the others are repeated into a tile.
  bool takes_still;
  DType out;  // as they lie in memory
  const DType* in;
};

// Runs `loop` over output 0 and the first inputs of the context, with broadcasting.
void RunRows(KernelContext& k, const RowLoop& loop, const void* functor);

namespace internal {

// Constant strides are what the compiler needs to vectorise: bit I of kMoving says whether input I
// steps by 1 or stands still.
template <unsigned kMoving, class F, class Out, class... In, size_t... I>
FIRN_ALWAYS_INLINE void Row(const F& f, Out* out, std::tuple<const In*...> in, int64_t n,
                            std::index_sequence<I...>) {
  const F fn = f;  // a copy that stores to `out` cannot change
  const std::tuple<In...> still(*std::get<I>(in)...);
  // Output and moving inputs either coincide or do not overlap, so iterations are independent.
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<Out>(
        fn(((kMoving >> I & 1u) != 0 ? std::get<I>(in)[i] : std::get<I>(still))...));
  }
}

// Loops for one or two inputs are compiled for each that may stand still, others once.
inline constexpr size_t kMostStill = 2;

template <class F, class Out, class... In>
void AnyRow(const void* functor, void* to, const void* const* from, unsigned moving, int64_t n) {
  constexpr auto kIndices = std::index_sequence_for<In...>();
  constexpr unsigned kAll = (1u << sizeof...(In)) - 1u;
  const F& f = *static_cast<const F*>(functor);
  Out* const out = static_cast<Out*>(to);
  const auto in = [&]<size_t... I>(std::index_sequence<I...>) {
    return std::tuple<const In*...>(static_cast<const In*>(from[I])...);
  }
  (kIndices);
  if constexpr (sizeof...(In) == 2) {
    if (moving == 1) return Row<1>(f, out, in, n, kIndices);
    if (moving == 2) return Row<2>(f, out, in, n, kIndices);
  }
  // A single still input, or two, give one number: n is 1, or the row is a constant.
  if constexpr (sizeof...(In) <= kMostStill) {
    if (moving == 0) [[unlikely]] {
      const Out value = [&]<size_t... I>(std::index_sequence<I...>) {
        return static_cast<Out>(f(*std::get<I>(in)...));
      }
      (kIndices);
      for (int64_t i = 0; i < n; ++i) out[i] = value;
      return;
    }
  }
  Row<kAll>(f, out, in, n, kIndices);
}

}  // namespace internal

// out[i] = f(in0[i], in1[i], ...) with broadcasting, for element types Out and In...; reads inputs
// 0 .. sizeof...(In) - 1 of the context and writes output 0.
template <class Out, class... In, class F>
void ElementwiseLoop(KernelContext& k, const F& f) {
  static constexpr DType kIn[] = {DTypeOf<In>()...};
  static constexpr RowLoop kLoop = {internal::AnyRow<F, ComputeOf<Out>, ComputeOf<In>...>,
                                    sizeof...(In), sizeof...(In) <= internal::kMostStill,
                                    DTypeOf<Out>(), kIn};
  RunRows(k, kLoop, &f);
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

namespace internal {

template <class Out, class T, class F, size_t... I>
void LoopOf(KernelContext& k, const F& f, std::index_sequence<I...>) {
  ElementwiseLoop<Out, std::enable_if_t<(I >= 0), T>...>(k, f);
}

}  // namespace internal

// Kernels of operations with kInputs inputs of one dtype, and a result of that dtype: any floating
// one, any number, anything.
template <class F, int kInputs = 1>
absl::Status RunFloat(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    internal::LoopOf<T, T>(k, f, std::make_index_sequence<kInputs>());
  });
  return absl::OkStatus();
}
template <class F, int kInputs = 1>
absl::Status RunNumeric(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  VisitNumeric(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    internal::LoopOf<T, T>(k, f, std::make_index_sequence<kInputs>());
  });
  return absl::OkStatus();
}
template <class F, int kInputs = 1>
absl::Status RunAny(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    internal::LoopOf<T, T>(k, f, std::make_index_sequence<kInputs>());
  });
  return absl::OkStatus();
}
// bool results from inputs of any dtype: comparisons and logic.
template <class F, int kInputs = 1>
absl::Status RunPredicate(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    internal::LoopOf<bool, T>(k, f, std::make_index_sequence<kInputs>());
  });
  return absl::OkStatus();
}

// The reference kernel entry of an elementwise operation.
constexpr Kernel ElementwiseKernel(absl::Status (*run)(KernelContext&)) {
  return Kernel{
      .name = "loop", .device = DeviceType::kCpu, .run = run, .takes = Takes::kElementwise};
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_H_
