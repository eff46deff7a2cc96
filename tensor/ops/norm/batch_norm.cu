// Batch normalisation in training: one pass for the statistics of every channel, one for the
// result. The gradient does the same: the sums over a channel, and then
//   dx = a dz + b (x - mean) + c
// with three numbers a channel.

#include <cmath>

#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/kernels/cuda/channels.cuh"
#include "firn/tensor/kernels/cuda/moments.cuh"
#include "firn/tensor/kernels/fused_activation.h"
#include "firn/tensor/ops/norm/batch_norm.h"

namespace firn::batch_norm_cuda {
namespace {

using In = BatchNormIn;
using Out = BatchNormOut;
using GradIn = BatchNormGradIn;
using GradOut = BatchNormGradOut;

template <class Acc>
FIRN_HOST_DEVICE Acc Activate(FusedActivation a, Acc z) {
  if (a == FusedActivation::kRelu) return firn::Activate<FusedActivation::kRelu>(z);
  return a == FusedActivation::kTanh ? firn::Activate<FusedActivation::kTanh>(z) : z;
}
template <class Acc>
FIRN_HOST_DEVICE Acc ActivationGrad(FusedActivation a, Acc dy, Acc y) {
  if (a == FusedActivation::kRelu) return firn::ActivationGrad<FusedActivation::kRelu>(dy, y);
  return a == FusedActivation::kTanh ? firn::ActivationGrad<FusedActivation::kTanh>(dy, y) : dy;
}

// --- Forward -------------------------------------------------------------------------------------

// Statistics of every channel, in double, which holds the squares of f32, and moves the running
// ones.
template <class Number>
struct StatisticsFold : cuda::MomentsFold<double> {
  using Real = AccumulatorOf<Number>;

  double eps, momentum;
  Real *mean, *invstd;
  Number *running_mean, *running_var;

  FIRN_HOST_DEVICE void store(int64_t c, const Moments<double>& m) const {
    const auto count = static_cast<double>(m.count);
    mean[c] = static_cast<Real>(m.mean);
    invstd[c] = static_cast<Real>(1 / std::sqrt(m.squares / count + eps));
    Move(running_mean, c, m.mean);
    Move(running_var, c, m.squares / (count - 1));
  }
  FIRN_HOST_DEVICE void Move(Number* running, int64_t c, double batch) const {
    if (running == nullptr) return;
    const double old = static_cast<double>(running[c]);
    running[c] = ConvertTo<Number>((1 - momentum) * old + momentum * batch);
  }
};

template <class Number>
struct Normalize {
  using Acc = AccumulatorOf<Number>;
  struct Numbers {
    Acc mean, scale, shift;
  };

  const Number *weight, *bias;
  const Acc *mean, *invstd;
  FusedActivation activation;

  FIRN_HOST_DEVICE Numbers of(int64_t c) const {
    return {mean[c], weight == nullptr ? invstd[c] : static_cast<Acc>(weight[c]) * invstd[c],
            bias == nullptr ? Acc{0} : static_cast<Acc>(bias[c])};
  }
  FIRN_HOST_DEVICE Acc operator()(const Numbers& a, Acc x) const {
    return Activate(activation, (x - a.mean) * a.scale + a.shift);
  }
};

size_t Workspace(const KernelQuery& q) {
  return cuda::PlanChannels(q.in(In::kX)).Bytes(sizeof(Moments<double>));
}

template <class T, class Number>
absl::Status RunAs(KernelContext& k) {
  using Acc = AccumulatorOf<T>;
  const BatchNormAttrs& a = k.attrs<BatchNormAttrs>();
  const TensorSpec& spec = k.in_spec(In::kX);
  StatisticsFold<Number> fold;
  fold.eps = a.eps;
  fold.momentum = a.momentum;
  fold.mean = k.out<Acc>(Out::kMean);
  fold.invstd = k.out<Acc>(Out::kInvstd);
  fold.running_mean = k.inout<Number>(In::kRunningMean);
  fold.running_var = k.inout<Number>(In::kRunningVar);
  const T* x = k.in<T>(In::kX);
  FIRN_RETURN_IF_ERROR(cuda::ReduceWith(k, fold, cuda::PlanChannels(spec), k.workspace(), x));
  const Normalize<Number> f = {k.in<Number>(In::kWeight), k.in<Number>(In::kBias), fold.mean,
                               fold.invstd, a.activation};
  return cuda::MapChannels(k, spec, f, k.out<T>(Out::kY), x);
}

absl::Status Run(KernelContext& k) {
  const DType numbers =
      k.dtype_of_first({In::kWeight, In::kBias, In::kRunningMean, In::kRunningVar, In::kX});
  return VisitFloat(k.in_spec(In::kX).dtype, [&]<class T>(TypeTag<T>) {
    return VisitOrWide<T>(numbers,
                          [&]<class Number>(TypeTag<Number>) { return RunAs<T, Number>(k); });
  });
}

// --- The gradient: dy, x, y, weight, mean, invstd -> dx, dweight, dbias --------------------------

template <class T>
struct ChannelSums {
  T dz, dz_x;  // of dz and of dz * (x - mean); then their means
};

template <class T, class Number>
struct GradFold {
  using Real = AccumulatorOf<T>;
  using Acc = ChannelSums<Real>;
  using State = Acc;

