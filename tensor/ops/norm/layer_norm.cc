// layer_norm on rows (kernels/cpu/normalize_rows.h): x as [rows, columns], statistics per row. The
// fused gradient makes dx row by row and the column sums dweight and dbias in a fixed number of
// parts, added in order, so the result does not depend on the number of threads. Recorded gradients
// (create_graph) are written with operations (recorded_rows.h).
//
// rms_norm: the same with a mean of 0 (kCentred is false), so without mean(dxhat) and a bias.

#include "firn/tensor/ops/norm/layer_norm.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "firn/device/macros.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/normalize_rows.h"
#include "firn/tensor/kernels/cpu/parts.h"
#include "firn/tensor/kernels/cpu/rows.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/norm/recorded_rows.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

template <bool kCentred>
absl::Status Infer(InferContext& c) {
  const Shape& x = c.shape(0);
  for (int i : {1, 2}) {
    FIRN_RETURN_IF(c.has(i) && c.shape(i)[0] != x[1],
                   InvalidArgument(i == 1 ? "weight " : "bias ", c.shape(i).ToString(),
                                   " does not fit the ", x[1], " normalised elements"));
  }
  c.set_out_like(0, 0);
  c.set_out(1, StatisticsType(c.dtype(0)), Shape({x[0]}));
  if (kCentred) c.set_out(2, StatisticsType(c.dtype(0)), Shape({x[0]}));
  return absl::OkStatus();
}

template <bool kCentred>
absl::Status Run(KernelContext& k) {
  const int64_t rows = k.in_spec(0).shape[0], cols = k.in_spec(0).shape[1];
  cpu::VisitComputed(k.in_spec(0).dtype, [&]<class Acc>(TypeTag<Acc>) {
    ParallelFor(rows, cpu::RowGrain(cols), [&](int64_t begin, int64_t end) {
      cpu::NormalizeRows<kCentred, Acc>(k, begin, end);
    });
  });
  return absl::OkStatus();
}

// --- The fused gradient: dy, x, weight, mean, invstd -> dx, dweight, dbias -----------------------

template <bool kCentred>
absl::Status InferGrad(InferContext& c) {
  const Shape& x = c.shape(1);
  bool fits = c.shape(0) == x && (!c.has(2) || c.shape(2)[0] == x[1]);
  for (int i = 3; i < c.num_inputs(); ++i) {
    fits &= c.shape(i)[0] == x[0] && c.dtype(i) == StatisticsType(c.dtype(0));
  }
  FIRN_RETURN_IF(!fits, InvalidArgument("dy, weight, ", kCentred ? "mean and invstd" : "invrms",
                                        " do not fit x ", c.in(1).ToString()));
  c.set_out_like(0, 1);
  c.set_out(1, c.dtype(0), Shape({x[1]}));
  if (kCentred) c.set_out(2, c.dtype(0), Shape({x[1]}));
  return absl::OkStatus();
}

// Rows are cut into parts, each with column sums of its own.
int64_t NumParts(const Shape& x) {
  return std::max<int64_t>(1, cpu::NumParts(x[0], cpu::RowGrain(x[1])));
}

size_t GradWorkspace(const KernelQuery& q) {
  const size_t size = q.in(0).dtype == DType::kF64 ? sizeof(double) : sizeof(float);
  return static_cast<size_t>(2 * NumParts(q.in(0).shape) * q.in(0).shape[1]) * size;
}

