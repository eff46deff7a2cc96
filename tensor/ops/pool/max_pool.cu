// max_pool2d and the scatter and gather through its indices. Where the gradient knows the windows,
// each element of the image looks into those that hold it. Otherwise a warp has a plane, whose
// members each own the positions that lie 32 apart and walk all of the plane's indices. Either way
// sums are formed in the order of the indices, without atomics. Indices outside the image are left
// out, or read as 0, and noted.

#include <limits>
#include <type_traits>
#include <vector>

#include "tensor/kernels/cuda/index_range.cuh"
#include "tensor/kernels/cuda/pool.cuh"

namespace firn::max_pool_cuda {
namespace {

constexpr cuda::IndexSite kGradSite = {"max_pool2d_grad", "indices"};
constexpr cuda::IndexSite kGatherSite = {"max_pool2d_gather", "indices"};

// The first NaN wins, else the first of the largest.
template <class T>
struct PoolBody {
  using Acc = AccumulatorOf<T>;
  cuda::PoolAxes s;
  int64_t lanes;
  const T* x;
  T* y;
  int32_t* index;

  FIRN_HOST_DEVICE void operator()(int64_t o) const {
    const cuda::PoolPlace to = cuda::PlaceOf(o, s.h.out, s.w.out, lanes);
    const PoolSpan cols = s.w.Window(to.col), rows = s.h.Window(to.row);
    const T* from = x + to.plane * s.h.in * s.w.in * lanes + to.lane;
    Acc best = -std::numeric_limits<Acc>::infinity();
    int64_t at = rows.begin * s.w.in + cols.begin;
    for (int64_t i = rows.begin; i < rows.end; i += s.h.dilation) {
      for (int64_t j = cols.begin; j < cols.end; j += s.w.dilation) {
        const Acc v = static_cast<Acc>(from[(i * s.w.in + j) * lanes]);
        if (v > best || (v != v && best == best)) {
          best = v;
          at = i * s.w.in + j;
        }
      }
    }
    y[o] = static_cast<T>(best);
    index[o] = static_cast<int32_t>(at);
  }
};

absl::Status Run(KernelContext& k) {
  const cuda::PoolAxes axes(ImageOf(k.in_spec(0).shape), ImageOf(k.out_spec().shape),
                            k.attrs<PoolAttrs>());
  const int64_t lanes = cuda::LanesOf(k.in_spec(0), k.out_spec());
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const PoolBody<T> body = {axes, lanes, k.in<T>(0), k.out<T>(0), k.out<int32_t>(1)};
    return cuda::ForEach(k, k.out_spec().num_elements(), body);
  });
}

// --- The gradient --------------------------------------------------------------------------------

template <class T>
struct GradBody {
  cuda::PoolAxes s;
  int64_t lanes;
  const T* grad;
  const int32_t* index;
  T* x;
  cuda::IndexFaults faults;

  FIRN_HOST_DEVICE void operator()(int64_t element) const {
    const cuda::PoolPlace at = cuda::PlaceOf(element, s.h.in, s.w.in, lanes);
    const cuda::PoolAxis::Windows across = s.w.Holding(at.col), down = s.h.Holding(at.row);
    const int64_t first = at.plane * s.h.out * s.w.out * lanes + at.lane;
    const int64_t pixel = at.row * s.w.in + at.col, image = s.h.in * s.w.in;
    AccumulatorOf<T> sum = 0;
    for (int64_t i = down.begin; i < down.end; ++i) {
      for (int64_t j = across.begin; j < across.end; ++j) {
        const int64_t window = first + (i * s.w.out + j) * lanes;
        const int64_t winner = index[window];
        if (winner == pixel) sum += static_cast<AccumulatorOf<T>>(grad[window]);
        if (winner < 0 || winner >= image) faults.Report(winner, 0, image);
      }
    }
    x[element] = static_cast<T>(sum);
  }
};

