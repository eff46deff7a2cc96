// conv_transpose2d as its definition: each element of the image, a thread, gathers the outputs it
// takes part in. For what cuDNN does not take (conv_transpose2d_cuda.cc).
#include "tensor/kernels/cuda/conv.cuh"

namespace firn::conv_transpose2d_cuda {
namespace {

template <class T>
struct DataBody {
  using Acc = AccumulatorOf<T>;
  cuda::ConvSizes s;
  const T *y, *weight;
  T* x;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t n = i;
    const int64_t iw = cuda::TakeDigit(n, s.w.in), ih = cuda::TakeDigit(n, s.h.in);
    int64_t group = cuda::TakeDigit(n, s.in);
    const int64_t c = cuda::TakeDigit(group, s.in_per_group);
    const int64_t first = group * s.out_per_group;
    const T* images = y + (n * s.out + first) * s.pixels();
    const T* taps = weight + (first * s.in_per_group + c) * s.taps();
    Acc sum = 0;
    for (int64_t u = 0; u < s.h.kernel; ++u) {
      const int64_t oh = s.h.Output(ih, u);
      if (oh < 0) continue;
      for (int64_t v = 0; v < s.w.kernel; ++v) {
        const int64_t ow = s.w.Output(iw, v);
        if (ow < 0) continue;
        const T* from = images + oh * s.w.out + ow;
        const T* tap = taps + u * s.w.kernel + v;
        for (int64_t o = 0; o < s.out_per_group; ++o) {
          sum += static_cast<Acc>(from[o * s.pixels()]) *
                 static_cast<Acc>(tap[o * s.in_per_group * s.taps()]);
        }
      }
    }
    x[i] = static_cast<T>(sum);
  }
};

absl::Status Run(KernelContext& k) {
  FIRN_ASSIGN_OR_RETURN(
      const ConvProblem p,
      ConvBackwardData(k.in_spec(0).shape, k.in_spec(1).shape, k.attrs<ConvAttrs>()));
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const DataBody<T> body = {cuda::ConvSizes(p), k.in<T>(0), k.in<T>(1), k.out<T>()};
    return cuda::ForEach(k, k.out_spec().num_elements(), body);
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(conv_transpose2d) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}};
}

}  // namespace firn::conv_transpose2d_cuda
