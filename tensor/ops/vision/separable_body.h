#ifndef FIRN_TENSOR_OPS_VISION_SEPARABLE_BODY_H_
#define FIRN_TENSOR_OPS_VISION_SEPARABLE_BODY_H_

// Every pass gathers: y and the gradients to kernels go through the elements of a window, the
// gradient to x through the windows that hold an element.

#include <cstdint>

#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/ops/vision/separable.h"

namespace firn {

struct SeparableShape {
  SeparableShape(const Shape& x, const Shape& vertical, const Shape& horizontal)
      : c(x[1]),
        h(x[2]),
        w(x[3]),
        kv(vertical[1]),
        kh(horizontal[1]),
        oh(vertical[2]),
        ow(vertical[3]) {}
  FIRN_HOST_DEVICE int64_t places() const { return oh * ow; }
  int64_t c, h, w, kv, kh, oh, ow;
};

template <class T>
struct SeparableBody {
  SeparableShape s;
  const T *x, *vertical, *horizontal;
  T* y;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t plane = i;
    const int64_t column = TakeDigit(plane, s.ow), row = TakeDigit(plane, s.oh);
    const int64_t sample = plane / s.c, at = row * s.ow + column;
    const T* const v = vertical + sample * s.kv * s.places() + at;
    const T* const h = horizontal + sample * s.kh * s.places() + at;
    const T* const from = x + (plane * s.h + row) * s.w + column;
    T sum = 0;
    for (int64_t a = 0; a < s.kv; ++a) {
      T line = 0;
      for (int64_t b = 0; b < s.kh; ++b) line += h[b * s.places()] * from[a * s.w + b];
      sum += v[a * s.places()] * line;
    }
    y[i] = sum;
  }
  int64_t cost() const { return 2 * s.kv * s.kh; }
};

template <class T>
struct SeparableImageGradBody {
  SeparableShape s;
  const T *dy, *vertical, *horizontal;
  T* dx;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t plane = i;
    const int64_t column = TakeDigit(plane, s.w), row = TakeDigit(plane, s.h);
    const int64_t sample = plane / s.c;
    const T* const v = vertical + sample * s.kv * s.places();
    const T* const h = horizontal + sample * s.kh * s.places();
    const T* const from = dy + plane * s.places();
    T sum = 0;
    for (int64_t a = 0; a < s.kv; ++a) {
      const int64_t out_row = row - a;
      if (out_row < 0 || out_row >= s.oh) continue;
      for (int64_t b = 0; b < s.kh; ++b) {
        const int64_t out_column = column - b;
        if (out_column < 0 || out_column >= s.ow) continue;
        const int64_t at = out_row * s.ow + out_column;
        sum += v[a * s.places() + at] * h[b * s.places() + at] * from[at];
      }
    }
    dx[i] = sum;
  }
  int64_t cost() const { return 3 * s.kv * s.kh; }
};

// The gradient to vertical kernels, of the horizontal ones, or the other way round.
template <class T, bool kVertical>
struct SeparableKernelGradBody {
  SeparableShape s;
  const T *dy, *x, *other;
  T* grad;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t taps = kVertical ? s.kv : s.kh, others = kVertical ? s.kh : s.kv;
    const int64_t step = kVertical ? 1 : s.w;
    int64_t sample = i;
    const int64_t column = TakeDigit(sample, s.ow), row = TakeDigit(sample, s.oh);
    const int64_t tap = TakeDigit(sample, taps), at = row * s.ow + column;
    const int64_t first = (row + (kVertical ? tap : 0)) * s.w + column + (kVertical ? 0 : tap);
    const T* const weights = other + sample * others * s.places() + at;
    T sum = 0;
    for (int64_t c = sample * s.c; c < (sample + 1) * s.c; ++c) {
      const T* const from = x + c * s.h * s.w + first;
      T line = 0;
      for (int64_t b = 0; b < others; ++b) line += weights[b * s.places()] * from[b * step];
      sum += dy[c * s.places() + at] * line;
    }
    grad[i] = sum;
  }
  int64_t cost() const { return 2 * s.c * (kVertical ? s.kh : s.kv); }
};

template <class F>
absl::Status VisitSeparable(DType d, const F& f) {
  return d == DType::kF64 ? f(TypeTag<double>()) : f(TypeTag<float>());
}

struct SeparableKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    if (k.out_spec().num_elements() == 0) return absl::OkStatus();
    return VisitSeparable(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      const SeparableShape s(k.in_spec(0).shape, k.in_spec(1).shape, k.in_spec(2).shape);
      return on.ForEach(k.out_spec().num_elements(),
                        SeparableBody<T>{s, k.in<T>(0), k.in<T>(1), k.in<T>(2), k.out<T>()});
    });
  }
};

struct SeparableGradKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    return VisitSeparable(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
      const SeparableShape s(k.in_spec(1).shape, k.in_spec(2).shape, k.in_spec(3).shape);
      const T *dy = k.in<T>(0), *x = k.in<T>(1), *vertical = k.in<T>(2), *horizontal = k.in<T>(3);
      const auto run = [&](int result, const auto& body) {
        const int64_t size = k.out_spec(result).num_elements();
        return size == 0 ? absl::OkStatus() : on.ForEach(size, body);
      };
      FIRN_RETURN_IF_ERROR(
          run(0, SeparableImageGradBody<T>{s, dy, vertical, horizontal, k.out<T>(0)}));
      FIRN_RETURN_IF_ERROR(
          run(1, SeparableKernelGradBody<T, true>{s, dy, x, horizontal, k.out<T>(1)}));
      return run(2, SeparableKernelGradBody<T, false>{s, dy, x, vertical, k.out<T>(2)});
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_SEPARABLE_BODY_H_