template <bool kCentred>
absl::Status RunGrad(KernelContext& k) {
  const Shape& shape = k.in_spec(0).shape;
  const int64_t rows = shape[0], cols = shape[1], parts = NumParts(shape);
  cpu::VisitComputed(k.in_spec(0).dtype, [&]<class Acc>(TypeTag<Acc>) {
    Acc* const sums = k.workspace<Acc>();
    if (rows == 0) std::fill_n(sums, 2 * cols, Acc{0});
    cpu::ForEachPart(rows, cpu::RowGrain(cols), [&](int64_t part, int64_t begin, int64_t end) {
      cpu::NormalizeRowsGrad<kCentred, Acc>(k, begin, end, sums + 2 * part * cols);
    });
    for (int64_t part = 1; part < parts; ++part) {
      const Acc* const next = sums + 2 * part * cols;
      FIRN_INDEPENDENT_STEPS
      for (int64_t i = 0; i < 2 * cols; ++i) sums[i] += next[i];
    }
    cpu::RowsOut<Acc>(k, 1).Store(0, cols, sums);
    if (kCentred) cpu::RowsOut<Acc>(k, 2).Store(0, cols, sums + cols);
  });
  return absl::OkStatus();
}

template <bool kCentred>
void RecordedGrad(GradContext& g) {
  const DType dtype = StatisticsType(g.input(0).dtype());
  const Tensor &weight = g.input(1), dy = Cast(g.grad_output(0), dtype);
  const inner::RecordedRows<kCentred> rows(g.input(0), g.output(kCentred ? 2 : 1),
                                           g.attrs<LayerNormAttrs>().eps);
  const auto set = [&](int i, const Tensor& d) {
    g.set_grad_input(i, Cast(d, g.input_spec(i).dtype));
  };
  if (g.needs(1)) set(1, Sum(Mul(dy, rows.xhat()), 0));
  if (kCentred && g.needs(2)) set(2, Sum(dy, 0));
  if (g.needs(0)) set(0, rows.Dx(weight.defined() ? Mul(dy, Cast(weight, dtype)) : dy));
}

void SetGradients(GradContext& g, TensorList d) {
  for (size_t i = 0; i < d.size(); ++i) g.set_grad_input(static_cast<int>(i), std::move(d[i]));
}

void GradLayerNorm(GradContext& g) {
  if (GradEnabled()) return RecordedGrad<true>(g);
  SetGradients(g, Apply(TheOp<"layer_norm_grad">(),
                        {g.grad_output(0), g.input(0), g.input(1), g.output(1), g.output(2)}));
}

void GradRmsNorm(GradContext& g) {
  if (GradEnabled()) return RecordedGrad<false>(g);
  SetGradients(
      g, Apply(TheOp<"rms_norm_grad">(), {g.grad_output(0), g.input(0), g.input(1), g.output(1)}));
}

ArgDecl Vector(std::string_view name, std::string_view like, bool optional) {
  return {.name = name, .same_dtype_as = like, .min_rank = 1, .max_rank = 1, .optional = optional};
}

ArgDecl Statistics(std::string_view name) {
  return {.name = name, .dtypes = kStatistics, .min_rank = 1, .max_rank = 1};
}

FIRN_REGISTER_OP(layer_norm) {
  return {
      .doc = "Normalises every row of a matrix.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 2, .max_rank = 2},
                 Vector("weight", "x", true),
                 Vector("bias", "x", true)},
      .outputs = {{.name = "y"},
                  {.name = "mean", .constant = true},
                  {.name = "invstd", .constant = true}},
      .attrs = AttrsOf<LayerNormAttrs>(),
      .infer = Infer<true>,
      .grad = GradLayerNorm,
      .saves = {Saved::Input(0), Saved::Input(1), Saved::Output(1), Saved::Output(2)},
      .kernels = {{.name = "loop", .run = Run<true>}},
  };
}

FIRN_REGISTER_OP(layer_norm_grad) {
  return {
      .doc =
          "All gradients of layer_norm. Not differentiable: recorded gradients are written out "
          "with other operations.",
      .inputs = {{.name = "dy", .dtypes = kFloating, .min_rank = 2, .max_rank = 2},
                 {.name = "x", .same_dtype_as = "dy", .min_rank = 2, .max_rank = 2},
                 Vector("weight", "dy", true),
                 Statistics("mean"),
                 Statistics("invstd")},
      .outputs = {{.name = "dx"}, {.name = "dweight"}, {.name = "dbias"}},
      .infer = InferGrad<true>,
      .kernels = {{.name = "loop", .workspace = GradWorkspace, .run = RunGrad<true>}},
  };
}

