#ifndef FIRN_TENSOR_KERNELS_REDUCERS_H_
#define FIRN_TENSOR_KERNELS_REDUCERS_H_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "device/inner.h"
#include "device/macros.h"
#include "tensor/dtype.h"

namespace firn {

// The reducers that operations share. See cpu/reduce.h for what a reducer is.

template <class AccT>
struct SumReducer {
  using Acc = AccT;
  FIRN_HOST_DEVICE Acc identity() const { return 0; }
  template <class In>
  FIRN_HOST_DEVICE Acc map(In v) const {
    return static_cast<Acc>(v);
  }
  FIRN_HOST_DEVICE Acc combine(Acc a, Acc b) const { return a + b; }
  template <class Out>
  FIRN_HOST_DEVICE Out finish(Acc a) const {
    return static_cast<Out>(a);
  }
};

template <class AccT>
struct ProdReducer {
  using Acc = AccT;
  FIRN_HOST_DEVICE Acc identity() const { return 1; }
  template <class In>
  FIRN_HOST_DEVICE Acc map(In v) const {
    return static_cast<Acc>(v);
  }
  FIRN_HOST_DEVICE Acc combine(Acc a, Acc b) const { return a * b; }
  template <class Out>
  FIRN_HOST_DEVICE Out finish(Acc a) const {
    return static_cast<Out>(a);
  }
};

// In what elements of T are compared: float for the half types, u8 for bool, else T.
template <class T>
using ComparedAs =
    std::conditional_t<std::is_same_v<T, bool>, uint8_t,
                       std::conditional_t<std::is_integral_v<T>, T, AccumulatorOf<T>>>;

// The largest or the smallest element, NaN where there is one.
template <class AccT, bool kLargest>
struct ExtremeReducer {
  using Acc = AccT;
  using Limits = std::numeric_limits<Acc>;
  FIRN_HOST_DEVICE Acc identity() const {
    if (Limits::has_infinity) return kLargest ? -Limits::infinity() : Limits::infinity();
    return kLargest ? Limits::lowest() : Limits::max();
  }
  template <class In>
  FIRN_HOST_DEVICE Acc map(In v) const {
    return static_cast<Acc>(v);
  }
  FIRN_HOST_DEVICE Acc combine(Acc a, Acc b) const {
    return (kLargest ? a >= b : a <= b) || a != a ? a : b;
  }
  template <class Out>
  FIRN_HOST_DEVICE Out finish(Acc a) const {
    return static_cast<Out>(a);
  }
};

// Whether v takes the place of `best`, which stands before it: what argmax and argmin compare.
template <bool kLargest, class C>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE bool Beats(C v, C best) {
  return (kLargest ? v > best : v < best) || (v != v && best == best);
}
// An element and where it stands in its line.
template <class C>
struct Place {
  C value;
  int64_t index;
};

// Whether any element, or every one, is not zero.
template <bool kAny>
struct TruthReducer {
  using Acc = uint8_t;
  FIRN_HOST_DEVICE Acc identity() const { return kAny ? 0 : 1; }
  template <class In>
  FIRN_HOST_DEVICE Acc map(In v) const {
    return v != static_cast<In>(0) ? 1 : 0;
  }
  FIRN_HOST_DEVICE Acc combine(Acc a, Acc b) const {
    return static_cast<Acc>(kAny ? a | b : a & b);
  }
  template <class Out>
  FIRN_HOST_DEVICE Out finish(Acc a) const {
    return a != 0;
  }
};
using AnyReducer = TruthReducer<true>;
using AllReducer = TruthReducer<false>;

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_REDUCERS_H_
