// index: reads at the places that several index tensors give. index_select does a single one.
// index_put adds up the gradient. index_put: a copy with values written at the places that index
// tensors give. Half types accumulate in float, in scratch memory of the result's size.
//
// index_write: index_put in place.

#include "firn/tensor/ops/index/advanced.h"

#include <algorithm>

#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/advanced_index.h"
#include "firn/tensor/kernels/cpu/index.h"
#include "firn/tensor/kernels/cpu/scatter.h"
#include "firn/tensor/ops/index/index_arrays.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/view.h"
#include "firn/tensor/problems/index_rules.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

// Describes a call whose attributes are A and whose index tensors are the inputs from kFirst on.
template <class A, int kFirst, class Context>
absl::StatusOr<AdvancedIndex> Resolved(const Shape& x, const Context& c) {
  return ResolveAdvancedIndex(x, c, kFirst, c.template attrs<A>().dims);
}

template <class A, int kFirst>
absl::StatusOr<IndexBounds> Bounds(const KernelQuery& q, int i) {
  return AdvancedIndexBounds(q, i, kFirst, q.attrs<A>().dims);
}

size_t TableBytes(const AdvancedIndex& a, const Shape& x) {
  return static_cast<size_t>(cpu::IndexedRunsSize(a, x)) * sizeof(int64_t);
}

template <class A, int kFirst>
size_t Workspace(const KernelQuery& q) {
  const Shape& x = q.in(0).shape;
  return TableBytes(*Resolved<A, kFirst>(x, q), x);
}

// Checks that values have the shape of the elements that they replace.
template <class A>
absl::Status InferWrite(InferContext& c, const char* target) {
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a, (Resolved<A, 2>(c.shape(0), c)));
  FIRN_RETURN_IF(c.shape(1) != a.result,
                 InvalidArgument("values ", c.shape(1).ToString(), " must have the shape ",
                                 a.result.ToString(), " of ", target, " ", c.shape(0).ToString(),
                                 " at the indices"));
  return absl::OkStatus();
}

constexpr int kFirstIndex = 1;  // index tensor

absl::Status InferIndex(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a, (Resolved<IndexAttrs, kFirstIndex>(c.shape(0), c)));
  c.set_out(0, c.dtype(0), a.result);
  return absl::OkStatus();
}

absl::Status RunIndex(KernelContext& k) {
  const TensorSpec& x = k.in_spec(0);
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a, (Resolved<IndexAttrs, kFirstIndex>(x.shape, k)));
  const cpu::IndexedRuns r = cpu::MakeIndexedRuns(a, x, k, kFirstIndex, k.workspace<int64_t>());
  VisitWidth(x.dtype, [&]<class T>(TypeTag<T>) { cpu::ReadRuns(r, k.in<T>(0), k.out<T>()); });
  return absl::OkStatus();
}

void GradIndex(GradContext& g) {
  const TensorSpec& x = g.input_spec(0);
  IndexArrays where{g.attrs<IndexAttrs>().dims, {}};
  for (int i = kFirstIndex; i < g.num_inputs(); ++i) where.arrays.push_back(g.input(i));
  g.set_grad_input(0, IndexPutAt(ExpandedZeros(x.shape, x.dtype, x.device), where, g.grad_output(),
                                 /*accumulate=*/true));
}

FIRN_REGISTER_OP(index) {
  OpDef op = {
      .doc = "The elements of x at the positions that several index tensors name together.",
      .inputs = {{.name = "x", .min_rank = 1},
                 {.name = "indices", .dtypes = kIndex, .variadic = true}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<IndexAttrs>(),
      .infer = InferIndex,
      .grad = GradIndex,
      .index_bounds = Bounds<IndexAttrs, kFirstIndex>,
  };
  return cpu::ScatterOp(std::move(op), kFirstIndex, Workspace<IndexAttrs, kFirstIndex>, RunIndex);
}

constexpr int kFirstWritten = 2;  // index tensor of index_put and index_write

absl::Status InferIndexPut(InferContext& c) {
  c.set_out_like(0, 0);
  return InferWrite<IndexPutAttrs>(c, "x");
}

size_t WorkspaceIndexPut(const KernelQuery& q) {
  const size_t tables = Workspace<IndexPutAttrs, kFirstWritten>(q);
  return tables + (q.attrs<IndexPutAttrs>().accumulate ? cpu::SumsBytes(q.out()) : 0);
}

template <class T>
void PutRuns(const cpu::IndexedRuns& r, KernelContext& k, void* sums) {
  T* y = k.out<T>();
  const T* values = k.in<T>(1);
  if (!k.attrs<IndexPutAttrs>().accumulate) {
    cpu::WriteRuns(r, values, y, [](T& to, T v) { to = v; });
  } else {
    cpu::AddUp(y, k.out_spec().num_elements(), sums, [&]<class Acc>(Acc* to_all) {
      cpu::WriteRuns(r, values, to_all, [](Acc& to, Acc v) { to = static_cast<Acc>(to + v); });
    });
  }
}

absl::Status RunIndexPut(KernelContext& k) {
  const TensorSpec& y = k.out_spec();
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a,
                        (Resolved<IndexPutAttrs, kFirstWritten>(y.shape, k)));
  CopyElementsOnCpu(k.in_spec(0), k.in<void>(0), y, k.out<void>());
  const cpu::IndexedRuns r = cpu::MakeIndexedRuns(a, y, k, kFirstWritten, k.workspace<int64_t>());
  void* const sums = k.workspace<char>() + TableBytes(a, y.shape);
  VisitDType(y.dtype, [&]<class T>(TypeTag<T>) { PutRuns<T>(r, k, sums); });
  return absl::OkStatus();
}

