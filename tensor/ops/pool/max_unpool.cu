// Scatter and gather through the indices of max pooling. Where the gradient knows the windows, each
// element of the image looks into those that hold it. Otherwise a warp has a plane, whose members
// each own the positions that lie 32 apart and walk all of the plane's indices. Either way sums are
// formed in the order of the indices, without atomics, and of several values put in one place the
// last one stays. Indices outside the image are skipped, or read as 0, and noted.

#include <type_traits>
#include <vector>

#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/index_range.cuh"
#include "firn/tensor/kernels/cuda/layouts.h"
#include "firn/tensor/kernels/cuda/pool_tiles.cuh"
#include "firn/tensor/kernels/pool_axes.h"

namespace firn::max_unpool_cuda {
namespace {

// By the number of spatial dimensions.
constexpr cuda::IndexSite kGradSites[] = {
    {"max_pool1d_grad", "indices"}, {"max_pool2d_grad", "indices"}, {"max_pool3d_grad", "indices"}};
constexpr cuda::IndexSite kGatherSites[] = {{"max_pool1d_gather", "indices"},
                                            {"max_pool2d_gather", "indices"},
                                            {"max_pool3d_gather", "indices"}};
constexpr cuda::IndexSite kPutSite = {"max_unpool2d", "indices"};

const cuda::IndexSite& SiteOf(const cuda::IndexSite (&sites)[3], const KernelContext& k) {
  return sites[k.in_spec(0).shape.rank() - 3];
}

int64_t PixelsOf(const TensorSpec& s) { return ImageOf(s.shape).volume(); }

std::vector<Kernel> KernelsOf(decltype(Kernel::run) run, decltype(Kernel::layouts) layouts) {
  return {{.name = "loop", .device = DeviceType::kCuda, .layouts = layouts, .run = run}};
}

// --- Adding: the gradient of max pooling ---------------------------------------------------------

template <class T, class I>
struct GradBody {
  PoolAxes s;
  int64_t lanes;
  const T* grad;
  const I* index;
  T* x;
  cuda::IndexFaults faults;

  FIRN_HOST_DEVICE void operator()(int64_t element) const {
    const PoolPlace at = PoolPlaceOf(element, s.d.in, s.h.in, s.w.in, lanes);
    const PoolAxis::Windows across = s.w.Holding(at.col), down = s.h.Holding(at.row);
    const PoolAxis::Windows inward = s.d.Holding(at.slice);
    const int64_t first = at.plane * s.pixels() * lanes + at.lane;
    const int64_t pixel = (at.slice * s.h.in + at.row) * s.w.in + at.col, image = s.image();
    AccumulatorOf<T> sum = 0;
    for (int64_t d = inward.begin; d < inward.end; ++d) {
      for (int64_t i = down.begin; i < down.end; ++i) {
        for (int64_t j = across.begin; j < across.end; ++j) {
          const int64_t window = first + ((d * s.h.out + i) * s.w.out + j) * lanes;
          const auto winner = static_cast<int64_t>(index[window]);
          if (winner == pixel) sum += static_cast<AccumulatorOf<T>>(grad[window]);
          if (winner < 0 || winner >= image) faults.Report(winner, 0, image);
        }
      }
    }
    x[element] = static_cast<T>(sum);
  }
};

// Writes windows side by side.
template <class T, class I>
struct WinnerFlow {
  const T* grad;
  const I* index;
  int64_t image;
  cuda::IndexFaults faults;

