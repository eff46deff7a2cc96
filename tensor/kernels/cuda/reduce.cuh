#ifndef FIRN_TENSOR_KERNELS_CUDA_REDUCE_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_REDUCE_CUH_

// Reductions over any dimensions of strided inputs. What is computed is a fold, a small struct:
//
//   using Acc = ...;    // the type of partial results
//   using State = ...; // what one thread gathers before it turns that into an Acc
//   State start() const;
//   void add(State& s, int64_t j, int64_t i, In... v) const;  // element i of result j
//   Acc total(const State& s) const;
//   Acc combine(const Acc& a, const Acc& b) const;  // associative and commutative
//   void store(int64_t j, const Acc& a) const;
//
// A team computes a result, or a thread does where neighbouring results lie next to each other or
// have few elements. When there are too few results to keep the device busy, their elements are cut
// into parts, whose Accs a second launch combines. All of that depends on shapes and strides only.

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/layouts.h"
#include "firn/tensor/kernels/cuda/lines.cuh"
#include "firn/tensor/kernels/cuda/runs.cuh"
#include "firn/tensor/kernels/cuda/steps.cuh"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/reduce_plan.h"
#include "firn/tensor/kernels/reducers.h"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/reduction.h"

namespace firn::cuda {

// How a reduction is shared out.
struct ReduceWork {
  Steps kept, reduced;
  int64_t results = 1, length = 1;  // of `length` elements each
  int64_t parts = 1, part = 1;      // which are cut into `parts` of `part`
  bool solo = false;                // a thread does a part, else a team

  size_t Bytes(size_t acc_size) const {
    return parts == 1 ? 0 : static_cast<size_t>(results * parts) * acc_size;
  }
};

// `dims`: as in ReduceAttrs.
inline ReduceWork PlanWork(const TensorSpec& in, absl::Span<const int64_t> dims) {
  constexpr int64_t kTeams = 2048, kTeamPart = 4096;
  constexpr int64_t kSoloPart = 16, kMostParts = 4096;
  const ReducePlan p = PlanReduction(in, dims);
  ReduceWork w;
  w.kept = Steps(p.kept_sizes, p.kept_strides);
  w.reduced = Steps(p.reduced_sizes, p.reduced_strides);
  w.results = p.kept;
  w.length = w.part = p.reduced;
  if (p.kept == 0 || p.reduced == 0) return w;
  w.solo = p.columns || (p.reduced <= 32 && p.kept >= 1024);
  const int64_t tasks = w.solo ? kBusyThreads : kTeams, least = w.solo ? kSoloPart : kTeamPart;
  w.parts = std::max<int64_t>(1, std::min({p.reduced / least, tasks / p.kept, kMostParts}));
  w.part = (p.reduced - 1) / w.parts + 1;
  return w;
}

namespace internal {

// Task t: part t / results of result t % results.
template <class R, class... In>
struct ReduceBody {
  using Acc = typename R::Acc;
  using State = typename R::State;

  R r;
  ReduceWork w;
  Acc* partial;  // [results, parts]
  std::tuple<const In*...> in;

  FIRN_HOST_DEVICE void operator()(int64_t task) const { (*this)(HostTeam(), task); }

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t task) const {
    int64_t at = task;
    const int64_t j = TakeDigit(at, w.results);
    const int64_t begin = at * w.part;
    const int64_t end = begin + w.part < w.length ? begin + w.part : w.length;
    const Acc acc = team.Reduce(Gather(team, j, begin, end), Combine{r});
    if (team.rank() != 0) return;
    if (w.parts == 1) {
      r.store(j, acc);
    } else {
      partial[j * w.parts + at] = acc;
    }
  }

  struct Combine {
    const R& r;
    FIRN_HOST_DEVICE Acc operator()(const Acc& a, const Acc& b) const { return r.combine(a, b); }
  };

 private:
  // Elements that a thread adds before it begins anew, for a long sum loses digits.
  static constexpr int64_t kMostAdded = 256;

  // The member's fold of its elements i, begin <= i < end.
  template <class Team>
  FIRN_HOST_DEVICE Acc Gather(const Team& team, int64_t j, int64_t begin, int64_t end) const {
    State s = r.start();
    if (begin >= end) return r.total(s);
    const int64_t base = w.kept(j);
    const int last = w.reduced.rank - 1;
    const int64_t length = last < 0 ? 1 : w.reduced.sizes[last];
    const int64_t stride = last < 0 ? 1 : w.reduced.strides[last];
    if (last > 0 && length < 2 * team.size()) {  // runs too short to occupy a team
      AddSingly(team, s, j, base, begin, end);
      return r.total(s);
    }
    Acc acc = r.total(s);
    int64_t run = begin, at = TakeDigit(run, length), added = 0;
    for (int64_t i = begin; i < end;) {
      int64_t n = length - at < end - i ? length - at : end - i;
      if (n > kMostAdded * team.size() - added) n = kMostAdded * team.size() - added;
      const int64_t from = base + w.reduced.run(run) + at * stride;
      const auto add = [&](int64_t later, auto... v) { r.add(s, j, i + later, v...); };
      std::apply([&](auto... x) { ReadElements(team, n, stride, add, (x + from)...); }, in);
      i += n;
      at += n;
      added += n;
      if (at == length) {
        at = 0;
        ++run;
      }
      if (added == kMostAdded * team.size()) {
        acc = r.combine(acc, r.total(s));
        s = r.start();
        added = 0;
      }
    }
    return r.combine(acc, r.total(s));
  }

