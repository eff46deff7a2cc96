#ifndef FIRN_TENSOR_OPS_VISION_NMS_BODY_H_
#define FIRN_TENSOR_OPS_VISION_NMS_BODY_H_

// Greedy suppression of a line of boxes by one thread: a step depends on all before it. Lines go
// side by side. The CPU has nms_cpu_body.h, with the same results.

#include <cstdint>

#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/ops/vision/nms.h"

namespace firn {

template <class T>
struct NmsMaskBody {
  int64_t n;
  T threshold;
  bool by_kept;
  const T* boxes;
  const bool* candidates;
  const int64_t* groups;  // null: one
  bool* keep;

  FIRN_HOST_DEVICE static T Side(T low, T high) { return high > low ? high - low : T(0); }
  FIRN_HOST_DEVICE static T Area(const T* b) { return Side(b[0], b[2]) * Side(b[1], b[3]); }
  FIRN_HOST_DEVICE static bool Overlap(const T* a, const T* b, T threshold) {
    const T first = Area(a), second = Area(b);
    if (!(first > 0 && second > 0)) return false;  // no numbers among them, too
    const T common = Side(a[0] > b[0] ? a[0] : b[0], a[2] < b[2] ? a[2] : b[2]) *
                     Side(a[1] > b[1] ? a[1] : b[1], a[3] < b[3] ? a[3] : b[3]);
    return common > 0 && common / (first + second - common) > threshold;
  }

  FIRN_HOST_DEVICE void operator()(int64_t line) const {
    const T* const box = boxes + line * n * 4;
    const bool* const candidate = candidates + line * n;
    const int64_t* const group = groups == nullptr ? nullptr : groups + line * n;
    bool* const kept = keep + line * n;
    for (int64_t i = 0; i < n; ++i) kept[i] = candidate[i];
    for (int64_t i = 0; i < n; ++i) {
      if (by_kept ? !kept[i] : !candidate[i]) continue;
      for (int64_t j = i + 1; j < n; ++j) {
        if (!kept[j] || (group != nullptr && group[i] != group[j])) continue;
        if (Overlap(box + 4 * i, box + 4 * j, threshold)) kept[j] = false;
      }
    }
  }
  int64_t cost() const { return 4 * n * n; }
};

struct NmsMaskKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const NmsMaskAttrs& a = k.attrs<NmsMaskAttrs>();
    const Shape& shape = k.in_spec(1).shape;
    if (shape.num_elements() == 0) return absl::OkStatus();
    const int64_t n = shape[shape.rank() - 1];
    const auto run = [&]<class T>(TypeTag<T>) {
      return on.ForEach(shape.num_elements() / n,
                        NmsMaskBody<T>{n, static_cast<T>(a.iou_threshold), a.by_kept, k.in<T>(0),
                                       k.in<bool>(1), k.in<int64_t>(2), k.out<bool>()});
    };
    return k.in_spec(0).dtype == DType::kF64 ? run(TypeTag<double>()) : run(TypeTag<float>());
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_NMS_BODY_H_
