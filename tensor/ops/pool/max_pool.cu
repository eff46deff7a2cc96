// max_pool1d, 2d, 3d: a thread for each output.

#include <limits>
#include <vector>

#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/layouts.h"
#include "firn/tensor/kernels/pool_axes.h"

namespace firn::max_pool_cuda {
namespace {

// The first NaN wins, else the first of the largest.
template <class T>
struct PoolBody {
  using Acc = AccumulatorOf<T>;
  PoolAxes s;
  int64_t lanes;
  const T* x;
  T* y;
  int32_t* index;

  FIRN_HOST_DEVICE void operator()(int64_t o) const {
    const PoolPlace to = PoolPlaceOf(o, s.d.out, s.h.out, s.w.out, lanes);
    const PoolSpan cols = s.w.Window(to.col), rows = s.h.Window(to.row);
    const PoolSpan slices = s.d.Window(to.slice);
    const T* from = x + to.plane * s.image() * lanes + to.lane;
    Acc best = -std::numeric_limits<Acc>::infinity();
    int64_t at = (slices.begin * s.h.in + rows.begin) * s.w.in + cols.begin;
    for (int64_t d = slices.begin; d < slices.end; d += s.d.dilation) {
      for (int64_t i = rows.begin; i < rows.end; i += s.h.dilation) {
        const int64_t line = (d * s.h.in + i) * s.w.in;
        for (int64_t j = cols.begin; j < cols.end; j += s.w.dilation) {
          const Acc v = static_cast<Acc>(from[(line + j) * lanes]);
          if (v > best || (v != v && best == best)) {
            best = v;
            at = line + j;
          }
        }
      }
    }
    y[o] = static_cast<T>(best);
    index[o] = static_cast<int32_t>(at);
  }
};

absl::Status Run(KernelContext& k) {
  const PoolAxes axes(ImageOf(k.in_spec(0).shape), ImageOf(k.out_spec().shape),
                      k.attrs<PoolAttrs>());
  const int64_t lanes = PoolLanesOf(k.in_spec(0), k.out_spec());
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const PoolBody<T> body = {axes, lanes, k.in<T>(0), k.out<T>(0), k.out<int32_t>(1)};
    return cuda::ForEach(k, k.out_spec().num_elements(), body);
  });
}

std::vector<Kernel> Kernels() {
  return {
      {.name = "loop", .device = DeviceType::kCuda, .layouts = cuda::ChannelLayouts, .run = Run}};
}

}  // namespace

FIRN_REGISTER_KERNELS(max_pool1d) { return Kernels(); }
FIRN_REGISTER_KERNELS(max_pool2d) { return Kernels(); }
FIRN_REGISTER_KERNELS(max_pool3d) { return Kernels(); }

}  // namespace firn::max_pool_cuda