  // Element by element. Two dimensions are the usual case and need no division.
  template <class Team>
  FIRN_HOST_DEVICE void AddSingly(const Team& team, State& s, int64_t j, int64_t base,
                                  int64_t begin, int64_t end) const {
    const auto add = [&](int64_t i, int64_t at) {
      std::apply([&](auto... x) { r.add(s, j, i, x[at]...); }, in);
    };
    if (w.reduced.rank != 2) {
#pragma unroll 1
      for (int64_t i = begin + team.rank(); i < end; i += team.size()) {
        add(i, base + w.reduced(i));
      }
      return;
    }
    const int64_t length = w.reduced.sizes[1], stride = w.reduced.strides[1];
    int64_t run = begin + team.rank(), step_run = team.size();
    int64_t at = TakeDigit(run, length);
    const int64_t step_at = TakeDigit(step_run, length);
#pragma unroll 4
    for (int64_t i = begin + team.rank(); i < end; i += team.size()) {
      add(i, base + run * w.reduced.strides[0] + at * stride);
      at += step_at;
      run += step_run + (at >= length ? 1 : 0);
      at -= at >= length ? length : 0;
    }
  }
};

template <class R>
struct CombineBody {
  using Acc = typename R::Acc;

  R r;
  const Acc* partial;
  int64_t parts;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t j) const {
    const Acc* from = partial + j * parts;
    Acc acc = r.total(r.start());
    for (int64_t p = team.rank(); p < parts; p += team.size()) acc = r.combine(acc, from[p]);
    acc = team.Reduce(acc, typename ReduceBody<R>::Combine{r});
    if (team.rank() == 0) r.store(j, acc);
  }
};

}  // namespace internal

// Folds the elements of `in`, which all have the layout of `w`. `workspace` holds
// w.Bytes(sizeof(Acc)) bytes. kSolo: whether w.solo can be.
template <bool kSolo = true, class R, class... In>
absl::Status ReduceWith(const Queue& queue, const R& r, const ReduceWork& w, void* workspace,
                        const In*... in) {
  auto* partial = static_cast<typename R::Acc*>(workspace);
  const internal::ReduceBody<R, In...> body = {r, w, partial, {in...}};
  bool done = false;
  if constexpr (kSolo) {
    if (w.solo) {
      FIRN_RETURN_IF_ERROR(ForEach(queue, w.results * w.parts, body));
      done = true;
    }
  }
  if (!done) {
    const int last = w.reduced.rank - 1;
    const int64_t each = ReadsAtOnce<In...>(last < 0 ? 1 : w.reduced.strides[last]);
    unsigned threads = kWarp;
    while (threads < 512 && threads * each < w.part) threads *= 2;
    FIRN_RETURN_IF_ERROR(ForEachBlock(queue, w.results * w.parts, threads, body));
  }
  if (w.parts == 1) return absl::OkStatus();
  const internal::CombineBody<R> combine = {r, partial, w.parts};
  if (w.parts <= 128) return ForEachWarp(queue, w.results, combine);
  return ForEachBlock(queue, w.results, w.parts <= 1024 ? kThreads : 4 * kThreads, combine);
}

// The fold of a reducer (kernels/reducers.h) into an array of results of `length` elements each.
template <class R, class Out>
struct ReducerFold {
  using Acc = typename R::Acc;
  using State = Acc;

  R r;
  Out* out;
  int64_t length;

  FIRN_HOST_DEVICE State start() const { return r.identity(); }
  template <class In>
  FIRN_HOST_DEVICE void add(State& s, int64_t, int64_t, In v) const {
    if constexpr (R::kReduces == Reduces::kTruth) {
      s = r.combine(s, r.map(std::bit_cast<typename R::Element>(v)));
    } else {
      s = r.combine(s, r.map(ConvertTo<typename R::Element>(v)));
    }
  }
  FIRN_HOST_DEVICE Acc total(const State& s) const { return s; }
  FIRN_HOST_DEVICE Acc combine(const Acc& a, const Acc& b) const { return r.combine(a, b); }
  FIRN_HOST_DEVICE void store(int64_t j, const Acc& a) const {
    out[j] = ConvertTo<Out>(r.finish(a, length));
  }
};

namespace internal {

template <template <class> class R>
absl::Status RunReduction(KernelContext& k) {
  constexpr Reduces kWhat = R<float>::kReduces;
  const ReduceWork work = PlanWork(k.in_spec(0), k.attrs<ReduceAttrs>().dims);
  const auto run = [&]<class T>(TypeTag<T>) {
    using Out = ReducedOf<kWhat, T>;
    const ReducerFold<decltype(ReducerFor<R, T>()), Out> fold = {ReducerFor<R, T>(), k.out<Out>(),
                                                                 work.length};
    return ReduceWith(k, fold, work, k.workspace(), k.in<T>(0));
  };
  if constexpr (kWhat == Reduces::kFloats) {
    return VisitFloat(k.in_spec(0).dtype, run);
  } else {
    return VisitDType(k.in_spec(0).dtype, run);
  }
}

}  // namespace internal

// The kernels of an operation with ReduceAttrs; kAccSize: the size of the largest Acc.
template <size_t kAccSize>
size_t ReduceWorkspaceOf(const KernelQuery& q) {
  return PlanWork(q.in(0), q.attrs<ReduceAttrs>().dims).Bytes(kAccSize);
}
template <size_t kAccSize = 8>
std::vector<Kernel> ReductionKernels(absl::Status (*run)(KernelContext&)) {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = ReduceWorkspaceOf<kAccSize>,
           .layouts = StridedLayouts,
           .run = run,
           .takes = Takes::kStrided}};
}

// The kernels of cpu::ReductionOp<R>.
template <template <class> class R>
std::vector<Kernel> ReductionKernels() {
  return ReductionKernels<sizeof(typename R<double>::Acc)>(internal::RunReduction<R>);
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_REDUCE_CUH_
