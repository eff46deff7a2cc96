// index_write: index_put in place.

#include "tensor/ops/index_write.h"

#include "tensor/advanced_index.h"
#include "tensor/apply.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "tensor/index_rules.h"
#include "tensor/kernels/cpu/advanced_index.h"
#include "tensor/kernels/cpu/index.h"
#include "tensor/ops/contiguous.h"

namespace firn {
namespace {

constexpr int kFirst = 2;  // index tensor

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a,
                        ResolveAdvancedIndex(c.shape(0), c, kFirst, c.attrs<IndexAttrs>().dims));
  FIRN_RETURN_IF(c.shape(1) != a.result,
                 InvalidArgument("values ", c.shape(1).ToString(), " must have the shape ",
                                 a.result.ToString(), " of target ", c.shape(0).ToString(),
                                 " at the indices"));
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> Bounds(const KernelQuery& q, int i) {
  return AdvancedIndexBounds(q, i, kFirst, q.attrs<IndexAttrs>().dims);
}

size_t Workspace(const KernelQuery& q) {
  const Shape& x = q.in(0).shape;
  const AdvancedIndex a = *ResolveAdvancedIndex(x, q, kFirst, q.attrs<IndexAttrs>().dims);
  return static_cast<size_t>(cpu::IndexedRunsSize(a, x)) * sizeof(int64_t);
}

absl::Status Run(KernelContext& k) {
  const TensorSpec& y = k.in_spec(0);
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a,
                        ResolveAdvancedIndex(y.shape, k, kFirst, k.attrs<IndexAttrs>().dims));
  const cpu::IndexedRuns r = cpu::MakeIndexedRuns(a, y, k, kFirst, k.workspace<int64_t>());
  cpu::VisitWidth(y.dtype, [&]<class T>(TypeTag<T>) {
    cpu::WriteRuns(r, k.in<T>(1), k.inout<T>(0), [](T& to, T v) { to = v; });
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(index_write) {
  return {
      .name = "index_write",
      .doc = "target[indices] = values in place. Not differentiable.",
      .inputs = {{.name = "target", .min_rank = 1, .inout = true},
                 {.name = "values", .same_dtype_as = "target"},
                 {.name = "indices", .dtypes = kIndex, .variadic = true}},
      .attrs = AttrsOf<IndexAttrs>(),
      .infer = Infer,
      .index_bounds = Bounds,
      .index_inputs = {2},
      .kernels = {{.name = "strided",
                   .supports = OthersContiguous,
                   .workspace = Workspace,
                   .run = Run,
                   .takes = Takes::kStrided},
                  {.name = "loop", .workspace = Workspace, .run = Run}},
  };
}

}  // namespace

void inner::IndexWrite(const Tensor& target, const IndexArrays& indices, const Tensor& values) {
  static const OpDef& op = Op("index_write");
  std::vector<Tensor> inputs = WriteInputs(target, indices, values, op.name);
  if (GradEnabled() && values.requires_grad()) {
    RaiseStatus(FailedPrecondition("the gradient of values is being recorded and would be lost; "
                                   "use NoGradScope or Detach()"),
                op.name);
  }
  for (size_t i = 1; i < inputs.size(); ++i) inputs[i] = Contiguous(inputs[i]);
  Apply(op, absl::InlinedVector<TensorRef, 8>(inputs.begin(), inputs.end()),
        IndexAttrs{indices.dims});
}

}  // namespace firn
