#ifndef FIRN_TENSOR_KERNELS_REDUCERS_H_
#define FIRN_TENSOR_KERNELS_REDUCERS_H_

// Reducers: what a reduction computes, as scalars and for every device.
//
//   using Element = T;                      // the type of elements in the loops
//   using Acc = ...;                        // the type of partial results
//   Acc identity() const;                   // the result of no elements
//   Acc map(Element v) const;
//   Acc combine(Acc a, Acc b) const;        // associative and commutative
//   Element finish(Acc a, int64_t n) const; // of n elements; converted to the result's dtype
//   static constexpr Reduces kReduces;      // for what tensors, if it is all that an operation is
//   static constexpr bool kRare = true;     // optional: loops for the half types do not pay
//
// A reducer is a template, to be compiled for the few types that elements are computed in.

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/tensor/dtype.h"

namespace firn {

// The tensors that an operation with a reducer takes, and the dtype of its results.
enum class Reduces : uint8_t {
  kFloats,    // floating tensors; results have their dtype
  kNumbers,   // any tensors; the results of integers and bool are i64
  kExtremes,  // any tensors of at least one element; results have their dtype
  kTruth,     // any tensors, of which it only sees whether elements are not zero; results are bool
};

// The unsigned integer of T's width.
template <class T>
using BitsOf =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
// The type in which elements of T are compared: float for the half types, u8 for bool, else T.
template <class T>
using ComparedAs =
    std::conditional_t<std::is_same_v<T, bool>, uint8_t,
                       std::conditional_t<std::is_integral_v<T>, T, AccumulatorOf<T>>>;

// The type in which elements of T are read, and the type of the results.
template <Reduces kWhat, class T>
using ElementOf = std::conditional_t<
    kWhat == Reduces::kTruth, BitsOf<T>,
    std::conditional_t<kWhat == Reduces::kExtremes, ComparedAs<T>, AccumulatorOf<T>>>;
template <Reduces kWhat, class T>
using ReducedOf = std::conditional_t<
    kWhat == Reduces::kTruth, bool,
    std::conditional_t<kWhat == Reduces::kNumbers && std::is_integral_v<T>, int64_t, T>>;

template <class T>
struct SumReducer {
  using Element = T;
  using Acc = T;
  static constexpr Reduces kReduces = Reduces::kNumbers;
  FIRN_HOST_DEVICE Acc identity() const { return 0; }
  template <class In>
  FIRN_HOST_DEVICE Acc map(In v) const {
    return static_cast<Acc>(v);
  }
  FIRN_HOST_DEVICE Acc combine(Acc a, Acc b) const { return a + b; }
  FIRN_HOST_DEVICE T finish(Acc a, int64_t) const { return a; }
};

template <class T>
struct MeanReducer : SumReducer<T> {
  static constexpr Reduces kReduces = Reduces::kFloats;
  FIRN_HOST_DEVICE T finish(T a, int64_t n) const { return a / static_cast<T>(n); }
};

template <class T>
struct ProdReducer : SumReducer<T> {
  FIRN_HOST_DEVICE T identity() const { return 1; }
  FIRN_HOST_DEVICE T combine(T a, T b) const { return a * b; }
};

// The largest or the smallest element, NaN where there is one.
template <class T, bool kLargest>
struct ExtremeReducer : SumReducer<T> {
  using Limits = std::numeric_limits<T>;
  static constexpr Reduces kReduces = Reduces::kExtremes;
  FIRN_HOST_DEVICE T identity() const {
    if (Limits::has_infinity) return kLargest ? -Limits::infinity() : Limits::infinity();
    return kLargest ? Limits::lowest() : Limits::max();
  }
  FIRN_HOST_DEVICE T combine(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return (kLargest ? a >= b : a <= b) ? a : b;
    } else {  // selections, for vectors: no || and no branch
      const T extreme = (kLargest ? b > a : b < a) ? b : a;
      return b != b ? b : extreme;
    }
  }
};
template <class T>
using MaxReducer = ExtremeReducer<T, true>;
template <class T>
using MinReducer = ExtremeReducer<T, false>;

// Whether v replaces `best`, which comes before it: the comparison of argmax and argmin.
template <bool kLargest, class C>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE bool Beats(C v, C best) {
  return (kLargest ? v > best : v < best) || (v != v && best == best);
}
// An element and its place in its line.
template <class C>
struct Place {
  C value;
  int64_t index;
};

// Whether any element, or every one, is not 0. Elements are read as bits, T.
template <class T, bool kAny>
struct TruthReducer {
  using Element = T;
  using Acc = T;
  static constexpr Reduces kReduces = Reduces::kTruth;
  T mask = static_cast<T>(-1);  // the bits that count: all but the sign of -0.0
  FIRN_HOST_DEVICE T identity() const { return kAny ? T{0} : static_cast<T>(-1); }
  FIRN_HOST_DEVICE T map(T v) const { return static_cast<T>(v & mask); }
  FIRN_HOST_DEVICE T combine(T a, T b) const {
    return kAny ? static_cast<T>(a | b) : a <= b ? a : b;
  }
  FIRN_HOST_DEVICE bool finish(T a, int64_t) const { return a != 0; }
};
template <class T>
using AnyReducer = TruthReducer<T, true>;
template <class T>
using AllReducer = TruthReducer<T, false>;

// The reducer R for elements of T.
template <template <class> class R, class T>
FIRN_HOST_DEVICE auto ReducerFor() {
  constexpr Reduces kWhat = R<float>::kReduces;
  R<ElementOf<kWhat, T>> r;
  if constexpr (kWhat == Reduces::kTruth && !std::is_integral_v<T>)
    r.mask = static_cast<decltype(r.mask)>(r.mask / 2);
  return r;
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_REDUCERS_H_
