#ifndef FIRN_TENSOR_OPS_VISION_PATCH_CORRELATION_BODY_H_
#define FIRN_TENSOR_OPS_VISION_PATCH_CORRELATION_BODY_H_

// Every pass gathers: results go through the elements of their patches, gradients through the
// patches that an element belongs to.

#include <cstdint>

#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/ops/vision/patch_correlation.h"

namespace firn {

// One dimension of x1 and x2.
struct CorrelationSide {
  CorrelationSide(const PatchCorrelationOptions& o, int dim, int64_t of)
      : size(of),
        patch(o.patch[dim]),
        shift(o.shift[dim]),
        patch_step(o.patch_step[dim]),
        shift_step(o.shift_step[dim]),
        padding(o.padding[dim]),
        shifts(2 * shift / shift_step + 1),
        places((size + 2 * padding - patch) / patch_step + 1) {}
  FIRN_HOST_DEVICE bool Inside(int64_t i) const { return i >= 0 && i < size; }
  FIRN_HOST_DEVICE int64_t Shift(int64_t i) const { return i * shift_step - shift; }
  // The part of a patch from `begin` on that lies inside, and inside when moved by `shifted`.
  FIRN_HOST_DEVICE int64_t Begin(int64_t begin, int64_t shifted) const {
    const int64_t first = shifted < 0 ? -shifted : 0;
    return begin > first ? begin : first;
  }
  FIRN_HOST_DEVICE int64_t End(int64_t begin, int64_t shifted) const {
    const int64_t end = begin + patch, last = shifted > 0 ? size - shifted : size;
    return end < last ? end : last;
  }
  // The places whose patches hold element e of x1: [first, last].
  FIRN_HOST_DEVICE int64_t FirstPlace(int64_t e) const {
    const int64_t past = e + padding - patch;
    return past < 0 ? 0 : past / patch_step + 1;
  }
  FIRN_HOST_DEVICE int64_t LastPlace(int64_t e) const {
    const int64_t last = (e + padding) / patch_step;
    return last < places ? last : places - 1;
  }

  // How many elements a patch has inside, at most.
  int64_t reach() const { return patch < size ? patch : size; }

  int64_t size, patch, shift, patch_step, shift_step, padding, shifts, places;
};

struct CorrelationShape {
  CorrelationShape(const Shape& x, const PatchCorrelationOptions& o)
      : n(x[0]), c(x[1]), h(o, 0, x[2]), w(o, 1, x[3]) {}
  FIRN_HOST_DEVICE int64_t plane() const { return h.size * w.size; }
  int64_t n, c;
  CorrelationSide h, w;
};

template <class T>
struct PatchCorrelationBody {
  CorrelationShape s;
  const T *x1, *x2;
  T* y;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t sample = i;
    const int64_t left = TakeDigit(sample, s.w.places) * s.w.patch_step - s.w.padding;
    const int64_t top = TakeDigit(sample, s.h.places) * s.h.patch_step - s.h.padding;
    const int64_t across = s.w.Shift(TakeDigit(sample, s.w.shifts));
    const int64_t down = s.h.Shift(TakeDigit(sample, s.h.shifts));
    T sum = 0;
    const int64_t end = s.h.End(top, down), right = s.w.End(left, across);
    for (int64_t row = s.h.Begin(top, down); row < end; ++row) {
      for (int64_t column = s.w.Begin(left, across); column < right; ++column) {
        const T* const a = x1 + sample * s.c * s.plane() + row * s.w.size + column;
        const T* const b =
            x2 + sample * s.c * s.plane() + (row + down) * s.w.size + column + across;
        for (int64_t c = 0; c < s.c; ++c) sum += a[c * s.plane()] * b[c * s.plane()];
      }
    }
    y[i] = sum;
  }
  int64_t cost() const { return 2 * s.c * s.h.reach() * s.w.reach() + 1; }
};

// The gradient to x1, of x2 (kSign = 1); or that to x2, of x1 (kSign = -1), where shifts go the
// other way and the patches are those around the element of x1.
template <class T, int kSign>
struct CorrelationGradBody {
  CorrelationShape s;
  const T *dy, *other;
  T* dx;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t plane = i;
    const int64_t column = TakeDigit(plane, s.w.size), row = TakeDigit(plane, s.h.size);
    const T* const from = other + plane * s.plane();
    const int64_t sample = plane / s.c;
    T sum = 0;
    for (int64_t v = 0; v < s.h.shifts; ++v) {
      const int64_t met_row = row + kSign * s.h.Shift(v);
      if (!s.h.Inside(met_row)) continue;
      for (int64_t u = 0; u < s.w.shifts; ++u) {
        const int64_t met_column = column + kSign * s.w.Shift(u);
        if (!s.w.Inside(met_column)) continue;
        const T* const places =
            dy + ((sample * s.h.shifts + v) * s.w.shifts + u) * s.h.places * s.w.places;
        const T flow = kSign > 0 ? Flow(places, row, column) : Flow(places, met_row, met_column);
        sum += flow * from[met_row * s.w.size + met_column];
      }
    }
    dx[i] = sum;
  }
  int64_t cost() const { return 2 * s.h.shifts * s.w.shifts * s.h.reach() * s.w.reach(); }

 private:
  // The gradient of an element of x1 from all of its patches at one shift.
  FIRN_HOST_DEVICE T Flow(const T* places, int64_t row, int64_t column) const {
    const int64_t end = s.h.LastPlace(row), last = s.w.LastPlace(column);
    T flow = 0;
    for (int64_t i = s.h.FirstPlace(row); i <= end; ++i) {
      for (int64_t j = s.w.FirstPlace(column); j <= last; ++j) flow += places[i * s.w.places + j];
    }
    return flow;
  }
};

template <class F>
absl::Status VisitCorrelated(DType d, const F& f) {
  return d == DType::kF64 ? f(TypeTag<double>()) : f(TypeTag<float>());
}

struct PatchCorrelationKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    if (k.out_spec().num_elements() == 0) return absl::OkStatus();
    return VisitCorrelated(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      const CorrelationShape s(k.in_spec(0).shape, k.attrs<PatchCorrelationAttrs>());
      return on.ForEach(k.out_spec().num_elements(),
                        PatchCorrelationBody<T>{s, k.in<T>(0), k.in<T>(1), k.out<T>()});
    });
  }
};

struct PatchCorrelationGradKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const int64_t size = k.out_spec().num_elements();
    if (size == 0) return absl::OkStatus();
    return VisitCorrelated(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
      const CorrelationShape s(k.in_spec(1).shape, k.attrs<PatchCorrelationAttrs>());
      FIRN_RETURN_IF_ERROR(
          on.ForEach(size, CorrelationGradBody<T, 1>{s, k.in<T>(0), k.in<T>(2), k.out<T>(0)}));
      return on.ForEach(size, CorrelationGradBody<T, -1>{s, k.in<T>(0), k.in<T>(1), k.out<T>(1)});
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_PATCH_CORRELATION_BODY_H_
