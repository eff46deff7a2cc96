#ifndef FIRN_TENSOR_OPS_VISION_ROI_ALIGN_BODY_H_
#define FIRN_TENSOR_OPS_VISION_ROI_ALIGN_BODY_H_

// A bin's samples lie on a grid; each is made of four elements. The forward pass goes through
// results, the gradient through planes of x, each with all boxes of its sample, so that no two
// threads add to one sum.

#include <cmath>
#include <cstdint>

#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/ops/vision/roi_align.h"

namespace firn {

constexpr int64_t kMostRoiSamples = 1024;  // along a side of a bin

// The sample of x that a box names, or -1. Also for what is not a number.
template <class T>
FIRN_HOST_DEVICE int64_t RoiSample(const T* box, int64_t n) {
  return box[0] >= 0 && box[0] < static_cast<T>(n) ? static_cast<int64_t>(box[0]) : -1;
}

// The samples of one bin along one dimension.
template <class T>
struct RoiSide {
  FIRN_HOST_DEVICE RoiSide(const RoiAlignAttrs& a, T from, T to, int64_t bin, int64_t bins)
      : count(a.sampling_ratio) {
    const T scale = static_cast<T>(a.spatial_scale), offset = a.aligned ? T(0.5) : T(0);
    first = from * scale - offset;
    T length = (to * scale - offset) - first;
    if (!a.aligned && length < 1) length = 1;
    step = length / static_cast<T>(bins);
    if (count <= 0) {
      const T covered = std::ceil(step);
      count = covered >= static_cast<T>(kMostRoiSamples) ? kMostRoiSamples
              : covered > 0                              ? static_cast<int64_t>(covered)
                                                         : 0;
    }
    first += static_cast<T>(bin) * step;
    if (count > 0) step /= static_cast<T>(count);
  }
  // The two elements of `size` around sample i, and the share of the second; false: outside.
  FIRN_HOST_DEVICE bool Taps(int64_t i, int64_t size, int64_t& low, int64_t& high, T& part) const {
    T place = first + (static_cast<T>(i) + T(0.5)) * step;
    if (!(place >= -1 && place <= static_cast<T>(size))) return false;
    if (place < 0) place = 0;
    low = static_cast<int64_t>(place);
    high = low + 1;
    part = place - static_cast<T>(low);
    if (low >= size - 1) {
      low = high = size - 1;
      part = 0;
    }
    return true;
  }

  T first, step;
  int64_t count;
};

template <class T>
struct RoiAlignShape {
  RoiAlignShape(const Shape& x, const Shape& boxes, const RoiAlignAttrs& attrs)
      : n(x[0]), c(x[1]), h(x[2]), w(x[3]), k(boxes[0]), a(attrs) {
    bins_h = a.output_size[0];
    bins_w = a.output_size[1];
  }
  // Calls f(element of the plane, weight) for all that a bin's mean is made of.
  template <class F>
  FIRN_HOST_DEVICE void ForEach(const T* box, int64_t bin_h, int64_t bin_w, const F& f) const {
    const RoiSide<T> ys(a, box[2], box[4], bin_h, bins_h), xs(a, box[1], box[3], bin_w, bins_w);
    if (ys.count == 0 || xs.count == 0) return;
    const T unit = T(1) / static_cast<T>(ys.count * xs.count);
    int64_t top = 0, bottom = 0, left = 0, right = 0;
    T v = 0, u = 0;
    for (int64_t i = 0; i < ys.count; ++i) {
      if (!ys.Taps(i, h, top, bottom, v)) continue;
      for (int64_t j = 0; j < xs.count; ++j) {
        if (!xs.Taps(j, w, left, right, u)) continue;
        f(top * w + left, (1 - v) * (1 - u) * unit);
        f(top * w + right, (1 - v) * u * unit);
        f(bottom * w + left, v * (1 - u) * unit);
        f(bottom * w + right, v * u * unit);
      }
    }
  }
  FIRN_HOST_DEVICE int64_t bins() const { return bins_h * bins_w; }

  int64_t n, c, h, w, k, bins_h, bins_w;
  RoiAlignAttrs a;
};

template <class T>
struct RoiAlignBody {
  RoiAlignShape<T> s;
  const T *x, *boxes;
  T* y;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t box = i;
    const int64_t bin_w = TakeDigit(box, s.bins_w), bin_h = TakeDigit(box, s.bins_h);
    const int64_t c = TakeDigit(box, s.c);
    const int64_t sample = RoiSample(boxes + 5 * box, s.n);
    T sum = 0;
    if (sample >= 0) {
      const T* const plane = x + (sample * s.c + c) * s.h * s.w;
      s.ForEach(boxes + 5 * box, bin_h, bin_w, [&](int64_t e, T w) { sum += w * plane[e]; });
    }
    y[i] = sum;
  }
  int64_t cost() const { return 64; }
};

template <class T>
struct RoiAlignGradBody {
  RoiAlignShape<T> s;
  const T *dy, *boxes;
  T* dx;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t sample = i;
    const int64_t c = TakeDigit(sample, s.c);
    T* const plane = dx + i * s.h * s.w;
    for (int64_t e = 0; e < s.h * s.w; ++e) plane[e] = 0;
    for (int64_t box = 0; box < s.k; ++box) {
      if (RoiSample(boxes + 5 * box, s.n) != sample) continue;
      const T* const from = dy + (box * s.c + c) * s.bins();
      for (int64_t bin = 0; bin < s.bins(); ++bin) {
        s.ForEach(boxes + 5 * box, bin / s.bins_w, bin % s.bins_w,
                  [&](int64_t e, T w) { plane[e] += w * from[bin]; });
      }
    }
  }
  int64_t cost() const { return s.h * s.w + 64 * s.bins() * s.k / (s.n > 0 ? s.n : 1); }
};

template <class F>
absl::Status VisitRoi(DType d, const F& f) {
  return d == DType::kF64 ? f(TypeTag<double>()) : f(TypeTag<float>());
}

struct RoiAlignKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    if (k.out_spec().num_elements() == 0) return absl::OkStatus();
    return VisitRoi(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      const RoiAlignShape<T> s(k.in_spec(0).shape, k.in_spec(1).shape, k.attrs<RoiAlignAttrs>());
      return on.ForEach(k.out_spec().num_elements(),
                        RoiAlignBody<T>{s, k.in<T>(0), k.in<T>(1), k.out<T>()});
    });
  }
};

struct RoiAlignGradKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    if (k.out_spec().num_elements() == 0) return absl::OkStatus();
    return VisitRoi(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      const RoiAlignShape<T> s(k.out_spec().shape, k.in_spec(1).shape,
                               k.attrs<RoiAlignGradAttrs>());
      return on.ForEach(s.n * s.c, RoiAlignGradBody<T>{s, k.in<T>(0), k.in<T>(1), k.out<T>()});
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_ROI_ALIGN_BODY_H_
