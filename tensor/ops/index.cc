// index: reads where several index tensors say. One alone is index_select's business. The gradient
// is added up by index_put.

#include "tensor/ops/index.h"

#include "tensor/advanced_index.h"
#include "tensor/apply.h"
#include "tensor/index_rules.h"
#include "tensor/kernels/cpu/advanced_index.h"
#include "tensor/kernels/cpu/index.h"
#include "tensor/ops/identity.h"
#include "tensor/ops/index_put.h"
#include "tensor/ops/index_select.h"
#include "tensor/view.h"

namespace firn {
namespace {

constexpr int kFirst = 1;  // index tensor

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a,
                        ResolveAdvancedIndex(c.shape(0), c, kFirst, c.attrs<IndexAttrs>().dims));
  c.set_out(0, c.dtype(0), a.result);
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> Bounds(const KernelQuery& q, int i) {
  return AdvancedIndexBounds(q, i, kFirst, q.attrs<IndexAttrs>().dims);
}

size_t Workspace(const KernelQuery& q) {
  const AdvancedIndex a =
      *ResolveAdvancedIndex(q.in(0).shape, q, kFirst, q.attrs<IndexAttrs>().dims);
  return static_cast<size_t>(cpu::IndexedRunsSize(a, q.in(0).shape)) * sizeof(int64_t);
}

absl::Status Run(KernelContext& k) {
  const TensorSpec& x = k.in_spec(0);
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a,
                        ResolveAdvancedIndex(x.shape, k, kFirst, k.attrs<IndexAttrs>().dims));
  const cpu::IndexedRuns r = cpu::MakeIndexedRuns(a, x, k, kFirst, k.workspace<int64_t>());
  cpu::VisitWidth(x.dtype, [&]<class T>(TypeTag<T>) { cpu::ReadRuns(r, k.in<T>(0), k.out<T>()); });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  const TensorSpec& x = g.input_spec(0);
  IndexArrays where{g.attrs<IndexAttrs>().dims, {}};
  for (int i = kFirst; i < g.num_inputs(); ++i) where.arrays.push_back(g.input(i));
  g.set_grad_input(0, IndexPut(ExpandedZeros(x.shape, x.dtype, x.device), where, g.grad_output(),
                               /*accumulate=*/true));
}

FIRN_REGISTER_OP(index) {
  return {
      .name = "index",
      .doc = "The elements of x at the positions that several index tensors name together.",
      .inputs = {{.name = "x", .min_rank = 1},
                 {.name = "indices", .dtypes = kIndex, .variadic = true}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<IndexAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(1)},
      .index_bounds = Bounds,
      .index_inputs = {1},
      .kernels = {{.name = "strided",
                   .supports = OthersContiguous,
                   .workspace = Workspace,
                   .run = Run,
                   .takes = Takes::kStrided},
                  {.name = "loop", .workspace = Workspace, .run = Run}},
  };
}

}  // namespace

Tensor Index(const Tensor& x, const IndexArrays& indices) {
  static const OpDef& op = Op("index");
  if (indices.arrays.empty()) return Identity(x);
  if (indices.arrays.size() == 1) {
    return IndexSelect(x, static_cast<int>(indices.dims[0]), indices.arrays[0]);
  }
  absl::InlinedVector<TensorRef, 8> in = {x};
  in.insert(in.end(), indices.arrays.begin(), indices.arrays.end());
  return Apply1(op, in, IndexAttrs{indices.dims});
}

Tensor Index(const Tensor& x, const std::vector<Tensor>& indices) {
  return Index(x, ResolveIndices(x, indices, "index"));
}

}  // namespace firn
