// embedding: index_select on rows, whose gradient (index_add) leaves one row out.
//
// one_hot: indices as rows of the identity matrix.

#include "firn/tensor/ops/index/embedding.h"

#include <algorithm>
#include <vector>

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/kernels/cpu/index.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/index/embedding_body.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/view.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/index_rules.h"

namespace firn {
namespace {

absl::Status InferEmbedding(InferContext& c) {
  const int64_t padding = c.attrs<EmbeddingAttrs>().padding_idx;
  FIRN_RETURN_IF(padding != kNoIndex && (padding < 0 || padding >= c.shape(1)[0]),
                 OutOfRange("padding_idx ", padding, " is outside [0, ", c.shape(1)[0], ")"));
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p, PlanIndex(c.shape(1), c.shape(0), {}));
  c.set_out(0, c.dtype(1), p.selection);
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> BoundsEmbedding(const KernelQuery& q, int) {
  return IndexBounds{0, q.in(1).shape[0]};
}

absl::Status RunEmbedding(KernelContext& k) {
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p, PlanIndex(k.in_spec(1).shape, k.in_spec(0).shape, {}));
  VisitWidth(k.in_spec(1).dtype, [&]<class T>(TypeTag<T>) {
    VisitIndex(k.in_spec(0).dtype, [&]<class I>(TypeTag<I>) {
      cpu::SelectRows(p, k.in<T>(1), k.in<I>(0), k.out<T>());
    });
  });
  return absl::OkStatus();
}

// How often the row of each index is looked up, in a shape that broadcasts to the rows.
Tensor Frequencies(const Tensor& indices, const TensorSpec& weight) {
  // Counted in f32: bf16 cannot tell 256 from 257.
  const Tensor ones = Ones(indices.shape(), DType::kF32, weight.device);
  const Tensor none = ExpandedZeros({weight.shape[0]}, DType::kF32, weight.device);
  const Tensor counts = Cast(IndexAdd(none, 0, indices, ones), weight.dtype);
  std::vector<int64_t> sizes(indices.shape().begin(), indices.shape().end());
  sizes.resize(sizes.size() + static_cast<size_t>(weight.shape.rank()) - 1, 1);
  return Reshape(IndexSelect(counts, 0, indices), sizes);
}

void Grad(GradContext& g) {
  const EmbeddingAttrs& a = g.attrs<EmbeddingAttrs>();
  const TensorSpec& w = g.input_spec(1);
  const IndexAddAttrs attrs{{.ignored = a.padding_idx}};
  const Tensor& dy = g.grad_output();
  const Tensor rows = a.scale_grad_by_freq ? Div(dy, Frequencies(g.input(0), w)) : dy;
  g.set_grad_input(
      1, IndexAddWith(ExpandedZeros(w.shape, w.dtype, w.device), g.input(0), rows, attrs));
}

FIRN_REGISTER_OP(embedding) {
  return {
      .doc = "Rows of weight at indices; row padding_idx gets no gradient.",
      .inputs = {{.name = "indices", .dtypes = kIndex}, {.name = "weight", .min_rank = 1}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<EmbeddingAttrs>(),
      .infer = InferEmbedding,
      .grad = Grad,
      .saves = {Saved::Input(0)},
      .index_bounds = BoundsEmbedding,
      .index_inputs = {0},
      .kernels = {{.name = "loop", .run = RunEmbedding}},
  };
}

absl::Status InferOneHot(InferContext& c) {
  const OneHotAttrs& a = c.attrs<OneHotAttrs>();
  FIRN_RETURN_IF(a.num_classes < 0, InvalidArgument("num_classes ", a.num_classes, " is negative"));
  Dims sizes = c.shape(0).dims();
  sizes.push_back(a.num_classes);
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes.span()));
  c.set_out(0, a.dtype, shape);
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> BoundsOneHot(const KernelQuery& q, int) {
  return IndexBounds{0, q.attrs<OneHotAttrs>().num_classes};
}

FIRN_REGISTER_OP(one_hot) {
  return {
      .doc = "1 at the index along a new last dimension, 0 elsewhere. Not differentiable.",
      .inputs = {{.name = "indices", .dtypes = kIndex, .max_rank = kMaxRank - 1}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<OneHotAttrs>(),
      .infer = InferOneHot,
      .index_bounds = BoundsOneHot,
      .index_inputs = {0},
      .kernels = cpu::Portable<OneHotKernel>(),
  };
}

}  // namespace

Tensor Embedding(const Tensor& indices, const Tensor& weight, const EmbeddingOptions& options) {
  const OpDef& op = TheOp<"embedding">();
  int64_t padding = options.padding_idx.value_or(kNoIndex);
  if (padding < 0 && padding != kNoIndex && weight.defined() && weight.rank() > 0) {
    padding += weight.size(0);
    if (padding < 0) {
      RaiseStatus(OutOfRange("padding_idx ", *options.padding_idx, " is outside weight ",
                             weight.shape().ToString()),
                  op.name);
    }
  }
  return Apply1(op, {indices, weight}, EmbeddingAttrs{padding, options.scale_grad_by_freq});
}

Tensor OneHot(const Tensor& indices, Integer num_classes, DType dtype) {
  const OpDef& op = TheOp<"one_hot">();
  if (num_classes == -1) {
    CheckDefined(indices, op.name, "indices");
    const std::vector<int64_t> values = indices.ToVector<int64_t>();
    if (values.empty()) {
      RaiseStatus(InvalidArgument("num_classes must be given for no indices"), op.name);
    }
    num_classes = *std::max_element(values.begin(), values.end()) + 1;
    num_classes = std::max<int64_t>(num_classes, 0);  // negative indices are refused below
  }
  return Apply1(op, {indices}, OneHotAttrs{num_classes, dtype});
}

}  // namespace firn
