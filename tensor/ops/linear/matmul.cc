// matmul: products of matrices and of stacks of them.
//
// With C = A B for matrices, dA = dC B^T and dB = A^T dC; each is a product again, whose operands
// are the saved ones read in the other direction. An operand that was broadcast over a batch gets
// the sum over it: for a matrix b under a stack a, that sum is folded into the inner dimension of
// one product, otherwise the tape adds up.

#include "firn/tensor/ops/linear/matmul.h"

#include <optional>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/cpu/matmul.h"
#include "firn/tensor/kernels/cpu/matmul_constant.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

// Rows and columns of an operand as used in the product; 1-D ones are a row (a) or a column (b).
struct MatrixSize {
  int64_t rows, cols;
};
MatrixSize SizeOfMatrix(const Shape& s, bool transpose, bool vector_is_row) {
  if (s.rank() == 1) {
    return vector_is_row ? MatrixSize{1, s[0]} : MatrixSize{s[0], 1};
  }
  const MatrixSize size{s.dim(-2), s.dim(-1)};
  return transpose ? MatrixSize{size.cols, size.rows} : size;
}

Shape BatchShape(const Shape& s) {
  return Shape::Trusted([&] {
    Dims d;
    for (int i = 0; i + 2 < s.rank(); ++i) d.push_back(s[i]);
    return d;
  }());
}

absl::Status Infer(InferContext& c) {
  const MatmulAttrs& at = c.attrs<MatmulAttrs>();
  const Shape &a = c.shape(0), &b = c.shape(1);
  FIRN_RETURN_IF(
      (at.transpose_a && a.rank() == 1) || (at.transpose_b && b.rank() == 1),
      InvalidArgument("a vector has no transpose: a ", a.ToString(), ", b ", b.ToString()));
  const MatrixSize left = SizeOfMatrix(a, at.transpose_a, true);
  const MatrixSize right = SizeOfMatrix(b, at.transpose_b, false);
  FIRN_RETURN_IF(left.cols != right.rows,
                 InvalidArgument("the inner sizes ", left.cols, " and ", right.rows, " of a ",
                                 a.ToString(), at.transpose_a ? " transposed" : "", " and b ",
                                 b.ToString(), at.transpose_b ? " transposed" : "", " differ"));
  absl::StatusOr<Shape> batch = BroadcastShapes(BatchShape(a), BatchShape(b));
  FIRN_RETURN_IF(!batch.ok(), InvalidArgument("the batches of a ", a.ToString(), " and b ",
                                              b.ToString(), " do not broadcast"));
  Dims out = batch->dims();
  if (a.rank() > 1) out.push_back(left.rows);
  if (b.rank() > 1) out.push_back(right.cols);
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(out.span()));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

template <class Context>  // KernelQuery or KernelContext
MatmulPlan Plan(const Context& c, const TensorSpec& a, const TensorSpec& b) {
  const MatmulAttrs& at = c.template attrs<MatmulAttrs>();
  return PlanMatmul(a, at.transpose_a, b, at.transpose_b);
}

size_t Workspace(const KernelQuery& q) {
  return cpu::MatmulWorkspace(q.in(0).dtype, Plan(q, q.in(0), q.in(1)));
}

absl::Status Run(KernelContext& k) {
  const MatmulPlan plan = Plan(k, k.in_spec(0), k.in_spec(1));
  VisitNumeric(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    cpu::RunMatmul(plan, k.in<T>(0), k.in<T>(1), k.out<T>(), false, k.workspace());
  });
  return absl::OkStatus();
}

// `x` with a dimension of size 1 put in at `at`.
Tensor WithUnitDim(const Tensor& x, int at) {
  Dims d;
  for (int i = 0; i <= x.rank(); ++i) {
    if (i == at) d.push_back(1);
    if (i < x.rank()) d.push_back(x.shape()[i]);
  }
  return Reshape(x, d.span());
}

// All but the last dimension as one.
Tensor Rows(const Tensor& x) {
  return Reshape(x, {x.num_elements() / x.shape().dim(-1), x.shape().dim(-1)});
}

// dB for C = A B with matrices: a and dc as stacks of matrices.
Tensor GradB(const Tensor& a, bool transpose_a, const Tensor& dc, bool one_b, bool transpose_b) {
  // A single b under a stack a: all rows of the stack are rows of one matrix.
  const bool fold = one_b && dc.rank() > 2 && !transpose_a && a.shape().dim(-1) > 0 &&
                    dc.shape().dim(-1) > 0 && a.rank() == dc.rank();
  const Tensor left = fold ? Rows(a) : a, right = fold ? Rows(dc) : dc;
  return transpose_b ? Matmul(right, left, true, transpose_a)
                     : Matmul(left, right, !transpose_a, false);
}

void Grad(GradContext& g) {
  const MatmulAttrs& at = g.attrs<MatmulAttrs>();
  const Tensor &a = g.input(0), &b = g.input(1);
  Tensor dc = g.grad_output();
  if (a.rank() == 1) dc = WithUnitDim(dc, dc.rank() - (b.rank() > 1 ? 1 : 0));
  if (b.rank() == 1) dc = WithUnitDim(dc, dc.rank());
  if (g.needs(0)) {
    const Tensor right = b.rank() == 1 ? WithUnitDim(b, 1) : b;
    Tensor da = at.transpose_a ? Matmul(right, dc, at.transpose_b, true)
                               : Matmul(dc, right, false, !at.transpose_b);
    if (da.num_elements() == a.num_elements()) da = Reshape(da, a.shape());
    g.set_grad_input(0, std::move(da));
  }
  if (g.needs(1)) {
    const Tensor left = a.rank() == 1 ? WithUnitDim(a, 0) : a;
    Tensor db = GradB(left, at.transpose_a, dc, b.rank() <= 2, at.transpose_b);
    // [..., k, 1] of a vector is summed as [..., k].
    if (b.rank() == 1)
      db = Reshape(db, db.shape().span().first(static_cast<size_t>(db.rank()) - 1));
    g.set_grad_input(1, std::move(db));
  }
}

absl::StatusOr<std::optional<PackedCall>> PackB(const KernelQuery& q, const Kernel& kernel,
                                                const Tensor& b) {
  FIRN_ASSIGN_OR_RETURN(std::optional<Tensor> spread,
                        cpu::SpreadRight(Plan(q, q.in(0), q.in(1)), kernel, b));
  if (!spread) return std::nullopt;
  return PackedCall{{&TheOp<"matmul">(), Attrs(q.attrs<MatmulAttrs>())}, *std::move(spread)};
}

constexpr GraphTraits kTraits = {.packing = Packing{.input = 1, .pack = PackB}};

FIRN_REGISTER_OP(matmul) {
  return {
      .doc = "The matrix product; leading dimensions broadcast, vectors are a row or a column.",
      .autocast = Autocast::kLow,
      .inputs = {{.name = "a", .dtypes = kNumeric, .min_rank = 1},
                 {.name = "b", .dtypes = kNumeric, .same_dtype_as = "a", .min_rank = 1}},
      .outputs = {{.name = "c"}},
      .attrs = AttrsOf<MatmulAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .kernels = {{.name = "gemm", .workspace = Workspace, .run = Run, .takes = Takes::kStrided}},
      .graph = &kTraits,
  };
}

}  // namespace

Tensor Matmul(const Tensor& a, const Tensor& b, Flag transpose_a, Flag transpose_b) {
  return Apply1(TheOp<"matmul">(), {a, b}, MatmulAttrs{transpose_a, transpose_b});
}

}  // namespace firn