void GradIndexPut(GradContext& g) {
  const OpDef& index = TheOp<"index">();
  const IndexPutAttrs& a = g.attrs<IndexPutAttrs>();
  const Tensor& dy = g.grad_output();
  IndexArrays where{a.dims, {}};
  for (int i = kFirstWritten; i < g.num_inputs(); ++i) where.arrays.push_back(g.input(i));
  if (g.needs(0)) {
    g.set_grad_input(
        0, a.accumulate ? dy : IndexPutAt(dy, where, ExpandedZeros({}, dy.dtype(), dy.device())));
  }
  if (!g.needs(1)) return;
  absl::InlinedVector<TensorRef, 8> in = {dy};
  in.insert(in.end(), where.arrays.begin(), where.arrays.end());
  g.set_grad_input(1, Apply1(index, in, IndexAttrs{a.dims}));
}

FIRN_REGISTER_OP(index_put) {
  OpDef op = {
      .doc = "A copy of x with values written (or added) where index tensors say.",
      .inputs = {{.name = "x", .min_rank = 1},
                 {.name = "values", .same_dtype_as = "x"},
                 {.name = "indices", .dtypes = kIndex, .variadic = true}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<IndexPutAttrs>(),
      .infer = InferIndexPut,
      .grad = GradIndexPut,
      .index_bounds = Bounds<IndexPutAttrs, kFirstWritten>,
  };
  return cpu::ScatterOp(std::move(op), kFirstWritten, WorkspaceIndexPut, RunIndexPut);
}

absl::Status InferIndexWrite(InferContext& c) { return InferWrite<IndexAttrs>(c, "target"); }

absl::Status RunIndexWrite(KernelContext& k) {
  const TensorSpec& y = k.in_spec(0);
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a, (Resolved<IndexAttrs, kFirstWritten>(y.shape, k)));
  const cpu::IndexedRuns r = cpu::MakeIndexedRuns(a, y, k, kFirstWritten, k.workspace<int64_t>());
  VisitWidth(y.dtype, [&]<class T>(TypeTag<T>) {
    cpu::WriteRuns(r, k.in<T>(1), k.inout<T>(0), [](T& to, T v) { to = v; });
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(index_write) {
  OpDef op = {
      .doc = "target[indices] = values in place. Not differentiable.",
      .inputs = {{.name = "target", .min_rank = 1, .inout = true},
                 {.name = "values", .same_dtype_as = "target"},
                 {.name = "indices", .dtypes = kIndex, .variadic = true}},
      .attrs = AttrsOf<IndexAttrs>(),
      .infer = InferIndexWrite,
      .index_bounds = Bounds<IndexAttrs, kFirstWritten>,
  };
  return cpu::ScatterOp(std::move(op), kFirstWritten, Workspace<IndexAttrs, kFirstWritten>,
                        RunIndexWrite);
}

}  // namespace

Tensor inner::IndexAt(const Tensor& x, const IndexArrays& indices) {
  if (indices.arrays.empty()) return Identity(x);
  if (indices.arrays.size() == 1) {
    return IndexSelect(x, indices.dims[0], indices.arrays[0]);
  }
  absl::InlinedVector<TensorRef, 8> in = {x};
  in.insert(in.end(), indices.arrays.begin(), indices.arrays.end());
  return Apply1(TheOp<"index">(), in, IndexAttrs{indices.dims});
}

Tensor Index(const Tensor& x, const std::vector<Tensor>& indices) {
  const IndexArrays arrays = ResolveIndices(x, indices, "index");
  return InNameOf("index", [&] { return IndexAt(x, arrays); });
}

Tensor inner::IndexPutAt(const Tensor& x, const IndexArrays& indices, const Tensor& values,
                         bool accumulate) {
  const OpDef& op = TheOp<"index_put">();
  const std::vector<Tensor> inputs = WriteInputs(x, indices, values, op.name, accumulate);
  return Apply1(op, absl::InlinedVector<TensorRef, 8>(inputs.begin(), inputs.end()),
                IndexPutAttrs{indices.dims, accumulate});
}

Tensor IndexPut(const Tensor& x, const std::vector<Tensor>& indices, const Tensor& values,
                Flag accumulate) {
  return IndexPutAt(x, ResolveIndices(x, indices, "index_put"), values, accumulate);
}

void inner::IndexWrite(const Tensor& target, const IndexArrays& indices, const Tensor& values) {
  const OpDef& op = TheOp<"index_write">();
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
