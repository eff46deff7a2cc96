// Batch normalisation over ranks, of other operations. Each rank gathers the mean of every rank's
// values, the sum of their squared deviations from it, and how many they are; from these all
// compute the same statistics (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm
// for computing sample variances", 1979). No difference of large sums occurs, and ranks without
// values do not count. The gradient follows from the operations; that of the gathering is a sum
// over ranks.

#include <algorithm>

#include "firn/device/comm/communicator.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/collective/gather.h"
#include "firn/tensor/ops/collective/group_rules.h"
#include "firn/tensor/ops/conv/channels.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/norm/batch_norm.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

constexpr const char* kName = "sync_batch_norm";

void CheckVector(const Tensor& v, const Tensor& x, const char* name) {
  if (!v.defined() || v.shape() == Shape({x.size(1)})) return;
  RaiseStatus(InvalidArgument(name, " ", v.shape().ToString(), " does not fit the channels of x ",
                              x.shape().ToString()),
              kName);
}

// Statistics of all ranks' values: [c] each, and how many values a channel has, [1].
struct Statistics {
  Tensor mean, var, count;
};

// Those of the rank's own values: the mean, and the values without it.
struct Own {
  Tensor mean, centred;
};

Own OwnOf(const Tensor& x, int64_t count) {
  DimList others;  // all dimensions but the channels'
  for (int i = 0; i < x.rank(); ++i) {
    if (i != 1) others.push_back(i);
  }
  // Without values the mean is 0, and is computed so that the backward pass still goes through it.
  Own own{count == 0 ? inner::ChannelSum(x) : Mean(x, others), {}};
  own.centred = ChannelAffine(x, {}, Neg(own.mean));
  return own;
}

Statistics Gathered(const Own& own, int64_t count, int64_t group) {
  const int64_t c = own.mean.size(0);
  const Tensor squares = inner::ChannelSum(Square(own.centred));
  const Tensor number = Full({1}, static_cast<double>(count), own.mean.dtype());
  const Tensor mine = Reshape(Concat({own.mean, squares, number}), {1, 2 * c + 1});
  const Tensor all = AllGather(mine, {.group = group});
  const Tensor means = Narrow(all, 1, 0, c), deviations = Narrow(all, 1, c, c);
  const Tensor counts = Narrow(all, 1, 2 * c, 1);  // [ranks, 1]
  Statistics s;
  s.count = Sum(counts, {0});
  // Without any values nothing is divided by 0.
  const Tensor divisor = Maximum(s.count, 1);
  s.mean = Div(Sum(Mul(means, counts), {0}), divisor);
  const Tensor apart = Mul(counts, Square(Sub(means, s.mean)));
  s.var = Div(Sum(Add(deviations, apart), {0}), divisor);
  return s;
}

// running = (1 - momentum) running + momentum batch, of the unbiased variance.
void Move(const Statistics& s, const Tensor& running_mean, const Tensor& running_var,
          double momentum) {
  const NoGradScope no_grad;
  const auto move = [momentum](const Tensor& running, const Tensor& now) {
    if (!running.defined()) return;
    inner::Assign(running, Add(Mul(running, 1 - momentum), Mul(now, momentum)));
  };
  move(running_mean, s.mean);
  move(running_var, Mul(s.var, Div(s.count, Maximum(Sub(s.count, 1), 1))));
}

}  // namespace

Tensor SyncBatchNorm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                     const Tensor& weight, const Tensor& bias, const BatchNormOptions& o) {
  if (!o.training || inner::RanksOf(o.group, kName) == 1) {
    return BatchNorm(x, running_mean, running_var, weight, bias, o);
  }
  CheckDefined(x, kName);
  if (x.rank() < 2 || !IsFloating(x.dtype())) {
    RaiseStatus(
        InvalidArgument("x must be [n, c, ...] of floating numbers, got ", x.spec().ToString()),
        kName);
  }
  CheckVector(running_mean, x, "running_mean");
  CheckVector(running_var, x, "running_var");
  CheckVector(weight, x, "weight");
  CheckVector(bias, x, "bias");
  const DType dtype = ComputeDType(x.dtype());
  const int64_t count = x.num_elements() / std::max<int64_t>(x.size(1), 1);
  const Own own = OwnOf(Cast(x, dtype), count);
  const Statistics s = Gathered(own, count, o.group);
  Move(s, running_mean, running_var, o.momentum);
  const Tensor invstd = Rsqrt(Add(s.var, o.eps));
  const Tensor scale = weight.defined() ? Mul(Cast(weight, dtype), invstd) : invstd;
  Tensor shift = Mul(Sub(own.mean, s.mean), scale);
  if (bias.defined()) shift = Add(shift, Cast(bias, dtype));
  const Tensor z = ChannelAffine(own.centred, scale, shift);
  const Tensor y = o.activation == FusedActivation::kRelu   ? Relu(z)
                   : o.activation == FusedActivation::kTanh ? Tanh(z)
                                                            : z;
  return Cast(y, x.dtype());
}

}  // namespace firn