FIRN_REGISTER_OP(rms_norm) {
  return {
      .doc = "Divides every row of a matrix by its root mean square.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 2, .max_rank = 2},
                 Vector("weight", "x", true)},
      .outputs = {{.name = "y"}, {.name = "invrms", .constant = true}},
      .attrs = AttrsOf<LayerNormAttrs>(),
      .infer = Infer<false>,
      .grad = GradRmsNorm,
      .saves = {Saved::Input(0), Saved::Input(1), Saved::Output(1)},
      .kernels = {{.name = "loop", .run = Run<false>}},
  };
}

FIRN_REGISTER_OP(rms_norm_grad) {
  return {
      .doc =
          "All gradients of rms_norm. Not differentiable: recorded gradients are written out with "
          "other operations.",
      .inputs = {{.name = "dy", .dtypes = kFloating, .min_rank = 2, .max_rank = 2},
                 {.name = "x", .same_dtype_as = "dy", .min_rank = 2, .max_rank = 2},
                 Vector("weight", "dy", true),
                 Statistics("invrms")},
      .outputs = {{.name = "dx"}, {.name = "dweight"}},
      .infer = InferGrad<false>,
      .kernels = {{.name = "loop", .workspace = GradWorkspace, .run = RunGrad<false>}},
  };
}

// x, and what has the shape of a row, as a matrix and rows of it.
struct Flat {
  Tensor x;
  int64_t cols;
  Tensor operator()(const Tensor& t) const { return t.defined() ? Reshape(t, {cols}) : t; }
};
Flat Flatten(const Tensor& x, const Shape& normalized_shape, const Tensor& weight,
             const Tensor& bias, std::string_view op) {
  CheckDefined(x, op, "x");
  const int lead = x.rank() - normalized_shape.rank();
  bool fits = lead >= 0 && normalized_shape.rank() > 0;
  for (int i = 0; fits && i < normalized_shape.rank(); ++i) {
    fits = x.shape()[lead + i] == normalized_shape[i];
  }
  for (const Tensor* t : {&weight, &bias}) fits &= !t->defined() || t->shape() == normalized_shape;
  if (!fits) {
    RaiseStatus(InvalidArgument("normalized_shape ", normalized_shape.ToString(),
                                " must be the trailing sizes of x ", x.shape().ToString(),
                                " and the shape of weight and bias"),
                op);
  }
  const int64_t cols = normalized_shape.num_elements();
  const int64_t rows = cols == 0 ? 0 : x.num_elements() / cols;
  return {Reshape(x, {rows, cols}), cols};
}

double MachineEpsilon(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 0x1p-52;
    case DType::kF16:
      return 0x1p-10;
    case DType::kBF16:
      return 0x1p-7;
    default:
      return 0x1p-23;
  }
}

}  // namespace

Tensor LayerNorm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight,
                 const Tensor& bias, Real eps) {
  const OpDef& op = TheOp<"layer_norm">();
  const Flat flat = Flatten(x, normalized_shape, weight, bias, op.name);
  const TensorList y = Apply(op, {flat.x, flat(weight), flat(bias)}, LayerNormAttrs{eps});
  return Reshape(y[0], x.shape());
}

Tensor RmsNorm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight,
               std::optional<double> eps) {
  const OpDef& op = TheOp<"rms_norm">();
  const Flat flat = Flatten(x, normalized_shape, weight, {}, op.name);
  const TensorList y =
      Apply(op, {flat.x, flat(weight)}, LayerNormAttrs{eps.value_or(MachineEpsilon(x.dtype()))});
  return Reshape(y[0], x.shape());
}

}  // namespace firn
