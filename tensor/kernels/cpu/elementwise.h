#ifndef FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_H_
#define FIRN_TENSOR_KERNELS_CPU_ELEMENTWISE_H_

// The loops behind every elementwise operation. A functor is written once for scalars,
//   struct ExpFn { template <class T> FIRN_HOST_DEVICE T operator()(T x) const { ... } };
// takes and returns compute types (float for the half types) and should be free of branches, so
// that the compiler vectorises the loop it is inlined into. A functor with options declares `using
// Attrs = FooAttrs;` and is constructed from them.
//
// Only a row is compiled from a functor, for each of its compute types: one loop over elements that
// lie side by side. Everything around it - broadcasting, strides, threads, and half types, which go
// through the row as tiles of floats - is compiled once, in elementwise.cc.
//
// A functor whose straight-line code is right for usual arguments only has that code in Usual(x,
// ...), and `bool IsRare(x, ...) const` tells which arguments need operator() instead. These few
// elements get a pass of their own, outside of the vectorised loop.
//
// A functor of so few instructions that a tile in and a tile out would cost more than the functor
// declares `using Brief = void;`. Where all its operands are of one half type, it has a row for
// that type, which converts in registers, or, for a functor of one operand that has it, calls
// `static uint16_t OfHalfBits(uint16_t)`, which works on the bits of both types.
//
// A functor without options that looks up tables in registers (vec_math.h) derives from one that
// does not and declares `template <class T> using Vectors = GeluOfVec<T>;`.
//
// A functor of floating types that takes long over digits that rounding to a half type drops
// declares `using ForHalf = RoughFn<itself>;` (math_half.h, RunFloat).

#include <algorithm>
#include <atomic>
#include <bit>
#include <tuple>
#include <type_traits>
#include <utility>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/ask_ahead.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/vector_row.h"
#include "firn/tensor/kernels/functor.h"
#include "firn/tensor/kernels/loop_plan.h"
#include "firn/tensor/op.h"

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
  // The sets of inputs that may stand still: bit m is set where the row takes `moving` == m. In
  // other calls all inputs are repeated into tiles.
  unsigned takes;
  bool converts;  // half types to float and back; else the row takes elements as they are
  DType out;      // the row takes elements in the types that they have in memory
  const DType* in;
  int64_t block = 1;  // the row takes whole blocks of so many elements
};

// Runs `loop` over output 0 and the first inputs of the context, with broadcasting.
void RunRows(KernelContext& k, const RowLoop& loop, const void* functor);

