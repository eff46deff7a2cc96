// nll_loss and its gradient: see nll_loss.cc. An index that names no class counts as ignored
// and is noted.

#include "tensor/kernels/cuda/class_targets.cuh"
#include "tensor/kernels/cuda/lines.cuh"
#include "tensor/ops/loss/loss_rules.h"
#include "tensor/ops/loss/nll_loss.h"

namespace firn::nll_loss_cuda {
namespace {

constexpr cuda::IndexSite kSite = {"nll_loss", "label"};
constexpr cuda::IndexSite kGradSite = {"nll_loss_grad", "label"};

Lines LinesOf(const Shape& log_probs) { return LinesAlong(log_probs, ClassDim(log_probs)); }

template <class T>
struct LossOf {
  using Acc = AccumulatorOf<T>;

  cuda::Targets<T> targets;
  const T* x;
  cuda::LineShape shape;

  FIRN_HOST_DEVICE Acc operator()(int64_t i) const {
    const int64_t t = targets[i];
    if (t < 0) return 0;
    return -targets.weight_of(t) * static_cast<Acc>(x[shape.offset(i) + t * shape.stride]);
  }
};

template <class T>
struct EachBody {
  LossOf<T> loss;
  T* out;

  FIRN_HOST_DEVICE void operator()(int64_t i) const { out[i] = static_cast<T>(loss(i)); }
};

size_t Workspace(const KernelQuery& q) {
  if (q.attrs<NllLossAttrs>().reduction == Reduction::kNone) return 0;
  return cuda::MeanBytes(cuda::PlanSamples(q.in(1)));
}

absl::Status Run(KernelContext& k) {
  const NllLossAttrs& a = k.attrs<NllLossAttrs>();
  const Lines lines = LinesOf(k.in_spec(0).shape);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const cuda::Targets<T> targets(k, kSite, 1, lines.length, a.ignore_index);
    const LossOf<T> loss = {targets, k.in<T>(0), cuda::LineShape(lines)};
    T* out = k.out<T>();
    if (a.reduction == Reduction::kNone) {
      return cuda::ForEach(k, targets.count, EachBody<T>{loss, out});
    }
    const cuda::MeanFold<LossOf<T>, T> fold = {loss, a.reduction == Reduction::kMean, out};
    return cuda::ReduceWith<false>(k, fold, cuda::PlanSamples(k.in_spec(1)), k.workspace());
  });
}

// An element of dx a thread.
template <class T>
struct GradBody {
  using Acc = AccumulatorOf<T>;

  cuda::Targets<T> targets;
  const T* dy;
  bool each;              // dy has an element for every sample
  const double* divisor;  // null: 1
  T* dx;
  cuda::LineShape shape;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t rest = i;
    const int64_t column = cuda::TakeDigit(rest, shape.stride);
    const int64_t c = cuda::TakeDigit(rest, shape.length);
    const int64_t sample = rest * shape.stride + column;
    if (targets[sample] != c) {
      dx[i] = T(0);
      return;
    }
    const auto flow = static_cast<double>(dy[each ? sample : 0]);
    const Acc scale = static_cast<Acc>(divisor == nullptr ? flow : flow / *divisor);
    dx[i] = static_cast<T>(-targets.weight_of(c) * scale);
  }
};

size_t GradWorkspace(const KernelQuery& q) {
  return cuda::DivisorWorkspace(q.in(1), q.attrs<NllLossAttrs>().reduction);
}

absl::Status RunGrad(KernelContext& k) {
  const NllLossAttrs& a = k.attrs<NllLossAttrs>();
  const Lines lines = LinesOf(k.out_spec().shape);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    const cuda::Targets<T> targets(k, kGradSite, 1, lines.length, a.ignore_index);
    const double* divisor;
    FIRN_RETURN_IF_ERROR(cuda::MakeDivisor(k, k.in_spec(1), targets, a.reduction, &divisor));
    return cuda::ForEach(k, k.out_spec().num_elements(),
                         GradBody<T>{targets, k.in<T>(0), a.reduction == Reduction::kNone, divisor,
                                     k.out<T>(), cuda::LineShape(lines)});
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(nll_loss) {
  return {{.name = "loop", .device = DeviceType::kCuda, .workspace = Workspace, .run = Run}};
}
FIRN_REGISTER_KERNELS(nll_loss_grad) {
  return {
      {.name = "loop", .device = DeviceType::kCuda, .workspace = GradWorkspace, .run = RunGrad}};
}

}  // namespace firn::nll_loss_cuda
