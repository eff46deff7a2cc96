#ifndef FIRN_TENSOR_OPS_CONV_UNFOLD_BODY_H_
#define FIRN_TENSOR_OPS_CONV_UNFOLD_BODY_H_

// unfold computes an element of a column at a time. fold computes an element of the image at a
// time, which gathers the windows that hold it in the order of their taps, so that no two threads
// add to one element.
//
// Columns are [planes][taps][windows], images [planes][d][h][w], a plane a channel.

#include <algorithm>

#include "firn/tensor/kernels/conv_axis.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/ops/conv/unfold.h"
#include "firn/tensor/problems/images.h"

namespace firn {

namespace inner {
// How many windows lie in each dimension of an image, or the error in the options.
absl::StatusOr<Sizes> UnfoldedWindows(const Sizes& image, const UnfoldAttrs& a);
}  // namespace inner

// The windows of images of up to three dimensions, written as three.
struct UnfoldAxes {
  UnfoldAxes(const Sizes& image, const Sizes& windows, const UnfoldAttrs& a) {
    ConvAxis* const axes[] = {&w, &h, &d};
    for (int i = 0; i < image.count(); ++i) {
      *axes[image.count() - 1 - i] = {image[i],    windows[i],   a.kernel[i],
                                      a.stride[i], a.padding[i], a.dilation[i]};
    }
  }
  FIRN_HOST_DEVICE int64_t image() const { return d.in * h.in * w.in; }
  FIRN_HOST_DEVICE int64_t windows() const { return d.out * h.out * w.out; }
  FIRN_HOST_DEVICE int64_t taps() const { return d.kernel * h.kernel * w.kernel; }

  ConvAxis d, h, w;
};

template <class T>
struct UnfoldBody {
  UnfoldAxes s;
  const T* x;
  T* y;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t row = i;
    const int64_t window = TakeDigit(row, s.w.out);
    int64_t column = 0;
    const T* from = Row(row, column);
    const int64_t at = s.w.Input(window, column);
    y[i] = from != nullptr && at >= 0 ? from[at] : T(0);
  }
  void operator()(int64_t begin, int64_t end) const {
    ForEachRowOf(begin, end, s.w.out, [&](int64_t row, int64_t first, int64_t last) {
      int64_t column = 0;
      const T* from = Row(row, column);
      const ConvAxis::Outputs met =
          from == nullptr ? ConvAxis::Outputs{0, 0} : s.w.OutputsOf(0, s.w.in, column);
      const int64_t low = std::clamp(met.begin, first, last), high = std::clamp(met.end, low, last);
      T* const to = y + row * s.w.out;
      std::fill(to + first, to + low, T(0));
      std::fill(to + high, to + last, T(0));
      const int64_t start = column * s.w.dilation - s.w.padding;
      if (s.w.stride == 1) {
        if (low < high) std::copy_n(from + (start + low), high - low, to + low);
      } else {
        for (int64_t o = low; o < high; ++o) to[o] = from[start + o * s.w.stride];
      }
    });
  }
  int64_t cost() const { return 2; }

 private:
  // The data of a row of windows for one tap: a row of the image, null in the padding, and the
  // tap's column.
  FIRN_HOST_DEVICE const T* Row(int64_t row, int64_t& column) const {
    const int64_t oh = TakeDigit(row, s.h.out), od = TakeDigit(row, s.d.out);
    const ConvPlace tap = TakePlace(row, s.d.kernel, s.h.kernel, s.w.kernel);
    column = tap.w;
    const int64_t id = s.d.Input(od, tap.d), ih = s.h.Input(oh, tap.h);
    if (id < 0 || ih < 0) return nullptr;
    return x + ((row * s.d.in + id) * s.h.in + ih) * s.w.in;
  }
};

template <class T>
struct FoldBody {
  UnfoldAxes s;
  const T* x;
  T* y;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t plane = i;
    const ConvPlace at = TakePlace(plane, s.d.in, s.h.in, s.w.in);
    const T* from = x + plane * s.taps() * s.windows();
    AccumulatorOf<T> sum = 0;
    for (int64_t t = 0; t < s.d.kernel; ++t) {
      const int64_t od = s.d.Output(at.d, t);
      if (od < 0) continue;
      for (int64_t u = 0; u < s.h.kernel; ++u) {
        const int64_t oh = s.h.Output(at.h, u);
        if (oh < 0) continue;
        for (int64_t v = 0; v < s.w.kernel; ++v) {
          const int64_t ow = s.w.Output(at.w, v);
          if (ow < 0) continue;
          const int64_t tap = (t * s.h.kernel + u) * s.w.kernel + v;
          const int64_t window = (od * s.h.out + oh) * s.w.out + ow;
          sum += static_cast<AccumulatorOf<T>>(from[tap * s.windows() + window]);
        }
      }
    }
    y[i] = static_cast<T>(sum);
  }
  int64_t cost() const { return s.taps() + 1; }
};

template <template <class> class Body, class On>
absl::Status RunUnfolding(const On& on, KernelContext& k, const Sizes& image,
                          const Sizes& windows) {
  const UnfoldAxes axes(image, windows, k.attrs<UnfoldAttrs>());
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return on.ForEach(k.out_spec().num_elements(), Body<T>{axes, k.in<T>(0), k.out<T>()});
  });
}

struct UnfoldKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const Sizes image = ImageOf(k.in_spec(0).shape);
    return RunUnfolding<UnfoldBody>(on, k, image, *UnfoldedWindows(image, k.attrs<UnfoldAttrs>()));
  }
};
struct FoldKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const Sizes image = ImageOf(k.out_spec().shape);
    return RunUnfolding<FoldBody>(on, k, image, *UnfoldedWindows(image, k.attrs<UnfoldAttrs>()));
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CONV_UNFOLD_BODY_H_
