// max_pool2d and the scatter and gather through its indices. The scatter gives a plane to a warp,
// whose members each own the positions that lie 32 apart and walk all of the plane's indices in
// order: sums are formed in that order whatever the indices are, without atomics. Indices outside
// the image are left out, or read as 0, and noted.
#include <limits>

#include "tensor/kernels/cuda/divide.cuh"
#include "tensor/kernels/cuda/for_each.cuh"
#include "tensor/kernels/cuda/index_range.cuh"
#include "tensor/pool.h"

namespace firn::max_pool2d_cuda {
namespace {

constexpr cuda::IndexSite kGradSite = {"max_pool2d_grad", "indices"};
constexpr cuda::IndexSite kGatherSite = {"max_pool2d_gather", "indices"};

struct Axis {
  int64_t in, out, kernel, stride, padding, dilation;

  FIRN_HOST_DEVICE PoolSpan Window(int64_t o) const {
    return PoolWindow(o, in, kernel, stride, padding, dilation, 0);
  }
};

// The first NaN wins, else the first of the largest.
template <class T>
struct PoolBody {
  using Acc = AccumulatorOf<T>;
  Axis h, w;
  const T* x;
  T* y;
  int32_t* index;

  FIRN_HOST_DEVICE void operator()(int64_t o) const {
    int64_t plane = o;
    const PoolSpan cols = w.Window(cuda::TakeDigit(plane, w.out));
    const PoolSpan rows = h.Window(cuda::TakeDigit(plane, h.out));
    const T* from = x + plane * h.in * w.in;
    Acc best = -std::numeric_limits<Acc>::infinity();
    int64_t at = rows.begin * w.in + cols.begin;
    for (int64_t i = rows.begin; i < rows.end; i += h.dilation) {
      for (int64_t j = cols.begin; j < cols.end; j += w.dilation) {
        const Acc v = static_cast<Acc>(from[i * w.in + j]);
        if (v > best || (v != v && best == best)) {
          best = v;
          at = i * w.in + j;
        }
      }
    }
    y[o] = static_cast<T>(best);
    index[o] = static_cast<int32_t>(at);
  }
};

absl::Status Run(KernelContext& k) {
  const PoolAttrs& a = k.attrs<PoolAttrs>();
  const Shape &in = k.in_spec(0).shape, &out = k.out_spec().shape;
  const Axis h{in[2], out[2], a.kernel.h, a.stride.h, a.padding.h, a.dilation.h};
  const Axis w{in[3], out[3], a.kernel.w, a.stride.w, a.padding.w, a.dilation.w};
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const PoolBody<T> body = {h, w, k.in<T>(0), k.out<T>(0), k.out<int32_t>(1)};
    return cuda::ForEach(k, out.num_elements(), body);
  });
}

template <class T>
struct ScatterBody {
  const T* grad;
  const int32_t* index;
  T* x;
  int64_t pixels, image;
  cuda::IndexFaults faults;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t plane) const {
    const auto members = static_cast<uint32_t>(team.size());
    const auto rank = static_cast<uint32_t>(team.rank());
    T* to = x + plane * image;
    for (int64_t i = rank; i < image; i += members) to[i] = T(0);
    for (int64_t i = plane * pixels; i < (plane + 1) * pixels; ++i) {
      const auto at = static_cast<uint32_t>(index[i]);  // a negative one becomes too large
      if (at >= image) {
        faults.Report(index[i], 0, image);
      } else if (at % members == rank) {
        to[at] = static_cast<T>(to[at] + grad[i]);
      }
    }
  }
};

absl::Status RunScatter(KernelContext& k) {
  const Shape &pooled = k.in_spec(0).shape, &image = k.out_spec().shape;
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const ScatterBody<T> body = {k.in<T>(0),          k.in<int32_t>(1),
                                 k.out<T>(),          pooled[2] * pooled[3],
                                 image[2] * image[3], cuda::IndexFaults(k, kGradSite)};
    // More members would all walk the same indices.
    return cuda::ForEachLine(k, image[0] * image[1], cuda::kWarp, body);
  });
}

template <class T>
struct GatherBody {
  const T* x;
  const int32_t* index;
  T* y;
  int64_t pixels;
  cuda::IndexRange image;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t at = image(index[i]);
    int64_t plane = i;
    cuda::TakeDigit(plane, pixels);
    y[i] = at >= 0 ? x[plane * image.high + at] : T(0);
  }
};

absl::Status RunGather(KernelContext& k) {
  const Shape &image = k.in_spec(0).shape, &pooled = k.out_spec().shape;
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const GatherBody<T> body = {k.in<T>(0),
                                k.in<int32_t>(1),
                                k.out<T>(),
                                pooled[2] * pooled[3],
                                {cuda::IndexFaults(k, kGatherSite), 0, image[2] * image[3]}};
    return cuda::ForEach(k, pooled.num_elements(), body);
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(max_pool2d) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}};
}
FIRN_REGISTER_KERNELS(max_pool2d_grad) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunScatter}};
}
FIRN_REGISTER_KERNELS(max_pool2d_gather) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunGather}};
}

}  // namespace firn::max_pool2d_cuda
