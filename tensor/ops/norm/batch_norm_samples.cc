#include <algorithm>
#include <cmath>
#include <string>

#include "firn/tensor/ops/norm/batch_norm.h"
#include "firn/tensor/problems/norm_options.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

struct Statistics {
  std::vector<double> mean, var;
  double count;
};

Statistics StatisticsOf(const RefTensor& x) {
  const auto channels = static_cast<size_t>(x.shape[1]);
  Statistics s{std::vector<double>(channels), std::vector<double>(channels),
               static_cast<double>(x.size()) / static_cast<double>(channels)};
  const auto channel = [](absl::Span<const int64_t> at) { return static_cast<size_t>(at[1]); };
  ForEachIndex(x.shape, [&](auto at) { s.mean[channel(at)] += x.at(at) / s.count; });
  ForEachIndex(x.shape, [&](auto at) {
    s.var[channel(at)] += std::pow(x.at(at) - s.mean[channel(at)], 2) / s.count;
  });
  return s;
}

double Activated(double z, FusedActivation a) {
  if (a == FusedActivation::kRelu) return std::max(z, 0.0);
  return a == FusedActivation::kTanh ? std::tanh(z) : z;
}

// New running statistics where they are given, then y, mean, 1 / sqrt(var + eps).
std::vector<RefTensor> Normalized(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const auto& a = attrs.get<BatchNormAttrs>();
  const Statistics s = StatisticsOf(in[0]);
  std::vector<RefTensor> results;
  const auto move = [&](const RefTensor& running, const std::vector<double>& batch, double factor) {
    if (!running.defined()) return;
    RefTensor moved = running;
    for (size_t c = 0; c < batch.size(); ++c) {
      moved.values[c] = (1 - a.momentum) * running.values[c] + a.momentum * factor * batch[c];
    }
    results.push_back(moved);
  };
  move(in[3], s.mean, 1);
  move(in[4], s.var, s.count / (s.count - 1));
  RefTensor y(in[0].shape), mean(Shape({in[0].shape[1]})), invstd = mean;
  for (size_t c = 0; c < s.mean.size(); ++c) {
    mean.values[c] = s.mean[c];
    invstd.values[c] = 1 / std::sqrt(s.var[c] + a.eps);
  }
  ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
    const double xhat = (in[0].at(at) - mean[at[1]]) * invstd[at[1]];
    const double weight = in[1].defined() ? in[1][at[1]] : 1;
    y.at(at) = Activated(xhat * weight + (in[2].defined() ? in[2][at[1]] : 0), a.activation);
  });
  results.insert(results.end(), {y, mean, invstd});
  return results;
}

// dx, dweight and dbias from the chain rule through mean and variance, term by term:
//   dx = w invstd dz + dvar 2 (x - mean) / n + dmean / n.
std::vector<RefTensor> Gradients(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const RefTensor &dy = in[0], &x = in[1], &y = in[2], &mean = in[4], &invstd = in[5];
  const auto activation = attrs.get<BatchNormAttrs>().activation;
  const Shape channels({x.shape[1]});
  const auto count = static_cast<double>(x.size()) / static_cast<double>(x.shape[1]);
  const auto dz = [&](absl::Span<const int64_t> at) {
    if (activation == FusedActivation::kRelu) return y.at(at) > 0 ? dy.at(at) : 0.0;
    if (activation == FusedActivation::kTanh) return dy.at(at) * (1 - y.at(at) * y.at(at));
    return dy.at(at);
  };
  const auto weight = [&](int64_t c) { return in[3].defined() ? in[3][c] : 1.0; };
  RefTensor dx(x.shape), dweight(channels), dbias(channels), dvar(channels), dmean(channels);
  ForEachIndex(x.shape, [&](absl::Span<const int64_t> at) {
    const int64_t c = at[1];
    const double centred = x.at(at) - mean[c], dxhat = dz(at) * weight(c);
    dbias[c] += dz(at);
    dweight[c] += dz(at) * centred * invstd[c];
    dvar[c] += dxhat * centred * -0.5 * std::pow(invstd[c], 3);
    dmean[c] -= dxhat * invstd[c];
  });
  ForEachIndex(x.shape, [&](absl::Span<const int64_t> at) {
    const int64_t c = at[1];
    dx.at(at) = dz(at) * weight(c) * invstd[c] + dvar[c] * 2 * (x.at(at) - mean[c]) / count +
                dmean[c] / count;
  });
  return {dx, dweight, dbias};
}

Tensor InTraining(In in, const BatchNormAttrs& a) {
  return BatchNorm(
      in[0], in[3], in[4], in[1], in[2],
      {.training = true, .momentum = a.momentum, .eps = a.eps, .activation = a.activation});
}