namespace internal {

// Like the row below, for a functor with rare arguments, a tile at a time. The result may overwrite
// an argument, so results of rare arguments are computed first and written last.
template <unsigned kMoving, class F, class Out, class... In, size_t... I>
FIRN_ALWAYS_INLINE void RareRow(const F& f, Out* out, std::tuple<const In*...> in, int64_t n,
                                std::index_sequence<I...> inputs) {
  constexpr int64_t kTile = 256;
  const F fn = f;
  const std::tuple<In...> still(*std::get<I>(in)...);
  for (int64_t begin = 0; begin < n; begin += kTile) {
    const int64_t count = n - begin < kTile ? n - begin : kTile;
    if (IsFar<Out>(n)) AskFor<kMoving>(in, begin + 2 * kTile, kTile, inputs);
    const auto with = [&](int64_t i, const auto& call) __attribute__((always_inline)) {
      return call(((kMoving >> I & 1u) != 0 ? std::get<I>(in)[begin + i] : std::get<I>(still))...);
    };
    const auto is_rare = [&](auto... x) __attribute__((always_inline)) { return fn.IsRare(x...); };
    const auto usual = [&](auto... x) __attribute__((always_inline)) { return fn.Usual(x...); };
    int64_t rare = 0;
    for (int64_t i = 0; i < count; ++i) rare |= with(i, is_rare) ? 1 : 0;
    Out kept[kTile];
    bool keep[kTile];
    if (rare != 0) [[unlikely]] {
      for (int64_t i = 0; i < count; ++i) {
        keep[i] = with(i, is_rare);
        if (keep[i]) kept[i] = static_cast<Out>(with(i, fn));
      }
    }
    Out* const to = out + begin;
    FIRN_INDEPENDENT_STEPS
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Out>(with(i, usual));
    if (rare == 0) [[likely]]
      continue;
    for (int64_t i = 0; i < count; ++i) {
      if (keep[i]) to[i] = kept[i];
    }
  }
}

// Constant strides are what the compiler needs to vectorise: bit I of kMoving says whether input I
// steps by 1 or stands still.
template <unsigned kMoving, class F, class Out, class... In, size_t... I>
FIRN_ALWAYS_INLINE void Row(const F& f, Out* out, std::tuple<const In*...> in, int64_t n,
                            std::index_sequence<I...> inputs) {
  if constexpr (requires(In... x) { f.IsRare(x...); }) {
    return RareRow<kMoving>(f, out, in, n, inputs);
  }
  if constexpr (kHasVectors<F, Out, In...>) {
    static_assert(std::is_empty_v<F>, "Vectors know nothing of its options");
    return VectorRow<kMoving, typename F::template Vectors<Out>>(out, in, n, inputs);
  }
  const F fn = f;  // a copy that stores to `out` cannot change
  const std::tuple<In...> still(*std::get<I>(in)...);
  if constexpr (kMoving == 0) {  // not one loop with a choice: g++ would copy it
    const Out one = static_cast<Out>(fn(std::get<I>(still)...));
    for (int64_t i = 0; i < n; ++i) out[i] = one;
    return;
  }
  // Output and moving inputs either coincide or do not overlap, so iterations are independent.
  constexpr bool kLong = std::is_floating_point_v<Out> && !requires { typename F::Brief; };
  const int64_t piece = kLong && IsFar<Out>(n) ? kAskedPiece<Out> : n;
  for (int64_t begin = 0; begin < n; begin += piece) {
    const int64_t end = n - begin < piece ? n : begin + piece;
    if (kLong && piece != n) AskFor<kMoving>(in, begin + 2 * piece, piece, inputs);
    FIRN_INDEPENDENT_STEPS
    for (int64_t i = begin; i < end; ++i) {
      out[i] = static_cast<Out>(
          fn(((kMoving >> I & 1u) != 0 ? std::get<I>(in)[i] : std::get<I>(still))...));
    }
  }
}

// The sets of moving inputs (RowFn) that rows of so many inputs are compiled for. With three inputs
// the first moves, as for a tensor between two bounds or a mask over a number.
template <size_t kInputs>
inline constexpr auto kMovingSets = std::integer_sequence<unsigned, (1u << kInputs) - 1u>();
template <>
inline constexpr auto kMovingSets<1> = std::integer_sequence<unsigned, 1, 0>();
template <>
inline constexpr auto kMovingSets<2> = std::integer_sequence<unsigned, 3, 1, 2, 0>();
template <>
inline constexpr auto kMovingSets<3> = std::integer_sequence<unsigned, 7, 1, 3, 5>();

template <unsigned... kMoving>
constexpr unsigned BitsOf(std::integer_sequence<unsigned, kMoving...>) {
  return ((1u << kMoving) | ...);
}

// Flattened, because the compiler would call a long functor for each element.
template <class F, class Out, class... In, unsigned... kMoving>
FIRN_FLATTEN void RowOf(const F& f, Out* out, std::tuple<const In*...> in, unsigned moving,
                        int64_t n, std::integer_sequence<unsigned, kMoving...>) {
  static_cast<void>(((moving == kMoving &&
                      (Row<kMoving>(f, out, in, n, std::index_sequence_for<In...>()), true)) ||
                     ...));
}

// One copy of the loop serves all rows, so that all give the same bits, even signs of NaN.
template <class F, class Out, class... In>
FIRN_ONE_COPY void AnyRow(const void* functor, void* to, const void* const* from, unsigned moving,
                          int64_t n) {
  const auto in = [&]<size_t... I>(std::index_sequence<I...>) {
    return std::tuple<const In*...>(static_cast<const In*>(from[I])...);
  }
  (std::index_sequence_for<In...>());
  RowOf(*static_cast<const F*>(functor), static_cast<Out*>(to), in, moving, n,
        kMovingSets<sizeof...(In)>);
}

// The row of a brief functor for elements of a half type, as they lie in memory. Requires: n is a
// multiple of kBlock. Two vectors: g++ 12 unrolls loops of 16 steps before it makes vectors.
inline constexpr int64_t kBlock = 32;
template <class F, class T, size_t... I>
FIRN_FLATTEN void BlocksOf(const F& f, T* out, const void* const* from, int64_t n,
                           std::index_sequence<I...>) {
  const F fn = f;
  for (int64_t at = 0; at < n; at += kBlock) {
    alignas(64) float x[sizeof...(I)][kBlock], y[kBlock];
    (FloatsOfBlock(static_cast<const T*>(from[I]) + at, kBlock, x[I]), ...);
    FIRN_INDEPENDENT_STEPS
    for (int64_t i = 0; i < kBlock; ++i) y[i] = static_cast<float>(fn(x[I][i]...));
    BlockOfFloats(y, kBlock, out + at);
  }
}
template <class F, class T, int kInputs>
FIRN_ONE_COPY void HalfRow(const void* functor, void* to, const void* const* from, unsigned,
                           int64_t n) {
  if constexpr (requires { F::OfHalfBits(uint16_t{}); }) {
    const auto* const x = static_cast<const uint16_t*>(from[0]);
    auto* const y = static_cast<uint16_t*>(to);
    for (int64_t i = 0; i < n; ++i) y[i] = F::OfHalfBits(x[i]);
  } else {
    BlocksOf(*static_cast<const F*>(functor), static_cast<T*>(to), from, n,
             std::make_index_sequence<kInputs>());
  }
}

template <class F, class Out, class... In>
inline constexpr bool kHasHalfRow = requires {
  typename F::Brief;
}
&&!std::is_same_v<Out, ComputeOf<Out>> && (std::is_same_v<In, Out> && ...);

// A dtype as wide as T, for elements that are only moved.
template <class T>
constexpr DType DTypeAsWideAs() {
  constexpr DType kByBytes[] = {DType::kU8, DType::kF16, DType::kI32, DType::kI64};
  return kByBytes[std::countr_zero(sizeof(T))];
}

template <class F, bool kConverts, class Out, class... In>
struct LoopOn {
  template <class T>
  static constexpr DType Stored() {
    if constexpr (kConverts) {
      return DTypeOf<T>();
    } else {
      return DTypeAsWideAs<T>();
    }
  }
  static constexpr DType kIn[] = {Stored<In>()...};
  static constexpr unsigned kTakes = BitsOf(kMovingSets<sizeof...(In)>);
  static constexpr RowLoop Make() {
    constexpr unsigned kAllMove = (1u << sizeof...(In)) - 1u;
    if constexpr (kConverts && kHasHalfRow<F, Out, In...>) {
      return {HalfRow<F, Out, sizeof...(In)>,
              sizeof...(In),
              1u << kAllMove,
              false,
              Stored<Out>(),
              kIn,
              kBlock};
    } else if constexpr (kConverts) {
      return {AnyRow<F, ComputeOf<Out>, ComputeOf<In>...>,
              sizeof...(In),
              kTakes,
              true,
              Stored<Out>(),
              kIn};
    } else {
      return {AnyRow<F, Out, In...>, sizeof...(In), kTakes, false, Stored<Out>(), kIn};
    }
  }
  static constexpr RowLoop kLoop = Make();
};

}  // namespace internal

