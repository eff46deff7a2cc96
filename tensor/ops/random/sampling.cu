// randperm: the result of the CPU's shuffle, each element by itself. Step i swaps places i and
// Other(i) >= i, and place i is not touched again. So element i is what place p = Other(i) held
// before step i: p itself, unless an earlier step j, the last of them, had brought what place j
// held before step j; and so on. Each place lists the steps that swap something into it, one on the
// average and about log n for the last places. Their order in the list does not matter.
//
// multinomial, by the CPU's two methods. With replacement, a team sums a row's weights up and each
// member looks numbers up. Without, the rows' clocks are put in the order of their ringing.
// Weights are not checked beforehand, because the host would have to wait: a row without positive
// weights, or with NaN, gives arbitrary categories.

#include "firn/tensor/kernels/cuda/atomic.cuh"
#include "firn/tensor/kernels/cuda/random.cuh"
#include "firn/tensor/kernels/cuda/sort.cuh"
#include "firn/tensor/ops/random/sampling.h"
#include "firn/tensor/ops/random/sampling_fn.h"

namespace firn::sampling_cuda {
namespace {

struct Shuffle {
  const int64_t* state;
  int64_t n;
  int64_t* heads;  // of each place: a step that swaps something into it, or -1
  int64_t* nexts;  // of each step: another that swaps something into the same place, or -1
  int64_t* out;

  FIRN_HOST_DEVICE int64_t Other(int64_t i) const {
    const PhiloxResult words = PhiloxAt(cuda::StateAt(state), static_cast<uint64_t>(i / 2));
    const int half = static_cast<int>(i % 2) * 2;
    const uint64_t ahead =
        BelowFrom(static_cast<uint64_t>(n - i), words.v[half], words.v[half + 1]);
    return i + static_cast<int64_t>(ahead);
  }
};

struct ClearBody : Shuffle {
  FIRN_HOST_DEVICE void operator()(int64_t i) const { heads[i] = -1; }
};
struct ListBody : Shuffle {
  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    nexts[i] = cuda::AtomicExchange(heads + Other(i), i);
  }
};
struct FollowBody : Shuffle {
  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t place = Other(i), step = i;
    for (;;) {
      int64_t last = -1;
      for (int64_t j = heads[place]; j >= 0; j = nexts[j]) {
        if (j < step && j > last) last = j;
      }
      if (last < 0) break;
      place = step = last;
    }
    out[i] = place;
  }
};

size_t WorkspaceRandperm(const KernelQuery& q) {
  return 2 * static_cast<size_t>(q.out().num_elements()) * sizeof(int64_t);
}

absl::Status RunRandperm(KernelContext& k) {
  const int64_t n = k.attrs<RandpermAttrs>().n;
  int64_t* const lists = k.workspace<int64_t>();
  const Shuffle shuffle = {k.in<int64_t>(0), n, lists, lists + n, k.out<int64_t>()};
  FIRN_RETURN_IF_ERROR(cuda::ForEach(k, n, ClearBody{shuffle}));
  FIRN_RETURN_IF_ERROR(cuda::ForEach(k, n, ListBody{shuffle}));
  FIRN_RETURN_IF_ERROR(cuda::ForEach(k, n, FollowBody{shuffle}));
  return cuda::TakeCounters(k, 0, CeilDiv(n, 2));
}

FIRN_REGISTER_KERNELS(randperm) {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = WorkspaceRandperm,
           .run = RunRandperm}};
}

using cuda::WideItem;

struct Plus {
  FIRN_HOST_DEVICE double operator()(double a, double b) const { return a + b; }
};
struct Larger {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

template <class T>
struct LookUpBody {
  const int64_t* state;
  const T* probs;
  double* sums;
  int64_t* out;
  int64_t categories, draws;  // of each row

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t row) const {
    const T* weights = probs + row * categories;
    double* row_sums = sums + row * categories;
    double sum = 0, most = 0;
    int64_t last = 0;  // the last category that can be drawn
    for (int64_t first = 0; first < categories; first += team.size()) {
      const int64_t i = first + team.rank();
      const double weight = i < categories ? static_cast<double>(weights[i]) : 0.0;
      const double here = sum + team.Scan(weight, Plus());
      // The members' sums are rounded separately, but the running sum must never fall, and must not
      // rise where the weight is 0.
      const double most_here = team.Scan(weight > 0 && here > most ? here : most, Larger());
      if (i < categories) row_sums[i] = most_here;
      if (weight > 0) last = i;
      sum = team.FromLast(here);
      most = team.FromLast(most_here);
    }
    last = team.Reduce(last, Larger());
    team.Sync();
    for (int64_t j = team.rank(); j < draws; j += team.size()) {
      const double u = UniformAt(cuda::StateAt(state), row * draws + j) * most;
      int64_t low = 0, high = categories;
      while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (u < row_sums[middle]) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      out[row * draws + j] = low < last ? low : last;
    }
  }
};

template <class T>
struct ClockBody {
  const int64_t* state;
  const T* probs;
  WideItem* clocks;
  int64_t categories;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const double u = UniformAt(cuda::StateAt(state), i);
    const double time = RingingTime(static_cast<double>(probs[i]), u);
    clocks[i] = {cuda::OrderedBits(time), static_cast<uint64_t>(i % categories)};
  }
};

struct TakeFirstBody {
  const WideItem* clocks;
  int64_t* out;
  int64_t categories, draws;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    out[i] = static_cast<int64_t>(clocks[i / draws * categories + i % draws].index);
  }
};

size_t WorkspaceMultinomial(const KernelQuery& q) {
  const size_t each =
      q.attrs<MultinomialAttrs>().replacement ? sizeof(double) : 2 * sizeof(WideItem);
  return static_cast<size_t>(q.in(1).num_elements()) * each;
}

absl::Status RunMultinomial(KernelContext& k) {
  const MultinomialAttrs& a = k.attrs<MultinomialAttrs>();
  const int64_t* state = k.in<int64_t>(0);
  const int64_t weights = k.in_spec(1).num_elements(), categories = k.in_spec(1).shape.dim(-1);
  int64_t* out = k.out<int64_t>();
  const int64_t indices = k.out_spec().num_elements();
  FIRN_RETURN_IF(categories == 0, InvalidArgument("there are no categories to draw from"));
  FIRN_RETURN_IF_ERROR(VisitFloat(k.in_spec(1).dtype, [&]<class T>(TypeTag<T>) {
    const T* probs = k.in<T>(1);
    if (a.replacement) {
      return cuda::ForEachLine(
          k, weights / categories, categories,
          LookUpBody<T>{state, probs, k.workspace<double>(), out, categories, a.n});
    }
    return cuda::ForEach(k, weights,
                         ClockBody<T>{state, probs, k.workspace<WideItem>(), categories});
  }));
  if (!a.replacement) {
    WideItem* const clocks = k.workspace<WideItem>();
    FIRN_ASSIGN_OR_RETURN(
        const WideItem* const ordered,
        cuda::OrderItems(
            k, cuda::Ordering<WideItem>(k.in_spec(1).device, weights / categories, categories, a.n),
            clocks));
    FIRN_RETURN_IF_ERROR(cuda::ForEach(k, indices, TakeFirstBody{ordered, out, categories, a.n}));
  }
  return cuda::TakeCounters(k, 0, CeilDiv(a.replacement ? indices : weights, 2));
}

FIRN_REGISTER_KERNELS(multinomial) {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = WorkspaceMultinomial,
           .run = RunMultinomial}};
}

}  // namespace
}  // namespace firn::sampling_cuda
