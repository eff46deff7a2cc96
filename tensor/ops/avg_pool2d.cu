// avg_pool2d, an output a thread, and its gradient, where each element of the image gathers the
// windows that hold it in their order.
#include "tensor/kernels/cuda/divide.cuh"
#include "tensor/kernels/cuda/for_each.cuh"
#include "tensor/pool.h"

namespace firn::avg_pool2d_cuda {
namespace {

struct Axis {
  int64_t in, out, kernel, stride, padding, adaptive;

  FIRN_HOST_DEVICE PoolSpan Window(int64_t o) const {
    return PoolWindow(o, in, kernel, stride, padding, 1, adaptive);
  }
  // The windows that hold position i: from `begin` up to `end`.
  struct Windows {
    int64_t begin, end;
  };
  FIRN_HOST_DEVICE Windows Holding(int64_t i) const {
    if (adaptive != 0) return {i * adaptive / in, ((i + 1) * adaptive + in - 1) / in};
    const int64_t skipped = i + padding - kernel + 1;  // the first window starts no later
    const int64_t end = (i + padding) / stride + 1;
    return {skipped <= 0 ? 0 : (skipped + stride - 1) / stride, end < out ? end : out};
  }
};

struct Windows {
  Windows(Size2 in, Size2 out, const PoolAttrs& a)
      : h{in.h, out.h, a.kernel.h, a.stride.h, a.padding.h, a.adaptive.h},
        w{in.w, out.w, a.kernel.w, a.stride.w, a.padding.w, a.adaptive.w},
        divisor_override(a.divisor_override),
        count_include_pad(a.count_include_pad) {}

  Axis h, w;
  int64_t divisor_override;
  bool count_include_pad;

  FIRN_HOST_DEVICE int64_t Divisor(const PoolSpan& rows, const PoolSpan& cols) const {
    if (divisor_override != 0) return divisor_override;
    if (count_include_pad) return rows.padded * cols.padded;
    return (rows.end - rows.begin) * (cols.end - cols.begin);
  }
};

template <class T>
struct ForwardBody {
  using Acc = AccumulatorOf<T>;
  Windows s;
  const T* x;
  T* y;

  FIRN_HOST_DEVICE void operator()(int64_t o) const {
    int64_t plane = o;
    const PoolSpan cols = s.w.Window(cuda::TakeDigit(plane, s.w.out));
    const PoolSpan rows = s.h.Window(cuda::TakeDigit(plane, s.h.out));
    const T* from = x + plane * s.h.in * s.w.in;
    Acc sum = 0;
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      for (int64_t j = cols.begin; j < cols.end; ++j) sum += static_cast<Acc>(from[i * s.w.in + j]);
    }
    y[o] = static_cast<T>(sum / static_cast<Acc>(s.Divisor(rows, cols)));
  }
};

template <class T>
struct GradBody {
  using Acc = AccumulatorOf<T>;
  Windows s;
  const T* grad;
  T* x;

  FIRN_HOST_DEVICE void operator()(int64_t at) const {
    int64_t plane = at;
    const Axis::Windows across = s.w.Holding(cuda::TakeDigit(plane, s.w.in));
    const Axis::Windows down = s.h.Holding(cuda::TakeDigit(plane, s.h.in));
    const T* from = grad + plane * s.h.out * s.w.out;
    Acc sum = 0;
    for (int64_t i = down.begin; i < down.end; ++i) {
      for (int64_t j = across.begin; j < across.end; ++j) {
        const int64_t divisor = s.Divisor(s.h.Window(i), s.w.Window(j));
        sum += static_cast<Acc>(from[i * s.w.out + j]) / static_cast<Acc>(divisor);
      }
    }
    x[at] = static_cast<T>(sum);
  }
};

Size2 ImageOf(const TensorSpec& s) { return {s.shape[2], s.shape[3]}; }

template <template <class> class Body>
absl::Status Run(KernelContext& k, Size2 image, Size2 pooled) {
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const Body<T> body = {Windows(image, pooled, k.attrs<PoolAttrs>()), k.in<T>(0), k.out<T>()};
    return cuda::ForEach(k, k.out_spec().num_elements(), body);
  });
}

absl::Status RunForward(KernelContext& k) {
  return Run<ForwardBody>(k, ImageOf(k.in_spec(0)), ImageOf(k.out_spec()));
}
absl::Status RunGrad(KernelContext& k) {
  return Run<GradBody>(k, ImageOf(k.out_spec()), ImageOf(k.in_spec(0)));
}

}  // namespace

FIRN_REGISTER_KERNELS(avg_pool2d) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunForward}};
}
FIRN_REGISTER_KERNELS(avg_pool2d_grad) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunGrad}};
}

}  // namespace firn::avg_pool2d_cuda