// out[i] = f(in0[i], in1[i], ...) with broadcasting, for element types Out and In...; reads inputs
// 0 .. sizeof...(In) - 1 of the context and writes output 0.
template <class Out, class... In, class F>
void ElementwiseLoop(KernelContext& k, const F& f) {
  constexpr const RowLoop& loop = internal::LoopOn<F, true, Out, In...>::kLoop;
  constexpr bool kAsTheyAre =
      std::is_same_v<Out, ComputeOf<Out>> && (std::is_same_v<In, ComputeOf<In>> && ...);
  const int64_t n = k.out_spec().num_elements();
  if (kAsTheyAre && k.alike() && n <= kElementGrain) [[likely]] {  // the usual small call
    const void* in[sizeof...(In)];
    for (size_t i = 0; i < sizeof...(In); ++i) in[i] = k.operands_in()[i].data;
    if (n > 0) loop.run(&f, k.out<void>(), in, (1u << sizeof...(In)) - 1u, n);
    return;
  }
  RunRows(k, loop, &f);
}
// The same for functors that take and return elements in their own types, half types too.
template <class Out, class... In, class F>
void MovedLoop(KernelContext& k, const F& f) {
  RunRows(k, internal::LoopOn<F, false, Out, In...>::kLoop, &f);
}

