// avg_pool2d, an output a thread, and its gradient, where each element of the image gathers the
// windows that hold it in their order.

#include "tensor/kernels/cuda/pool.cuh"

namespace firn::avg_pool_cuda {
namespace {

struct Windows : PoolAxes {
  Windows(const Sizes& in, const Sizes& out, const PoolAttrs& a)
      : PoolAxes(in, out, a),
        divisor_override(a.divisor_override),
        count_include_pad(a.count_include_pad) {}

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
  int64_t lanes;
  const T* x;
  T* y;

  FIRN_HOST_DEVICE void operator()(int64_t o) const {
    const cuda::PoolPlace at = cuda::PlaceOf(o, 1, s.h.out, s.w.out, lanes);
    const PoolSpan cols = s.w.Window(at.col), rows = s.h.Window(at.row);
    const T* from = x + at.plane * s.h.in * s.w.in * lanes + at.lane;
    Acc sum = 0;
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      for (int64_t j = cols.begin; j < cols.end; ++j) {
        sum += static_cast<Acc>(from[(i * s.w.in + j) * lanes]);
      }
    }
    y[o] = static_cast<T>(sum / static_cast<Acc>(s.Divisor(rows, cols)));
  }
};

template <class T>
struct GradBody {
  using Acc = AccumulatorOf<T>;
  Windows s;
  int64_t lanes;
  const T* grad;
  T* x;

  FIRN_HOST_DEVICE void operator()(int64_t element) const {
    const cuda::PoolPlace at = cuda::PlaceOf(element, 1, s.h.in, s.w.in, lanes);
    const PoolAxis::Windows across = s.w.Holding(at.col), down = s.h.Holding(at.row);
    const T* from = grad + at.plane * s.h.out * s.w.out * lanes + at.lane;
    Acc sum = 0;
    for (int64_t i = down.begin; i < down.end; ++i) {
      for (int64_t j = across.begin; j < across.end; ++j) {
        const int64_t divisor = s.Divisor(s.h.Window(i), s.w.Window(j));
        sum += static_cast<Acc>(from[(i * s.w.out + j) * lanes]) / static_cast<Acc>(divisor);
      }
    }
    x[element] = static_cast<T>(sum);
  }
};

template <template <class> class Body>
absl::Status Run(KernelContext& k, const Sizes& image, const Sizes& pooled) {
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const Body<T> body = {Windows(image, pooled, k.attrs<PoolAttrs>()),
                          cuda::LanesOf(k.in_spec(0), k.out_spec()), k.in<T>(0), k.out<T>()};
    return cuda::ForEach(k, k.out_spec().num_elements(), body);
  });
}

absl::Status RunForward(KernelContext& k) {
  return Run<ForwardBody>(k, ImageOf(k.in_spec(0).shape), ImageOf(k.out_spec().shape));
}
absl::Status RunGrad(KernelContext& k) {
  return Run<GradBody>(k, ImageOf(k.out_spec().shape), ImageOf(k.in_spec(0).shape));
}

// The gradient of a single pixel says nothing of the image's order; what comes next is usually a
// convolution's gradient.
void GradLayouts(const KernelQuery& q, LayoutRequest& want) {
  const TensorSpec& grad = q.in(0);
  const bool either = ChannelsLastBlock(grad.shape) == 0;
  if (!grad.layout.blocked() && !(either && cuda::ConvWantsNhwc(grad.dtype))) return;
  want.in[0] = ChannelsLastBlock(grad.shape);
  want.out[0] = ChannelsLastBlock(q.out().shape);
}

std::vector<Kernel> KernelsOf(decltype(Kernel::run) run, decltype(Kernel::layouts) layouts) {
  return {{.name = "loop", .device = DeviceType::kCuda, .layouts = layouts, .run = run}};
}

}  // namespace

FIRN_REGISTER_KERNELS(avg_pool2d) { return KernelsOf(RunForward, cuda::ChannelLayouts); }
FIRN_REGISTER_KERNELS(avg_pool2d_grad) { return KernelsOf(RunGrad, GradLayouts); }

}  // namespace firn::avg_pool_cuda
