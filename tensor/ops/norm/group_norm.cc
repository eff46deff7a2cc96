// affine_group_norm: one pass each way (kernels/cpu/normalize_groups.h) where channels are lines of
// some length. Sums for each channel of each sample are added up in the order of samples, so the
// result does not depend on the number of threads.
//
// group_norm calls that, or otherwise a layer normalisation of [n * groups, rest] and a per-channel
// affine map.

#include "firn/tensor/ops/norm/group_norm.h"

#include <utility>

#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/normalize_groups.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/conv/channels.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/norm/layer_norm.h"
#include "firn/tensor/ops/norm/recorded_rows.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

absl::Status CheckGroups(const Shape& x, int64_t groups) {
  FIRN_RETURN_IF(groups < 1 || x[1] % groups != 0 || x[1] == 0,
                 InvalidArgument("groups ", groups, " must divide the ", x[1], " channels of x ",
                                 x.ToString()));
  return absl::OkStatus();
}

absl::Status Infer(InferContext& c) {
  const Shape& x = c.shape(0);
  const int64_t groups = c.attrs<GroupNormAttrs>().num_groups;
  FIRN_RETURN_IF_ERROR(CheckGroups(x, groups));
  for (int i : {1, 2}) {
    FIRN_RETURN_IF(c.has(i) && c.shape(i)[0] != x[1],
                   InvalidArgument(i == 1 ? "weight " : "bias ", c.shape(i).ToString(),
                                   " does not fit the ", x[1], " channels of x ", x.ToString()));
  }
  c.set_out_like(0, 0);
  for (int i : {1, 2}) c.set_out(i, StatisticsType(c.dtype(0)), Shape({x[0] * groups}));
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const GroupNormAttrs& a = k.attrs<GroupNormAttrs>();
  const cpu::ChannelGroups v(k.in_spec(0).shape, a.num_groups);
  cpu::VisitComputed(k.in_spec(0).dtype, [&]<class Acc>(TypeTag<Acc>) {
    ParallelFor(v.rows(), cpu::RowGrain(v.cols()), [&](int64_t begin, int64_t end) {
      cpu::NormalizeGroups<Acc>(k, v, a.eps, begin, end);
    });
  });
  return absl::OkStatus();
}

// --- The gradient: dy, x, weight, mean, invstd -> dx, dweight, dbias
// ------------------------------

absl::Status InferGrad(InferContext& c) {
  const Shape& x = c.shape(1);
  const int64_t groups = c.attrs<GroupNormAttrs>().num_groups;
  FIRN_RETURN_IF_ERROR(CheckGroups(x, groups));
  bool fits = c.shape(0) == x && (!c.has(2) || c.shape(2)[0] == x[1]);
  for (int i : {3, 4}) {
    fits &= c.shape(i)[0] == x[0] * groups && c.dtype(i) == StatisticsType(c.dtype(0));
  }
  FIRN_RETURN_IF(!fits,
                 InvalidArgument("dy, weight, mean and invstd do not fit x ", c.in(1).ToString()));
  c.set_out_like(0, 1);
  for (int i : {1, 2}) c.set_out(i, c.dtype(c.has(2) ? 2 : 0), Shape({x[1]}));
  return absl::OkStatus();
}

using Sums = std::pair<double, double>;

size_t GradWorkspace(const KernelQuery& q) {
  return static_cast<size_t>(q.in(1).shape[0] * q.in(1).shape[1]) * sizeof(Sums);
}

absl::Status RunGrad(KernelContext& k) {
  const Shape& x = k.in_spec(1).shape;
  const cpu::ChannelGroups v(x, k.attrs<GroupNormAttrs>().num_groups);
  Sums* const sums = k.workspace<Sums>();
  cpu::VisitComputed(k.in_spec(0).dtype, [&]<class Acc>(TypeTag<Acc>) {
    ParallelFor(v.rows(), cpu::RowGrain(v.cols()), [&](int64_t begin, int64_t end) {
      cpu::NormalizeGroupsGrad<Acc>(k, v, begin, end, sums);
    });
    const cpu::RowsOut<Acc> dweight(k, 1), dbias(k, 2);
    for (int64_t c = 0; c < x[1]; ++c) {
      Sums total = {0, 0};
      for (int64_t n = 0; n < x[0]; ++n) {
        total.first += sums[n * x[1] + c].first;
        total.second += sums[n * x[1] + c].second;
      }
      const Acc of_weight = static_cast<Acc>(total.first), of_bias = static_cast<Acc>(total.second);
      dweight.Store(c, 1, &of_weight);
      dbias.Store(c, 1, &of_bias);
    }
  });
  return absl::OkStatus();
}

