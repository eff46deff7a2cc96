// cross_entropy and its gradient: see cross_entropy.cc for the formulas. A sample is a line of
// logits; with smoothing it is read a second time for sum_j w_j (x_j - m). The losses of samples
// are summed by a second launch. An index that names no class counts as ignored
// and is noted.

#include "firn/tensor/kernels/cuda/class_targets.cuh"
#include "firn/tensor/kernels/cuda/exp_sum.cuh"
#include "firn/tensor/kernels/cuda/lines.cuh"
#include "firn/tensor/ops/loss/cross_entropy.h"
#include "firn/tensor/ops/loss/loss_rules.h"

namespace firn::cross_entropy_cuda {
namespace {

constexpr cuda::IndexSite kSite = {"cross_entropy", "label"};
constexpr cuda::IndexSite kGradSite = {"cross_entropy_grad", "label"};

Lines LinesOf(const Shape& logits) { return LinesAlong(logits, ClassDim(logits)); }

// The part of the target distribution that does not depend on the target: (e / C) w_j.
template <class Acc>
struct Smoothing {
  Acc rest, share;  // 1 - e, e / C

  Smoothing(double e, int64_t classes)
      : rest(static_cast<Acc>(1 - e)),
        share(e == 0 ? Acc{0} : static_cast<Acc>(e / static_cast<double>(classes))) {}
};

// The sum of all w_j.
template <class Team, class T>
FIRN_HOST_DEVICE AccumulatorOf<T> SumOfWeights(const Team& team, const cuda::Targets<T>& targets) {
  using Acc = AccumulatorOf<T>;
  if (targets.weights == nullptr) return static_cast<Acc>(targets.classes);
  Acc sum = 0;
  const auto add = [&](int64_t, T w) { sum += static_cast<Acc>(w); };
  cuda::ReadElements(team, targets.classes, 1, add, targets.weights);
  return team.Reduce(sum, [](Acc a, Acc b) { return a + b; });
}

template <class T>
struct LossBody {
  using Acc = AccumulatorOf<T>;

  const T* x;
  cuda::Targets<T> targets;
  LineShape shape;
  Smoothing<Acc> smooth;
  Acc *logsumexp, *losses;

  FIRN_HOST_DEVICE void operator()(int64_t sample) const { (*this)(cuda::HostTeam(), sample); }
  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t sample) const {
    const T* from = x + shape.offset(sample);
    const cuda::ExpSum<Acc> e = cuda::ExpSumOfLine<Acc>(team, shape.length, shape.stride, from);
    const Acc top = e.largest, log_sum = math::Log(e.sum);
    Acc smoothed = 0;
    if (smooth.share != 0) {
      const auto add = [&](int64_t j, T v) {
        smoothed += targets.weight_of(j) * (static_cast<Acc>(v) - top);
      };
      cuda::ReadElements(team, shape.length, shape.stride, add, from);
      smoothed = team.Reduce(smoothed, [](Acc a, Acc b) { return a + b; });
      smoothed = smooth.share * (SumOfWeights(team, targets) * log_sum - smoothed);
    }
    if (team.rank() != 0) return;
    logsumexp[sample] = top + log_sum;
    const int64_t t = targets[sample];
    Acc loss = 0;
    if (t >= 0) {
      const Acc centered = static_cast<Acc>(from[t * shape.stride]) - top;
      loss = smooth.rest * targets.weight_of(t) * (log_sum - centered) + smoothed;
    }
    losses[sample] = loss;
  }
};

template <class T>
struct LossOf {
  using Acc = AccumulatorOf<T>;

  cuda::Targets<T> targets;
  const Acc* losses;

  FIRN_HOST_DEVICE Acc operator()(int64_t i) const { return losses[i]; }
};

template <class T>
struct EachBody {
  LossOf<T> loss;
  T* out;

