// Transposed convolutions by their definition: a thread for each element of the image gathers the
// outputs that contain it. For calls that cuDNN does not take (conv_transpose_cuda.cc).

#include "firn/tensor/kernels/cuda/conv.cuh"

namespace firn::conv_transpose_cuda {
namespace {

template <class T>
struct DataBody {
  using Acc = AccumulatorOf<T>;
  cuda::ConvSizes s;
  cuda::ConvTensor<const T> y, weight;
  cuda::ConvTensor<T> x;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t n = i;
    const ConvPlace at = TakePlace(n, s.d.in, s.h.in, s.w.in);
    const int64_t channel = TakeDigit(n, s.in);
    Acc sum = 0;
    for (int64_t t = 0; t < s.d.kernel; ++t) {
      const int64_t od = s.d.Output(at.d, t);
      if (od < 0) continue;
      for (int64_t u = 0; u < s.h.kernel; ++u) {
        const int64_t oh = s.h.Output(at.h, u);
        if (oh < 0) continue;
        for (int64_t v = 0; v < s.w.kernel; ++v) {
          const int64_t ow = s.w.Output(at.w, v);
          if (ow >= 0) sum += Products(n, channel, {od, oh, ow}, {t, u, v});
        }
      }
    }
    *x.at(n, channel, at) = static_cast<T>(sum);
  }

  // Sums over the output channels of the group of input channel `channel`.
  FIRN_HOST_DEVICE Acc Products(int64_t n, int64_t channel, const ConvPlace& pixel,
                                const ConvPlace& at) const {
    int64_t group = channel;
    const int64_t c = TakeDigit(group, s.in_per_group), first = group * s.out_per_group;
    const T *from = y.at(n, first, pixel), *tap = weight.at(first, c, at);
    Acc sum = 0;
    for (int64_t o = 0; o < s.out_per_group; ++o) {
      sum += static_cast<Acc>(from[o * y.c]) * static_cast<Acc>(tap[o * weight.n]);
    }
    return sum;
  }
};

absl::Status Run(KernelContext& k) {
  FIRN_ASSIGN_OR_RETURN(
      const ConvProblem p,
      ConvBackwardData(k.in_spec(0).shape, k.in_spec(1).shape, k.attrs<ConvAttrs>()));
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const DataBody<T> body = {cuda::ConvSizes(p),
                              {k.in_spec(0), k.in<T>(0)},
                              {k.in_spec(1), k.in<T>(1)},
                              {k.out_spec(), k.out<T>()}};
    return cuda::ForEach(k, k.out_spec().num_elements(), body);
  });
}

std::vector<Kernel> Kernels() {
  return {{.name = "loop", .device = DeviceType::kCuda, .layouts = cuda::ConvLayouts, .run = Run}};
}

}  // namespace

FIRN_REGISTER_KERNELS(conv_transpose1d) { return Kernels(); }
FIRN_REGISTER_KERNELS(conv_transpose2d) { return Kernels(); }
FIRN_REGISTER_KERNELS(conv_transpose3d) { return Kernels(); }

}  // namespace firn::conv_transpose_cuda