// Whether some element of input i satisfies the predicate, which gets it in its compute type; any
// strides.
template <class T, class P>
bool AnyElement(const KernelContext& k, int i, const P& predicate) {
  constexpr int64_t kPiece = 1024;
  const TensorSpec* spec = &k.in_spec(i);
  const LoopPlan p = PlanLoop(spec->shape, {&spec, 1});
  const int64_t step = p.strides[0][p.rank - 1], n = p.inner();
  std::atomic<bool> any = false;
  const auto look = [&](const T* row, int64_t count) {
    Piece<T, kPiece> piece;
    for (int64_t at = 0; at < count && !any.load(std::memory_order_relaxed); at += kPiece) {
      const int64_t m = std::min(kPiece, count - at);
      int found = 0;  // not bool, which the compiler does not vectorise
      if (step == 1) {
        const auto* const elements = piece.Read(row + at, m);
        for (int64_t j = 0; j < m; ++j) found |= predicate(elements[j]) ? 1 : 0;
      } else {
        for (int64_t j = 0; j < m; ++j) {
          found |= predicate(static_cast<ComputeOf<T>>(row[(at + j) * step])) ? 1 : 0;
        }
      }
      if (found != 0) any.store(true, std::memory_order_relaxed);
    }
  };
  const T* const x = k.in<T>(i);
  if (p.rank == 1) {
    ParallelFor(n, kElementGrain,
                [&](int64_t begin, int64_t end) { look(x + begin * step, end - begin); });
  } else {
    ParallelFor(p.rows(), std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, n)),
                [&](int64_t begin, int64_t end) {
                  ForEachRow(p, begin, end, [&](const int64_t* offset) { look(x + offset[0], n); });
                });
  }
  return any.load();
}

namespace internal {

// The functor that computes on elements of T.
template <class F, class T>
constexpr auto FunctorFor() {
  if constexpr (requires { typename F::ForHalf; } && !std::is_same_v<T, ComputeOf<T>>) {
    return std::type_identity<typename F::ForHalf>();
  } else {
    return std::type_identity<F>();
  }
}

template <class Out, class T, class F, size_t... I>
void LoopOf(KernelContext& k, const F& f, std::index_sequence<I...>) {
  ElementwiseLoop<Out, std::enable_if_t<(I >= 0), T>...>(k, f);
}

}  // namespace internal

// Kernels of operations with kInputs inputs of one dtype, and a result of that dtype: floating,
// numeric, any, integer, or integer and bool.
template <class F, int kInputs = 1>
absl::Status RunFloat(KernelContext& k) {
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const auto f = MakeFunctor<typename decltype(internal::FunctorFor<F, T>())::type>(k);
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
template <class F, int kInputs = 1>
absl::Status RunInteger(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  VisitInteger(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    internal::LoopOf<T, T>(k, f, std::make_index_sequence<kInputs>());
  });
  return absl::OkStatus();
}
template <class F, int kInputs = 1>
absl::Status RunIntegerOrBool(KernelContext& k) {
  const F f = MakeFunctor<F>(k);
  VisitIntegerOrBool(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
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