void RecordedGrad(GradContext& g) {
  const Tensor &x = g.input(0), &weight = g.input(1);
  const DType dtype = StatisticsType(x.dtype());
  const Tensor dy = Cast(g.grad_output(0), dtype);
  const GroupNormAttrs& a = g.attrs<GroupNormAttrs>();
  const Shape matrix({x.size(0) * a.num_groups, x.size(1) / a.num_groups * x.size(2)});
  const inner::RecordedRows<true> rows(Reshape(x, matrix), g.output(2), a.eps);
  const auto sum = [&](const Tensor& t, int i) {
    if (g.needs(i)) g.set_grad_input(i, Cast(ChannelSum(t), g.input_spec(i).dtype));
  };
  sum(Mul(dy, Reshape(rows.xhat(), x.shape())), 1);
  sum(dy, 2);
  if (!g.needs(0)) return;
  const Tensor dxhat = weight.defined() ? ChannelAffine(dy, Cast(weight, dtype), {}) : dy;
  g.set_grad_input(0, Cast(Reshape(rows.Dx(Reshape(dxhat, matrix)), x.shape()), x.dtype()));
}

void Grad(GradContext& g) {
  if (GradEnabled()) return RecordedGrad(g);
  const TensorList d = Apply(TheOp<"affine_group_norm_grad">(),
                             {g.grad_output(0), g.input(0), g.input(1), g.output(1), g.output(2)},
                             g.attrs<GroupNormAttrs>());
  g.set_grad_input(0, d[0]);
  for (int i : {1, 2}) {
    if (g.needs(i)) g.set_grad_input(i, Cast(d[static_cast<size_t>(i)], g.input_spec(i).dtype));
  }
}

ArgDecl Matrices(std::string_view name) { return {.name = name, .min_rank = 3, .max_rank = 3}; }

ArgDecl Channels(std::string_view name, std::string_view like) {
  return {.name = name,
          .same_dtype_as = like,
          .or_wide = true,
          .min_rank = 1,
          .max_rank = 1,
          .optional = true};
}

ArgDecl Statistics(std::string_view name) {
  return {.name = name, .dtypes = kStatistics, .min_rank = 1, .max_rank = 1};
}

FIRN_REGISTER_OP(affine_group_norm) {
  ArgDecl x = Matrices("x");
  x.dtypes = kFloating;
  return {
      .doc = "Normalises groups of channels of [n, c, length], and maps each channel.",
      .autocast = Autocast::kFull,
      .inputs = {x, Channels("weight", "x"), Channels("bias", "x")},
      .outputs = {{.name = "y"},
                  {.name = "mean", .constant = true},
                  {.name = "invstd", .constant = true}},
      .attrs = AttrsOf<GroupNormAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(0), Saved::Input(1), Saved::Output(1), Saved::Output(2)},
      .kernels = {{.name = "loop", .run = Run}},
  };
}

FIRN_REGISTER_OP(affine_group_norm_grad) {
  ArgDecl dy = Matrices("dy"), x = Matrices("x");
  dy.dtypes = kFloating;
  x.same_dtype_as = "dy";
  return {
      .doc =
          "All gradients of affine_group_norm. Not differentiable: recorded gradients are "
          "written out with other operations.",
      .inputs = {dy, x, Channels("weight", "dy"), Statistics("mean"), Statistics("invstd")},
      .outputs = {{.name = "dx"}, {.name = "dweight"}, {.name = "dbias"}},
      .attrs = AttrsOf<GroupNormAttrs>(),
      .infer = InferGrad,
      .kernels = {{.name = "loop", .workspace = GradWorkspace, .run = RunGrad}},
  };
}

// Channels of fewer elements cost more than the pass over memory that is saved.
constexpr int64_t kLeastLength = 32;

}  // namespace

Tensor GroupNorm(const Tensor& x, Integer num_groups, const Tensor& weight, const Tensor& bias,
                 Real eps) {
  if (!x.defined() || x.rank() < 2) {
    RaiseStatus(InvalidArgument("x must have at least 2 dimensions, got ",
                                x.defined() ? x.spec().ToString() : "an undefined tensor"),
                "group_norm");
  }
  if (num_groups < 1 || x.size(1) % num_groups != 0) {
    RaiseStatus(InvalidArgument("num_groups ", num_groups, " must divide the ", x.size(1),
                                " channels of x ", x.shape().ToString()),
                "group_norm");
  }
  if (x.num_elements() == 0) return ChannelAffine(x, weight, bias);
  const int64_t length = x.num_elements() / (x.size(0) * x.size(1));
  if (x.device().is_cpu() && length >= kLeastLength) {
    const TensorList y = Apply(TheOp<"affine_group_norm">(),
                               {Reshape(x, {x.size(0), x.size(1), length}), weight, bias},
                               GroupNormAttrs{num_groups, eps});
    return Reshape(y[0], x.shape());
  }
  const int64_t rows = x.size(0) * num_groups;
  const Shape row{x.num_elements() / rows};
  const Tensor y = LayerNorm(Reshape(x, {rows, row[0]}), row, {}, {}, eps);
  // Autocast has brought y to f32, and channel_affine, which it leaves alone, takes no half
  // numbers.
  const bool autocast = ThisThread().autocast != nullptr;
  const auto as_y = [&](const Tensor& t) {
    return autocast && t.defined() ? Cast(t, y.dtype()) : t;
  };
  return ChannelAffine(Reshape(y, x.shape()), as_y(weight), as_y(bias));
}

}  // namespace firn