  FusedActivation activation;
  const Real *mean, *invstd;
  Real count;
  Acc* means;
  Number *dweight, *dbias;

  FIRN_HOST_DEVICE State start() const { return {0, 0}; }
  FIRN_HOST_DEVICE void add(State& s, int64_t c, int64_t, T dy, T x, T y) const {
    const Real dz = ActivationGrad(activation, static_cast<Real>(dy), static_cast<Real>(y));
    s.dz += dz;
    s.dz_x += dz * (static_cast<Real>(x) - mean[c]);
  }
  FIRN_HOST_DEVICE Acc total(const State& s) const { return s; }
  FIRN_HOST_DEVICE Acc combine(const Acc& a, const Acc& b) const {
    return {a.dz + b.dz, a.dz_x + b.dz_x};
  }
  FIRN_HOST_DEVICE void store(int64_t c, const Acc& a) const {
    means[c] = {a.dz / count, a.dz_x / count};
    dweight[c] = static_cast<Number>(a.dz_x * invstd[c]);
    dbias[c] = static_cast<Number>(a.dz);
  }
};

template <class Number>
struct GradMap {
  using Acc = AccumulatorOf<Number>;
  struct Numbers {
    Acc mean, invstd, a, b, c;
  };

  FusedActivation activation;
  const Number* weight;
  const Acc *mean, *invstd;
  const ChannelSums<Acc>* means;

  FIRN_HOST_DEVICE Numbers of(int64_t c) const {
    const Acc s = invstd[c], a = weight == nullptr ? s : static_cast<Acc>(weight[c]) * s;
    return {mean[c], s, a, -a * (s * means[c].dz_x), -a * means[c].dz};
  }
  FIRN_HOST_DEVICE Acc operator()(const Numbers& v, Acc dy, Acc x, Acc y) const {
    // Does not multiply all numbers of a channel first, because Acc may not hold that product.
    return v.a * ActivationGrad(activation, dy, y) + v.b * ((x - v.mean) * v.invstd) + v.c;
  }
};

size_t MeansBytes(const cuda::ReduceWork& w) {
  return static_cast<size_t>(w.results) * sizeof(ChannelSums<double>);
}

size_t GradWorkspace(const KernelQuery& q) {
  const cuda::ReduceWork w = cuda::PlanChannels(q.in(GradIn::kDy));
  return MeansBytes(w) + w.Bytes(sizeof(ChannelSums<double>));
}

template <class T, class Number>
absl::Status RunGradAs(KernelContext& k) {
  using Acc = AccumulatorOf<T>;
  const FusedActivation activation = k.attrs<BatchNormAttrs>().activation;
  const TensorSpec& spec = k.in_spec(GradIn::kDy);
  const cuda::ReduceWork w = cuda::PlanChannels(spec);
  const T *dy = k.in<T>(GradIn::kDy), *x = k.in<T>(GradIn::kX);
  const T* y = k.has(GradIn::kY) ? k.in<T>(GradIn::kY) : dy;  // not read without an activation
  const Acc *mean = k.in<Acc>(GradIn::kMean), *invstd = k.in<Acc>(GradIn::kInvstd);
  auto* means = k.workspace<ChannelSums<Acc>>();
  const GradFold<T, Number> fold = {activation,
                                    mean,
                                    invstd,
                                    static_cast<Acc>(w.length),
                                    means,
                                    k.out<Number>(GradOut::kDweight),
                                    k.out<Number>(GradOut::kDbias)};
  FIRN_RETURN_IF_ERROR(cuda::ReduceWith(k, fold, w, k.workspace<char>() + MeansBytes(w), dy, x, y));
  const GradMap<Number> f = {activation, k.in<Number>(GradIn::kWeight), mean, invstd, means};
  return cuda::MapChannels(k, spec, f, k.out<T>(GradOut::kDx), dy, x, y);
}

absl::Status RunGrad(KernelContext& k) {
  return VisitFloat(k.in_spec(GradIn::kDy).dtype, [&]<class T>(TypeTag<T>) {
    return VisitOrWide<T>(k.out_spec(GradOut::kDweight).dtype,
                          [&]<class Number>(TypeTag<Number>) { return RunGradAs<T, Number>(k); });
  });
}

std::vector<Kernel> Training() {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = Workspace,
           .layouts = cuda::ChannelLayouts,
           .run = Run}};
}

}  // namespace

FIRN_REGISTER_KERNELS(batch_norm_train) { return Training(); }
FIRN_REGISTER_KERNELS(batch_norm_act_train) { return Training(); }
FIRN_REGISTER_KERNELS(batch_norm_grad) {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = GradWorkspace,
           .layouts = cuda::ChannelLayouts,
           .run = RunGrad}};
}

}  // namespace firn::batch_norm_cuda