  FIRN_HOST_DEVICE T operator()(int64_t window, int64_t pixel) const {
    const auto winner = static_cast<int64_t>(index[window]);
    if (winner < 0 || winner >= image) faults.Report(winner, 0, image);
    using Acc = AccumulatorOf<T>;
    const Acc flow = winner == pixel ? static_cast<Acc>(grad[window]) : Acc(0);
    return static_cast<T>(flow + Acc(0));  // no negative 0
  }
};

// Adds to the places that indices name, or puts in them.
template <class T, class I, bool kAdd>
struct ScatterBody {
  using Acc = std::conditional_t<kAdd, AccumulatorOf<T>, T>;
  const T* from;
  const I* index;
  T* x;
  Acc* sums;  // x itself, except for sums of half types
  int64_t pixels, image;
  cuda::IndexFaults faults;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t plane) const {
    const int64_t members = team.size(), rank = team.rank();
    Acc* to = sums + plane * image;
    for (int64_t i = rank; i < image; i += members) to[i] = Acc(0);
    for (int64_t i = plane * pixels; i < (plane + 1) * pixels; ++i) {
      const auto at = static_cast<int64_t>(index[i]);
      if (at < 0 || at >= image) {
        faults.Report(at, 0, image);
      } else if (static_cast<uint32_t>(at) % static_cast<uint32_t>(members) == rank) {
        if constexpr (kAdd) {
          to[at] += static_cast<Acc>(from[i]);
        } else {
          to[at] = from[i];
        }
      }
    }
    if constexpr (!std::is_same_v<T, Acc>) {
      for (int64_t i = rank; i < image; i += members) x[plane * image + i] = static_cast<T>(to[i]);
    }
  }
};

template <class T, class I, bool kAdd>
absl::Status Scatter(KernelContext& k, const cuda::IndexFaults& faults) {
  using Body = ScatterBody<T, I, kAdd>;
  typename Body::Acc* sums = nullptr;
  if constexpr (std::is_same_v<T, typename Body::Acc>) {
    sums = k.out<T>();
  } else {
    sums = k.workspace<typename Body::Acc>();
  }
  const Shape& image = k.out_spec().shape;
  const Body body = {
      k.in<T>(0), k.in<I>(1), k.out<T>(), sums, PixelsOf(k.in_spec(0)), PixelsOf(k.out_spec()),
      faults};
  // More members would all walk the same indices.
  return cuda::ForEachLine(k, image[0] * image[1], cuda::kWarp, body);
}

absl::Status RunAdd(KernelContext& k) {
  const cuda::IndexFaults faults(k, SiteOf(kGradSites, k));
  const PoolAttrs& a = k.attrs<PoolAttrs>();
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) -> absl::Status {
      if (!a.knows_windows()) return Scatter<T, I, true>(k, faults);
      const PoolAxes axes(ImageOf(k.out_spec().shape), ImageOf(k.in_spec(0).shape), a);
      const int64_t lanes = PoolLanesOf(k.in_spec(0), k.out_spec());
      const int64_t n = k.out_spec().num_elements();
      if (cuda::ArePoolTiles<T>(axes, lanes)) {
        using Body = cuda::PoolTilesBody<T, WinnerFlow<T, I>>;
        const WinnerFlow<T, I> flow = {k.in<T>(0), k.in<I>(1), axes.image(), faults};
        return cuda::ForEach(k, n / Body::kN, Body{axes, flow, k.out<T>(), n});
      }
      const GradBody<T, I> body = {axes, lanes, k.in<T>(0), k.in<I>(1), k.out<T>(), faults};
      return cuda::ForEach(k, n, body);
    });
  });
}

size_t AddWorkspace(const KernelQuery& q) {
  return q.attrs<PoolAttrs>().knows_windows() ? 0 : internal::PoolSumsBytes(q);
}

void AddLayouts(const KernelQuery& q, LayoutRequest& want) {
  if (q.attrs<PoolAttrs>().knows_windows()) cuda::ChannelLayouts(q, want);
}

std::vector<Kernel> AddKernels() {
  std::vector<Kernel> kernels = KernelsOf(RunAdd, AddLayouts);
  kernels[0].workspace = AddWorkspace;
  return kernels;
}

// --- Reading -------------------------------------------------------------------------------------

template <class T, class I>
struct GatherBody {
  const T* x;
  const I* index;
  T* y;
  int64_t pixels, lanes;
  cuda::IndexRange image;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t at = image(static_cast<int64_t>(index[i]));
    const PoolPlace to = PoolPlaceOf(i, 1, 1, pixels, lanes);
    y[i] = at >= 0 ? x[(to.plane * image.high + at) * lanes + to.lane] : T(0);
  }
};

absl::Status RunGather(KernelContext& k) {
  const int64_t image = PixelsOf(k.in_spec(0)), pixels = PixelsOf(k.out_spec());
  const int64_t lanes = PoolLanesOf(k.in_spec(0), k.out_spec());
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
      const GatherBody<T, I> body = {
          k.in<T>(0), k.in<I>(1), k.out<T>(),
          pixels,     lanes,      {cuda::IndexFaults(k, SiteOf(kGatherSites, k)), 0, image}};
      return cuda::ForEach(k, k.out_spec().num_elements(), body);
    });
  });
}

// --- Putting in place ----------------------------------------------------------------------------

absl::Status RunPut(KernelContext& k) {
  const cuda::IndexFaults faults(k, kPutSite);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    return VisitIndex(k.in_spec(1).dtype,
                      [&]<class I>(TypeTag<I>) { return Scatter<T, I, false>(k, faults); });
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(max_pool1d_grad) { return AddKernels(); }
FIRN_REGISTER_KERNELS(max_pool2d_grad) { return AddKernels(); }
FIRN_REGISTER_KERNELS(max_pool3d_grad) { return AddKernels(); }
FIRN_REGISTER_KERNELS(max_pool1d_gather) { return KernelsOf(RunGather, cuda::ChannelLayouts); }
FIRN_REGISTER_KERNELS(max_pool2d_gather) { return KernelsOf(RunGather, cuda::ChannelLayouts); }
FIRN_REGISTER_KERNELS(max_pool3d_gather) { return KernelsOf(RunGather, cuda::ChannelLayouts); }
FIRN_REGISTER_KERNELS(max_unpool2d) { return KernelsOf(RunPut, nullptr); }

}  // namespace firn::max_unpool_cuda
