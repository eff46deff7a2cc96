#ifndef FIRN_TENSOR_OPS_QUANTIZE_AFFINE_BODY_H_
#define FIRN_TENSOR_OPS_QUANTIZE_AFFINE_BODY_H_

// quantize_linear, dequantize_linear, fake_quantize and its gradient: a functor of an element, its
// scale and its zero point, and one walk for all. Elements are seen as [outer][channels][inner];
// with one scale for all there is one channel.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/ops/quantize/affine.h"
#include "firn/tensor/ops/quantize/levels_fn.h"

namespace firn {

// x rounded to a whole number.
template <class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T RoundTo(T x, bool away) {
  return away ? RoundAway(x) : std::nearbyint(x);
}

template <class T, class Q>
struct QuantizeElement {
  using In = T;
  using Out = Q;
  // f32 does not hold all numbers of i32.
  using Acc = std::conditional_t<sizeof(Q) == 4, double, T>;
  explicit QuantizeElement(const QuantizeAttrs& a)
      : away(a.round == RoundTies::kAway),
        low(static_cast<Acc>(std::numeric_limits<Q>::lowest()) + (a.narrow_range ? 1 : 0)),
        high(static_cast<Acc>(std::numeric_limits<Q>::max())) {}
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE Q operator()(T x, T scale, int32_t zero) const {
    const Acc steps = static_cast<Acc>(RoundTo(x / scale, away));
    const Acc whole = steps == steps ? steps : Acc(0);
    const Acc q = whole + static_cast<Acc>(zero);
    const Acc raised = q < low ? low : q;
    const Acc held = raised > high ? high : raised;
    return static_cast<Q>(static_cast<std::conditional_t<sizeof(Q) == 4, int64_t, int32_t>>(held));
  }
  bool away;
  Acc low, high;
};

template <class T, class Q>
struct DequantizeElement {
  using In = Q;
  using Out = T;
  explicit DequantizeElement(const DequantizeAttrs&) {}
  // The difference may leave i32. Doubles hold it too, and all registers convert them.
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T operator()(Q q, T scale, int32_t zero) const {
    return static_cast<T>(static_cast<double>(q) - static_cast<double>(zero)) * scale;
  }
};

template <class T>
struct FakeQuantizeElement {
  using In = T;
  using Out = T;
  explicit FakeQuantizeElement(const FakeQuantizeAttrs& a)
      : low(static_cast<T>(a.qmin)), high(static_cast<T>(a.qmax)) {}
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T operator()(T x, T scale, int32_t zero) const {
    const T z = static_cast<T>(zero), q = std::nearbyint(x / scale) + z;
    const T raised = q < low ? low : q;
    return ((raised > high ? high : raised) - z) * scale;
  }
  T low, high;
};

template <class T>
struct InRange {
  explicit InRange(const FakeQuantizeAttrs& a)
      : low(static_cast<T>(a.qmin)), high(static_cast<T>(a.qmax)) {}
  FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE bool operator()(T x, T scale, int32_t zero) const {
    const T q = std::nearbyint(x / scale) + static_cast<T>(zero);
    return (q >= low) & (q <= high);
  }
  T low, high;
};

// The channel of an element.
struct ScaleWalk {
  int64_t channels = 1, inner = 1;
  // Requires: scale is 0-d, or fits that dimension.
  ScaleWalk(const Shape& x, const Shape& scale, int64_t dim) {
    if (scale.rank() == 0) {
      inner = x.num_elements();
      return;
    }
    channels = scale[0];
    for (int i = static_cast<int>(dim) + 1; i < x.rank(); ++i) inner *= x[i];
  }
  FIRN_HOST_DEVICE int64_t Channel(int64_t i) const {
    if (channels == 1) return 0;
    i = Quotient(i, inner);
    return TakeDigit(i, channels);
  }
  // f(first, last, channel) for all elements from begin on up to end.
  template <class F>
  void ForEachRun(int64_t begin, int64_t end, const F& f) const {
    if (channels == 1) return f(begin, end, int64_t{0});
    ForEachRowOf(begin, end, inner, [&](int64_t row, int64_t first, int64_t last) {
      f(row * inner + first, row * inner + last, row % channels);
    });
  }
};

template <class Element, class T>
struct AffineBody {
  Element element;
  ScaleWalk walk;
  const typename Element::In* x;
  const T* scale;
  const int32_t* zero;
  typename Element::Out* y;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t c = walk.Channel(i);
    y[i] = element(x[i], scale[c], zero[c]);
  }
  void operator()(int64_t begin, int64_t end) const {
    walk.ForEachRun(begin, end, [&](int64_t first, int64_t last, int64_t c) {
      const T s = scale[c];
      const int32_t z = zero[c];
      FIRN_INDEPENDENT_STEPS
      for (int64_t i = first; i < last; ++i) y[i] = element(x[i], s, z);
    });
  }
};

