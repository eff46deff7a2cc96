// linear: y = x W^T + b. The bias is written to y first and the product added to it, so that no
// further pass over y is needed. dx = dy W, dW = dy^T x over all rows at once, db = the sum of dy's
// rows.

#include "firn/tensor/ops/linear/linear.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/cpu/matmul.h"
#include "firn/tensor/kernels/cpu/matmul_constant.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/quantize/products.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

using In = LinearIn;

absl::Status Infer(InferContext& c) {
  const Shape &x = c.shape(In::kX), &weight = c.shape(In::kWeight);
  FIRN_RETURN_IF(
      x.dim(-1) != weight[1],
      InvalidArgument("weight ", weight.ToString(), " wants ", weight[1],
                      " features in the last dimension, x is ", c.in(In::kX).ToString()));
  FIRN_RETURN_IF(c.has(In::kBias) && c.shape(In::kBias)[0] != weight[0],
                 InvalidArgument("bias ", c.shape(In::kBias).ToString(), " does not fit weight ",
                                 weight.ToString(), " (want [", weight[0], "])"));
  Dims out = x.dims();
  out[out.rank - 1] = weight[0];
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(out.span()));
  c.set_out(0, c.dtype(In::kX), shape);
  return absl::OkStatus();
}

size_t Workspace(const KernelQuery& q) {
  const TensorSpec& x = q.in(In::kX);
  return cpu::MatmulWorkspace(x.dtype, PlanMatmul(x, false, q.in(In::kWeight), true));
}

// Every row of y becomes the bias.
template <class T>
void FillRows(const KernelContext& k) {
  const T* bias = k.in<T>(In::kBias);
  const int64_t step = k.in_spec(In::kBias).layout.strides[0];
  const int64_t n = k.out_spec().shape.dim(-1);
  T* y = k.out<T>();
  ParallelFor(k.out_spec().num_elements() / n, std::max<int64_t>(1, 65536 / n),
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  for (int64_t j = 0; j < n; ++j) y[i * n + j] = bias[j * step];
                }
              });
}

absl::Status Run(KernelContext& k) {
  const MatmulPlan plan = PlanMatmul(k.in_spec(In::kX), false, k.in_spec(In::kWeight), true);
  VisitFloat(k.in_spec(In::kX).dtype, [&]<class T>(TypeTag<T>) {
    const bool biased = k.has(In::kBias);
    if (biased) FillRows<T>(k);
    cpu::RunMatmul(plan, k.in<T>(In::kX), k.in<T>(In::kWeight), k.out<T>(), biased, k.workspace());
  });
  return absl::OkStatus();
}

// All but the last dimension as one.
Tensor Rows(const Tensor& x) {
  int64_t rows = 1;
  for (int64_t size : x.shape().span().first(static_cast<size_t>(x.rank()) - 1)) rows *= size;
  return Reshape(x, {rows, x.shape().dim(-1)});
}

void Grad(GradContext& g) {
  const Tensor& dy = g.grad_output();
  if (g.needs(In::kX)) g.set_grad_input(In::kX, Matmul(dy, g.input(In::kWeight)));
  if (!g.needs(In::kWeight) && !g.needs(In::kBias)) return;
  const Tensor rows = Rows(dy);
  if (g.needs(In::kWeight)) {
    g.set_grad_input(In::kWeight, Matmul(rows, Rows(g.input(In::kX)), true, false));
  }
  if (g.needs(In::kBias)) g.set_grad_input(In::kBias, Sum(rows, 0));
}

Tensor IntegerSums(const Tensor& x, const Tensor& x_zero, const Tensor& weight, AttrsRef) {
  return IntLinear(x, x_zero, weight);
}

absl::StatusOr<std::optional<PackedCall>> PackWeight(const KernelQuery& q, const Kernel& kernel,
                                                     const Tensor& weight) {
  const MatmulPlan plan = PlanMatmul(q.in(In::kX), false, q.in(In::kWeight), true);
  FIRN_ASSIGN_OR_RETURN(std::optional<Tensor> spread, cpu::SpreadRight(plan, kernel, weight));
  if (!spread) return std::nullopt;
  return PackedCall{{&TheOp<"linear">(), {}}, *std::move(spread)};
}

constexpr GraphTraits kTraits = {
    .channel_map =
        ChannelMap{.x = In::kX, .weight = In::kWeight, .bias = In::kBias, .channels = -1},
    .packing = Packing{.input = In::kWeight, .pack = PackWeight},
    .integer_sums = IntegerSums,
};

FIRN_REGISTER_OP(linear) {
  return {
      .doc = "x W^T + b on the last dimension.",
      .autocast = Autocast::kLow,
      .inputs =
          {{.name = "x", .dtypes = kFloating, .min_rank = 1},
           {.name = "weight", .same_dtype_as = "x", .min_rank = 2, .max_rank = 2},
           {.name = "bias", .same_dtype_as = "x", .min_rank = 1, .max_rank = 1, .optional = true}},
      .outputs = {{.name = "y"}},
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(In::kX), Saved::Input(In::kWeight)},
      .kernels = {{.name = "gemm", .workspace = Workspace, .run = Run, .takes = Takes::kStrided}},
      .graph = &kTraits,
  };
}

}  // namespace

Tensor Linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return Apply1(TheOp<"linear">(), {x, weight, bias});
}

}  // namespace firn