void AddCalls(Samples& s, FusedActivation activation) {
  const Tensor none;
  const BatchNormAttrs attrs{.activation = activation};
  const BatchNormAttrs other{.momentum = 0.3, .eps = 1e-2, .activation = activation};
  s.Add("matrix",
        {Normal({5, 3}), Normal({3}, 2), Normal({3}, 3), Normal({3}, 4), Uniform({3}, 0.5, 2, 5)},
        attrs);
  s.Add("images, other options",
        {Normal({2, 3, 4, 2}), Normal({3}, 2), Normal({3}, 3), Normal({3}, 4),
         Uniform({3}, 0.5, 2, 5)},
        other);
  s.Add("no affine map, no running statistics", {Normal({4, 2, 3}), none, none, none, none}, attrs);
  s.Add("blocked channels",
        {Normal({2, 16, 3, 3}), Normal({16}, 2), Normal({16}, 3), Normal({16}, 4),
         Uniform({16}, 0.5, 2, 5)},
        attrs);
  s.Add("one image",
        {Normal({1, 8, 3, 2}), Normal({8}, 2), Normal({8}, 3), Normal({8}, 4),
         Uniform({8}, 0.5, 2, 5)},
        attrs);
  s.AddLarge("64x128x8x8",
             {Normal({64, 128, 8, 8}), Normal({128}, 2), Normal({128}, 3), Normal({128}, 4),
              Uniform({128}, 0.5, 2, 5)},
             attrs, 4e6, 4.2e6);
  s.AddError("weight", {Normal({2, 3}), Normal({2}), none, none, none}, attrs,
             "weight [2] does not fit the channels of x [2, 3]");
  s.AddError("one value per channel", {Normal({1, 3}), none, none, none, none}, attrs,
             "training wants more than one value per channel, x is [1, 3]");
  s.AddError("rank", {Normal({3}), none, none, none, none}, attrs, "x must have 2 to 8 dimensions");
  const Tensor half = Normal({2, 3}).To(DType::kBF16);
  s.AddError("another half type", {half, Normal({3}).To(DType::kF16), none, none, none}, attrs,
             "weight must be bf16 or f32 where x is bf16, got f16");
  s.AddError("a half bias beside f32",
             {half, Normal({3}).To(DType::kF32), Normal({3}).To(DType::kBF16), none, none}, attrs,
             "weight is f32 but bias is bf16: convert one");
}

FIRN_REGISTER_SAMPLES(batch_norm_train) {
  s.WithoutVectors("they are among those of batch_norm");
  s.Function(InTraining);
  s.Reference(Normalized);
  AddCalls(s, FusedActivation::kNone);
  s.AddError("activation", {Normal({2, 3}), Tensor(), Tensor(), Tensor(), Tensor()},
             BatchNormAttrs{.activation = FusedActivation::kRelu},
             "an activation is for batch_norm_act_train");
}

FIRN_REGISTER_SAMPLES(batch_norm_act_train) {
  s.WithoutVectors("they are among those of batch_norm");
  s.Function(InTraining);
  s.Reference(Normalized);
  AddCalls(s, FusedActivation::kTanh);
  // Normal values: none within a millionth of the kink.
  s.Add("relu",
        {Normal({5, 3}), Normal({3}, 2), Normal({3}, 3), Normal({3}, 4), Uniform({3}, 0.5, 2, 5)},
        BatchNormAttrs{.activation = FusedActivation::kRelu});
}

FIRN_REGISTER_SAMPLES(batch_norm_grad) {
  s.Internal("the gradient of batch_norm_train");
  s.Reference(Gradients);
  const Tensor none;
  s.Add("matrix",
        {Normal({5, 3}), Normal({5, 3}, 2), none, Normal({3}, 3), Normal({3}, 4),
         Uniform({3}, 0.5, 2, 5)},
        BatchNormAttrs{});
  s.Add("no weight",
        {Normal({5, 3}), Normal({5, 3}, 2), none, none, Normal({3}, 4), Uniform({3}, 0.5, 2, 5)},
        BatchNormAttrs{});
  s.Add("tanh, blocked channels",
        {Normal({2, 16, 3, 3}), Normal({2, 16, 3, 3}, 2), Uniform({2, 16, 3, 3}, -1, 1, 6),
         Normal({16}, 3), Normal({16}, 4), Uniform({16}, 0.5, 2, 5)},
        BatchNormAttrs{.activation = FusedActivation::kTanh});
  s.Add("relu",
        {Normal({2, 3, 4, 2}), Normal({2, 3, 4, 2}, 2), Uniform({2, 3, 4, 2}, -1, 1, 6),
         Normal({3}, 3), Normal({3}, 4), Uniform({3}, 0.5, 2, 5)},
        BatchNormAttrs{.activation = FusedActivation::kRelu});
  s.AddLarge("64x128x8x8",
             {Normal({64, 128, 8, 8}), Normal({64, 128, 8, 8}, 2), none, Normal({128}, 3),
              Normal({128}, 4), Uniform({128}, 0.5, 2, 5)},
             BatchNormAttrs{}, 6e6, 6.3e6);
  s.AddError("shapes",
             {Normal({5, 3}), Normal({5, 2}, 2), none, none, Normal({3}, 4), Normal({3}, 5)},
             BatchNormAttrs{}, "dy, x and y must have one shape");
  s.AddError("half statistics",
             {Normal({5, 3}).To(DType::kF16), Normal({5, 3}).To(DType::kF16), none, none,
              Normal({3}).To(DType::kF16), Normal({3}).To(DType::kF16)},
             BatchNormAttrs{}, "mean must be f32 where dy is f16, got f16");
  s.AddError("y without activation",
             {Normal({5, 3}), Normal({5, 3}), Normal({5, 3}), none, Normal({3}, 4), Normal({3}, 5)},
             BatchNormAttrs{}, "y belongs to an activation");
}