  FIRN_HOST_DEVICE void operator()(int64_t i) const { out[i] = static_cast<T>(loss(i)); }
};

size_t LossBytes(const TensorSpec& label) {
  return static_cast<size_t>(label.num_elements() + 7) / 8 * 8 * sizeof(double);
}

size_t Workspace(const KernelQuery& q) {
  return LossBytes(q.in(1)) + cuda::MeanBytes(cuda::PlanSamples(q.in(1)));
}

absl::Status Run(KernelContext& k) {
  const CrossEntropyAttrs& a = k.attrs<CrossEntropyAttrs>();
  const Lines lines = LinesOf(k.in_spec(0).shape);
  const TensorSpec& label = k.in_spec(1);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Acc = AccumulatorOf<T>;
    const cuda::Targets<T> targets(k, kSite, 1, lines.length, a.ignore_index);
    const LossOf<T> loss = {targets, k.workspace<Acc>()};
    const LossBody<T> body = {k.in<T>(0),       targets,
                              LineShape(lines), Smoothing<Acc>(a.label_smoothing, lines.length),
                              k.out<Acc>(1),    k.workspace<Acc>()};
    FIRN_RETURN_IF_ERROR(cuda::ForEachLineAlong(k, lines, body));
    T* out = k.out<T>(0);
    if (a.reduction == Reduction::kNone) {
      return cuda::ForEach(k, targets.count, EachBody<T>{loss, out});
    }
    const MeanFold<LossOf<T>, T> fold = {loss, a.reduction == Reduction::kMean, out};
    return cuda::ReduceWith<false>(k, fold, cuda::PlanSamples(label),
                                   k.workspace<char>() + LossBytes(label));
  });
}

// dx_j = scale (A p_j - q_j).
template <class T>
struct GradBody {
  using Acc = AccumulatorOf<T>;

  const T *dy, *x;
  cuda::Targets<T> targets;
  LineShape shape;
  Smoothing<Acc> smooth;
  const Acc* logsumexp;
  bool each;              // dy has an element for every sample
  const double* divisor;  // null: 1
  T* dx;

  FIRN_HOST_DEVICE void operator()(int64_t sample) const { (*this)(cuda::HostTeam(), sample); }
  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t sample) const {
    const int64_t at = shape.offset(sample), t = targets[sample];
    const auto flow = static_cast<double>(dy[each ? sample : 0]);
    const Acc scale = static_cast<Acc>(divisor == nullptr ? flow : flow / *divisor);
    const Acc total = smooth.share == 0 ? Acc{0} : smooth.share * SumOfWeights(team, targets);
    const Acc hit = t < 0 ? Acc{0} : smooth.rest * targets.weight_of(t);
    Acc factor = scale * (hit + total), s = logsumexp[sample];
    if (IsFarLogarithm(s)) {  // of all of the team
      const cuda::ExpSum<Acc> e = cuda::ExpSumOfLine<Acc>(team, shape.length, shape.stride, x + at);
      s = e.largest;
      factor /= e.sum;
    }
    const auto f = [&](int64_t j, T v) {
      if (t < 0) return Acc{0};  // also where x is NaN
      const Acc q = (j == t ? hit : Acc{0}) +
                    (smooth.share == 0 ? Acc{0} : smooth.share * targets.weight_of(j));
      return factor * math::Exp(static_cast<Acc>(v) - s) - scale * q;
    };
    cuda::MapElements(team, shape.length, shape.stride, f, dx + at, x + at);
  }
};

size_t GradWorkspace(const KernelQuery& q) {
  return cuda::DivisorWorkspace(q.in(2), q.attrs<CrossEntropyAttrs>().reduction);
}

absl::Status RunGrad(KernelContext& k) {
  const CrossEntropyAttrs& a = k.attrs<CrossEntropyAttrs>();
  const Lines lines = LinesOf(k.in_spec(1).shape);
  return VisitFloat(k.in_spec(1).dtype, [&]<class T>(TypeTag<T>) {
    using Acc = AccumulatorOf<T>;
    const cuda::Targets<T> targets(k, kGradSite, 2, lines.length, a.ignore_index);
    const double* divisor;
    FIRN_RETURN_IF_ERROR(cuda::MakeDivisor(k, k.in_spec(2), targets, a.reduction, &divisor));
    const GradBody<T> body = {k.in<T>(0),
                              k.in<T>(1),
                              targets,
                              LineShape(lines),
                              Smoothing<Acc>(a.label_smoothing, lines.length),
                              k.in<Acc>(4),
                              a.reduction == Reduction::kNone,
                              divisor,
                              k.out<T>()};
    return cuda::ForEachLineAlong(k, lines, body);
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(cross_entropy) {
  return {{.name = "loop", .device = DeviceType::kCuda, .workspace = Workspace, .run = Run}};
}
FIRN_REGISTER_KERNELS(cross_entropy_grad) {
  return {
      {.name = "loop", .device = DeviceType::kCuda, .workspace = GradWorkspace, .run = RunGrad}};
}

}  // namespace firn::cross_entropy_cuda