template <class T>
struct FakeQuantizeGradBody {
  InRange<T> in_range;
  ScaleWalk walk;
  const T *dy, *x, *scale;
  const int32_t* zero;
  T* dx;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t c = walk.Channel(i);
    dx[i] = in_range(x[i], scale[c], zero[c]) ? dy[i] : T(0);
  }
  void operator()(int64_t begin, int64_t end) const {
    walk.ForEachRun(begin, end, [&](int64_t first, int64_t last, int64_t c) {
      const T s = scale[c];
      const int32_t z = zero[c];
      FIRN_INDEPENDENT_STEPS
      for (int64_t i = first; i < last; ++i) dx[i] = in_range(x[i], s, z) ? dy[i] : T(0);
    });
  }
};

// Calls f(TypeTag<T>()) for f32 and f64, and f(TypeTag<Q>()) for i8, u8 and i32.
template <class F>
absl::Status VisitScale(DType d, const F& f) {
  return d == DType::kF64 ? f(TypeTag<double>()) : f(TypeTag<float>());
}
template <class F>
absl::Status VisitLevels(DType d, const F& f) {
  if (d == DType::kI32) return f(TypeTag<int32_t>());
  return d == DType::kU8 ? f(TypeTag<uint8_t>()) : f(TypeTag<int8_t>());
}

// Element `Of` of a call whose x is input 0, and scale and zero point the two after it.
template <class Element, class T, class Attrs, class On>
absl::Status RunAffine(const On& on, KernelContext& k) {
  const Attrs& a = k.attrs<Attrs>();
  const ScaleWalk walk(k.in_spec(0).shape, k.in_spec(1).shape, a.dim);
  return on.ForEach(
      k.out_spec().num_elements(),
      AffineBody<Element, T>{Element(a), walk, k.in<typename Element::In>(0), k.in<T>(1),
                             k.in<int32_t>(2), k.out<typename Element::Out>()});
}

struct QuantizeKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitScale(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      return VisitLevels(k.out_spec().dtype, [&]<class Q>(TypeTag<Q>) {
        return RunAffine<QuantizeElement<T, Q>, T, QuantizeAttrs>(on, k);
      });
    });
  }
};
struct DequantizeKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitScale(k.in_spec(1).dtype, [&]<class T>(TypeTag<T>) {
      return VisitLevels(k.in_spec(0).dtype, [&]<class Q>(TypeTag<Q>) {
        return RunAffine<DequantizeElement<T, Q>, T, DequantizeAttrs>(on, k);
      });
    });
  }
};
struct FakeQuantizeKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitScale(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      return RunAffine<FakeQuantizeElement<T>, T, FakeQuantizeAttrs>(on, k);
    });
  }
};
struct FakeQuantizeGradKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitScale(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      const FakeQuantizeAttrs& a = k.attrs<FakeQuantizeAttrs>();
      const ScaleWalk walk(k.in_spec(1).shape, k.in_spec(2).shape, a.dim);
      return on.ForEach(k.out_spec().num_elements(),
                        FakeQuantizeGradBody<T>{InRange<T>(a), walk, k.in<T>(0), k.in<T>(1),
                                                k.in<T>(2), k.in<int32_t>(3), k.out<T>()});
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_QUANTIZE_AFFINE_BODY_H_
