#ifndef FIRN_TENSOR_OPS_VISION_ROI_POOL_BODY_H_
#define FIRN_TENSOR_OPS_VISION_ROI_POOL_BODY_H_

#include <cmath>
#include <cstdint>

#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/ops/vision/roi_pool.h"

namespace firn {

// The elements [begin, end) of one dimension that a bin holds.
struct RoiRange {
  // Far beyond any image, and small enough for what is added to it.
  template <class T>
  FIRN_HOST_DEVICE static int64_t Rounded(T v) {
    constexpr T kFar = T(1e9);
    return v >= -kFar ? static_cast<int64_t>(v < kFar ? std::round(v) : kFar)
                      : static_cast<int64_t>(-kFar);
  }
  template <class T>
  FIRN_HOST_DEVICE RoiRange(T from, T to, int64_t bin, int64_t bins, int64_t size) {
    const int64_t first = Rounded(from);
    int64_t length = Rounded(to) - first + 1;
    if (length < 1) length = 1;
    const T width = static_cast<T>(length) / static_cast<T>(bins);
    begin = Held(first + static_cast<int64_t>(std::floor(static_cast<T>(bin) * width)), size);
    end = Held(first + static_cast<int64_t>(std::ceil(static_cast<T>(bin + 1) * width)), size);
    if (from != from || to != to) end = begin;
  }
  FIRN_HOST_DEVICE static int64_t Held(int64_t i, int64_t size) {
    return i < 0 ? 0 : i > size ? size : i;
  }
  int64_t begin, end;
};

// y and where in x its element lies; behind all of x where there is none.
template <class T>
struct RoiPoolBody {
  int64_t n, c, h, w, bins_h, bins_w;
  T scale;
  const T *x, *boxes;
  T* y;
  int64_t* indices;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t k = i;
    const int64_t bin_w = TakeDigit(k, bins_w), bin_h = TakeDigit(k, bins_h);
    const int64_t channel = TakeDigit(k, c);
    const T* const box = boxes + 5 * k;
    y[i] = 0;
    indices[i] = n * c * h * w;
    if (!(box[0] >= 0 && box[0] < static_cast<T>(n))) return;
    const RoiRange rows(box[2] * scale, box[4] * scale, bin_h, bins_h, h);
    const RoiRange columns(box[1] * scale, box[3] * scale, bin_w, bins_w, w);
    const int64_t plane = (static_cast<int64_t>(box[0]) * c + channel) * h * w;
    bool any = false;
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      for (int64_t column = columns.begin; column < columns.end; ++column) {
        const int64_t e = plane + row * w + column;
        if (any && !(x[e] > y[i] || (x[e] != x[e] && y[i] == y[i]))) continue;
        any = true;
        y[i] = x[e];
        indices[i] = e;
      }
    }
  }
  int64_t cost() const { return 16 + h * w / (bins_h * bins_w); }
};

struct RoiPoolKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const RoiPoolAttrs& a = k.attrs<RoiPoolAttrs>();
    const Shape& x = k.in_spec(0).shape;
    const int64_t count = k.out_spec().num_elements();
    if (count == 0) return absl::OkStatus();
    const auto run = [&]<class T>(TypeTag<T>) {
      return on.ForEach(count,
                        RoiPoolBody<T>{x[0], x[1], x[2], x[3], a.output_size[0], a.output_size[1],
                                       static_cast<T>(a.spatial_scale), k.in<T>(0), k.in<T>(1),
                                       k.out<T>(0), k.out<int64_t>(1)});
    };
    return k.in_spec(0).dtype == DType::kF64 ? run(TypeTag<double>()) : run(TypeTag<float>());
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_ROI_POOL_BODY_H_