struct EitherAttrs {
  bool training = false;
  BatchNormAttrs rest = {};
  template <class V>
  void Visit(V& v) {
    v.Field("training", training);
    rest.Visit(v);
  }
};

// What training leaves in them, or running statistics that are only read; then y.
template <decltype(BatchNorm)& kFunction>
void AddComposite(Samples& s) {
  const auto of_channels = [](const char* name, bool inout, bool optional) {
    return ArgDecl{.name = name,
                   .same_dtype_as = "x",
                   .or_wide = true,
                   .min_rank = 1,
                   .max_rank = 1,
                   .optional = optional,
                   .inout = inout};
  };
  s.Declare({{.name = "x", .dtypes = kFloating, .min_rank = 2},
             of_channels("running_mean", true, false),
             of_channels("running_var", true, false),
             of_channels("weight", false, true),
             of_channels("bias", false, true)});
  s.Function([](In in, const EitherAttrs& a) {
    return kFunction(in[0], in[1], in[2], in[3], in[4],
                     {.training = a.training,
                      .momentum = a.rest.momentum,
                      .eps = a.rest.eps,
                      .activation = a.rest.activation});
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const EitherAttrs& a = attrs.get<EitherAttrs>();
    if (a.training) {
      std::vector<RefTensor> all = Normalized({{in[0], in[3], in[4], in[1], in[2]}}, a.rest);
      all.resize(3);
      return all;
    }
    RefTensor y(in[0].shape);
    ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
      const double xhat = (in[0].at(at) - in[1][at[1]]) / std::sqrt(in[2][at[1]] + a.rest.eps);
      const double weight = in[3].defined() ? in[3][at[1]] : 1;
      y.at(at) = Activated(xhat * weight + (in[4].defined() ? in[4][at[1]] : 0), a.rest.activation);
    });
    return std::vector<RefTensor>{in[1], in[2], y};
  });
  for (const bool training : {false, true}) {
    const std::string mode = training ? ", training" : ", evaluation";
    const Tensor mean = Normal({3}, 4), var = Uniform({3}, 0.5, 2, 5), none;
    s.Add("matrix" + mode, {Normal({5, 3}), mean, var, Normal({3}, 2), Normal({3}, 3)},
          EitherAttrs{training});
    s.Add("images, other options" + mode, {Normal({2, 3, 4, 2}), mean, var, none, Normal({3}, 3)},
          EitherAttrs{training, {.momentum = 0.3, .eps = 1e-2}});
    s.Add("tanh" + mode, {Normal({4, 3, 2}), mean, var, Normal({3}, 2), none},
          EitherAttrs{training, {.activation = FusedActivation::kTanh}});
    s.Add("blocked channels, relu" + mode,
          {Normal({2, 16, 3, 3}), Normal({16}, 4), Uniform({16}, 0.5, 2, 5), Normal({16}, 2),
           Normal({16}, 3)},
          EitherAttrs{training, {.activation = FusedActivation::kRelu}});
  }
  s.AddError("channels", {Normal({5, 3}), Normal({2}), Uniform({2}, 1, 2), Tensor(), Tensor()},
             EitherAttrs{}, "does not fit the channels of x [5, 3]");
}

FIRN_REGISTER_COMPOSITE(batch_norm) { AddComposite<BatchNorm>(s); }

FIRN_REGISTER_COMPOSITE(sync_batch_norm) {
  s.WithoutVectors("one process has those of batch_norm");
  AddComposite<SyncBatchNorm>(s);
}

}  // namespace
}  // namespace firn::testing