template <class T>
struct ScatterBody {
  using Acc = AccumulatorOf<T>;
  const T* grad;
  const int32_t* index;
  T* x;
  Acc* sums;  // x itself, but for half types
  int64_t pixels, image;
  cuda::IndexFaults faults;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t plane) const {
    const auto members = static_cast<uint32_t>(team.size());
    const auto rank = static_cast<uint32_t>(team.rank());
    Acc* to = sums + plane * image;
    for (int64_t i = rank; i < image; i += members) to[i] = Acc(0);
    for (int64_t i = plane * pixels; i < (plane + 1) * pixels; ++i) {
      const auto at = static_cast<uint32_t>(index[i]);  // a negative one becomes too large
      if (at >= image) {
        faults.Report(index[i], 0, image);
      } else if (at % members == rank) {
        to[at] += static_cast<Acc>(grad[i]);
      }
    }
    if constexpr (!std::is_same_v<T, Acc>) {
      for (int64_t i = rank; i < image; i += members) x[plane * image + i] = static_cast<T>(to[i]);
    }
  }
};

absl::Status RunScatter(KernelContext& k) {
  const cuda::IndexFaults faults(k, kGradSite);
  const PoolAttrs& a = k.attrs<PoolAttrs>();
  if (a.knows_windows()) {
    const cuda::PoolAxes axes(a.image, ImageOf(k.in_spec(0).shape), a);
    const int64_t lanes = cuda::LanesOf(k.in_spec(0), k.out_spec());
    return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
      const GradBody<T> body = {axes, lanes, k.in<T>(0), k.in<int32_t>(1), k.out<T>(), faults};
      return cuda::ForEach(k, k.out_spec().num_elements(), body);
    });
  }
  const Shape &pooled = k.in_spec(0).shape, &image = k.out_spec().shape;
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Acc = AccumulatorOf<T>;
    Acc* sums = k.workspace<Acc>();
    if constexpr (std::is_same_v<T, Acc>) sums = k.out<T>();
    const ScatterBody<T> body = {k.in<T>(0), k.in<int32_t>(1),      k.out<T>(),
                                 sums,       pooled[2] * pooled[3], image[2] * image[3],
                                 faults};
    // More members would all walk the same indices.
    return cuda::ForEachLine(k, image[0] * image[1], cuda::kWarp, body);
  });
}

size_t GradWorkspace(const KernelQuery& q) {
  return q.attrs<PoolAttrs>().knows_windows() ? 0 : internal::PoolSumsBytes(q);
}

void GradLayouts(const KernelQuery& q, LayoutRequest& want) {
  if (q.attrs<PoolAttrs>().knows_windows()) cuda::ChannelLayouts(q, want);
}

// --- Its gradient --------------------------------------------------------------------------------

template <class T>
struct GatherBody {
  const T* x;
  const int32_t* index;
  T* y;
  int64_t pixels, lanes;
  cuda::IndexRange image;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t at = image(index[i]);
    const cuda::PoolPlace to = cuda::PlaceOf(i, 1, pixels, lanes);
    y[i] = at >= 0 ? x[(to.plane * image.high + at) * lanes + to.lane] : T(0);
  }
};

absl::Status RunGather(KernelContext& k) {
  const Sizes image = ImageOf(k.in_spec(0).shape), pooled = ImageOf(k.out_spec().shape);
  const int64_t lanes = cuda::LanesOf(k.in_spec(0), k.out_spec());
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const GatherBody<T> body = {k.in<T>(0), k.in<int32_t>(1),
                                k.out<T>(), pooled.volume(),
                                lanes,      {cuda::IndexFaults(k, kGatherSite), 0, image.volume()}};
    return cuda::ForEach(k, k.out_spec().num_elements(), body);
  });
}

std::vector<Kernel> KernelsOf(decltype(Kernel::run) run, decltype(Kernel::layouts) layouts) {
  return {{.name = "loop", .device = DeviceType::kCuda, .layouts = layouts, .run = run}};
}

}  // namespace

FIRN_REGISTER_KERNELS(max_pool2d) { return KernelsOf(Run, cuda::ChannelLayouts); }
FIRN_REGISTER_KERNELS(max_pool2d_grad) {
  std::vector<Kernel> kernels = KernelsOf(RunScatter, GradLayouts);
  kernels[0].workspace = GradWorkspace;
  return kernels;
}
FIRN_REGISTER_KERNELS(max_pool2d_gather) { return KernelsOf(RunGather, cuda::ChannelLayouts); }

}  // namespace firn::max_pool_cuda
