// embedding: index_select on rows, whose gradient (index_add) leaves one row out.

#include "tensor/ops/embedding.h"

#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/index_rules.h"
#include "tensor/kernels/cpu/index.h"
#include "tensor/ops/index_add.h"
#include "tensor/view.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const int64_t padding = c.attrs<EmbeddingAttrs>().padding_idx;
  FIRN_RETURN_IF(padding != kNoIndex && (padding < 0 || padding >= c.shape(1)[0]),
                 OutOfRange("padding_idx ", padding, " is outside [0, ", c.shape(1)[0], ")"));
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p, PlanIndex(c.shape(1), c.shape(0), {}));
  c.set_out(0, c.dtype(1), p.selection);
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> Bounds(const KernelQuery& q, int) {
  return IndexBounds{0, q.in(1).shape[0]};
}

absl::Status Run(KernelContext& k) {
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p, PlanIndex(k.in_spec(1).shape, k.in_spec(0).shape, {}));
  cpu::VisitWidth(k.in_spec(1).dtype, [&]<class T>(TypeTag<T>) {
    VisitIndex(k.in_spec(0).dtype, [&]<class I>(TypeTag<I>) {
      cpu::SelectRows(p, k.in<T>(1), k.in<I>(0), k.out<T>());
    });
  });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  const TensorSpec& w = g.input_spec(1);
  const IndexAddAttrs attrs{{.ignored = g.attrs<EmbeddingAttrs>().padding_idx}};
  g.set_grad_input(
      1, IndexAdd(ExpandedZeros(w.shape, w.dtype, w.device), g.input(0), g.grad_output(), attrs));
}

FIRN_REGISTER_OP(embedding) {
  return {
      .name = "embedding",
      .doc = "Rows of weight at indices; row padding_idx gets no gradient.",
      .inputs = {{.name = "indices", .dtypes = kIndex}, {.name = "weight", .min_rank = 1}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<EmbeddingAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(0)},
      .index_bounds = Bounds,
      .index_inputs = {0},
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

Tensor Embedding(const Tensor& indices, const Tensor& weight, std::optional<int64_t> padding_idx) {
  static const OpDef& op = Op("embedding");
  int64_t padding = padding_idx.value_or(kNoIndex);
  if (padding < 0 && padding != kNoIndex && weight.defined() && weight.rank() > 0) {
    padding += weight.size(0);
    if (padding < 0) {
      RaiseStatus(OutOfRange("padding_idx ", *padding_idx, " is outside weight ",
                             weight.shape().ToString()),
                  op.name);
    }
  }
  return Apply1(op, {indices, weight}, EmbeddingAttrs{padding});
}

}  // namespace firn
