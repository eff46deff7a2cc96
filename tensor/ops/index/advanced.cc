// index: reads where several index tensors say. One alone is index_select's business. The gradient
// is added up by index_put.
//
// index_put: a copy, written to where index tensors say. Half types accumulate in float, in scratch
// memory of the result's size.
//
// index_write: index_put in place.

#include "tensor/ops/index/advanced.h"

#include <algorithm>

#include "tensor/apply.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "tensor/kernels/cpu/advanced_index.h"
#include "tensor/kernels/cpu/index.h"
#include "tensor/ops/index/advanced_index.h"
#include "tensor/ops/index/index_rules.h"
#include "tensor/ops/index/select.h"
#include "tensor/ops/shape/convert.h"
#include "tensor/ops/shape/copies.h"
#include "tensor/ops/shape/expand.h"
#include "tensor/ops/shape/view.h"
#include "tensor/reorder.h"

namespace firn {
namespace {

constexpr int kFirstIndex = 1;  // index tensor

absl::Status InferIndex(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a, ResolveAdvancedIndex(c.shape(0), c, kFirstIndex,
                                                                    c.attrs<IndexAttrs>().dims));
  c.set_out(0, c.dtype(0), a.result);
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> BoundsIndex(const KernelQuery& q, int i) {
  return AdvancedIndexBounds(q, i, kFirstIndex, q.attrs<IndexAttrs>().dims);
}

size_t WorkspaceIndex(const KernelQuery& q) {
  const AdvancedIndex a =
      *ResolveAdvancedIndex(q.in(0).shape, q, kFirstIndex, q.attrs<IndexAttrs>().dims);
  return static_cast<size_t>(cpu::IndexedRunsSize(a, q.in(0).shape)) * sizeof(int64_t);
}

absl::Status RunIndex(KernelContext& k) {
  const TensorSpec& x = k.in_spec(0);
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a,
                        ResolveAdvancedIndex(x.shape, k, kFirstIndex, k.attrs<IndexAttrs>().dims));
  const cpu::IndexedRuns r = cpu::MakeIndexedRuns(a, x, k, kFirstIndex, k.workspace<int64_t>());
  VisitWidth(x.dtype, [&]<class T>(TypeTag<T>) { cpu::ReadRuns(r, k.in<T>(0), k.out<T>()); });
  return absl::OkStatus();
}

void GradIndex(GradContext& g) {
  const TensorSpec& x = g.input_spec(0);
  IndexArrays where{g.attrs<IndexAttrs>().dims, {}};
  for (int i = kFirstIndex; i < g.num_inputs(); ++i) where.arrays.push_back(g.input(i));
  g.set_grad_input(0, IndexPut(ExpandedZeros(x.shape, x.dtype, x.device), where, g.grad_output(),
                               /*accumulate=*/true));
}

FIRN_REGISTER_OP(index) {
  return {
      .doc = "The elements of x at the positions that several index tensors name together.",
      .inputs = {{.name = "x", .min_rank = 1},
                 {.name = "indices", .dtypes = kIndex, .variadic = true}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<IndexAttrs>(),
      .infer = InferIndex,
      .grad = GradIndex,
      .saves = {Saved::Input(1)},
      .index_bounds = BoundsIndex,
      .index_inputs = {1},
      .kernels = {{.name = "strided",
                   .supports = OthersContiguous,
                   .workspace = WorkspaceIndex,
                   .run = RunIndex,
                   .takes = Takes::kStrided},
                  {.name = "loop", .workspace = WorkspaceIndex, .run = RunIndex}},
  };
}

constexpr int kFirstIndexPut = 2;  // index tensor

absl::Status InferIndexPut(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a, ResolveAdvancedIndex(c.shape(0), c, kFirstIndexPut,
                                                                    c.attrs<IndexPutAttrs>().dims));
  FIRN_RETURN_IF(
      c.shape(1) != a.result,
      InvalidArgument("values ", c.shape(1).ToString(), " must have the shape ",
                      a.result.ToString(), " of x ", c.shape(0).ToString(), " at the indices"));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> BoundsIndexPut(const KernelQuery& q, int i) {
  return AdvancedIndexBounds(q, i, kFirstIndexPut, q.attrs<IndexPutAttrs>().dims);
}

size_t TableBytes(const AdvancedIndex& a, const Shape& x) {
  return static_cast<size_t>(cpu::IndexedRunsSize(a, x)) * sizeof(int64_t);
}

size_t WorkspaceIndexPut(const KernelQuery& q) {
  const Shape& x = q.in(0).shape;
  const AdvancedIndex a =
      *ResolveAdvancedIndex(x, q, kFirstIndexPut, q.attrs<IndexPutAttrs>().dims);
  const DType d = q.out().dtype;
  const bool sums = q.attrs<IndexPutAttrs>().accumulate && (d == DType::kF16 || d == DType::kBF16);
  return TableBytes(a, x) + (sums ? static_cast<size_t>(x.num_elements()) * sizeof(float) : 0);
}

template <class T>
void Put(const cpu::IndexedRuns& r, KernelContext& k, float* sums) {
  T* y = k.out<T>();
  const T* values = k.in<T>(1);
  if (!k.attrs<IndexPutAttrs>().accumulate) {
    cpu::WriteRuns(r, values, y, [](T& to, T v) { to = v; });
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    const int64_t n = k.out_spec().num_elements();
    std::copy(y, y + n, sums);
    cpu::WriteRuns(r, values, sums, [](float& to, T v) { to += static_cast<float>(v); });
    std::transform(sums, sums + n, y, [](float v) { return static_cast<T>(v); });
  } else {
    cpu::WriteRuns(r, values, y, [](T& to, T v) { to = static_cast<T>(to + v); });
  }
}

absl::Status RunIndexPut(KernelContext& k) {
  const TensorSpec& y = k.out_spec();
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a, ResolveAdvancedIndex(y.shape, k, kFirstIndexPut,
                                                                    k.attrs<IndexPutAttrs>().dims));
  CopyElementsOnCpu(k.in_spec(0), k.in<void>(0), y, k.out<void>());
  const cpu::IndexedRuns r = cpu::MakeIndexedRuns(a, y, k, kFirstIndexPut, k.workspace<int64_t>());
  float* sums = reinterpret_cast<float*>(k.workspace<char>() + TableBytes(a, y.shape));
  VisitDType(y.dtype, [&]<class T>(TypeTag<T>) { Put<T>(r, k, sums); });
  return absl::OkStatus();
}

void GradIndexPut(GradContext& g) {
  const OpDef& index = TheOp<"index">();
  const IndexPutAttrs& a = g.attrs<IndexPutAttrs>();
  const Tensor& dy = g.grad_output();
  IndexArrays where{a.dims, {}};
  for (int i = kFirstIndexPut; i < g.num_inputs(); ++i) where.arrays.push_back(g.input(i));
  if (g.needs(0)) {
    g.set_grad_input(
        0, a.accumulate ? dy : IndexPut(dy, where, ExpandedZeros({}, dy.dtype(), dy.device())));
  }
  if (!g.needs(1)) return;
  absl::InlinedVector<TensorRef, 8> in = {dy};
  in.insert(in.end(), where.arrays.begin(), where.arrays.end());
  g.set_grad_input(1, Apply1(index, in, IndexAttrs{a.dims}));
}

FIRN_REGISTER_OP(index_put) {
  return {
      .doc = "A copy of x with values written (or added) where index tensors say.",
      .inputs = {{.name = "x", .min_rank = 1},
                 {.name = "values", .same_dtype_as = "x"},
                 {.name = "indices", .dtypes = kIndex, .variadic = true}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<IndexPutAttrs>(),
      .infer = InferIndexPut,
      .grad = GradIndexPut,
      .saves = {Saved::Input(2)},
      .index_bounds = BoundsIndexPut,
      .index_inputs = {2},
      .kernels = {{.name = "strided",
                   .supports = OthersContiguous,
                   .workspace = WorkspaceIndexPut,
                   .run = RunIndexPut,
                   .takes = Takes::kStrided},
                  {.name = "loop", .workspace = WorkspaceIndexPut, .run = RunIndexPut}},
  };
}

constexpr int kFirstIndexWrite = 2;  // index tensor

absl::Status InferIndexWrite(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a, ResolveAdvancedIndex(c.shape(0), c, kFirstIndexWrite,
                                                                    c.attrs<IndexAttrs>().dims));
  FIRN_RETURN_IF(c.shape(1) != a.result,
                 InvalidArgument("values ", c.shape(1).ToString(), " must have the shape ",
                                 a.result.ToString(), " of target ", c.shape(0).ToString(),
                                 " at the indices"));
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> BoundsIndexWrite(const KernelQuery& q, int i) {
  return AdvancedIndexBounds(q, i, kFirstIndexWrite, q.attrs<IndexAttrs>().dims);
}

size_t WorkspaceIndexWrite(const KernelQuery& q) {
  const Shape& x = q.in(0).shape;
  const AdvancedIndex a = *ResolveAdvancedIndex(x, q, kFirstIndexWrite, q.attrs<IndexAttrs>().dims);
  return static_cast<size_t>(cpu::IndexedRunsSize(a, x)) * sizeof(int64_t);
}

absl::Status RunIndexWrite(KernelContext& k) {
  const TensorSpec& y = k.in_spec(0);
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a, ResolveAdvancedIndex(y.shape, k, kFirstIndexWrite,
                                                                    k.attrs<IndexAttrs>().dims));
  const cpu::IndexedRuns r =
      cpu::MakeIndexedRuns(a, y, k, kFirstIndexWrite, k.workspace<int64_t>());
  VisitWidth(y.dtype, [&]<class T>(TypeTag<T>) {
    cpu::WriteRuns(r, k.in<T>(1), k.inout<T>(0), [](T& to, T v) { to = v; });
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(index_write) {
  return {
      .doc = "target[indices] = values in place. Not differentiable.",
      .inputs = {{.name = "target", .min_rank = 1, .inout = true},
                 {.name = "values", .same_dtype_as = "target"},
                 {.name = "indices", .dtypes = kIndex, .variadic = true}},
      .attrs = AttrsOf<IndexAttrs>(),
      .infer = InferIndexWrite,
      .index_bounds = BoundsIndexWrite,
      .index_inputs = {2},
      .kernels = {{.name = "strided",
                   .supports = OthersContiguous,
                   .workspace = WorkspaceIndexWrite,
                   .run = RunIndexWrite,
                   .takes = Takes::kStrided},
                  {.name = "loop", .workspace = WorkspaceIndexWrite, .run = RunIndexWrite}},
  };
}

}  // namespace

Tensor Index(const Tensor& x, const IndexArrays& indices) {
  if (indices.arrays.empty()) return Identity(x);
  if (indices.arrays.size() == 1) {
    return IndexSelect(x, indices.dims[0], indices.arrays[0]);
  }
  absl::InlinedVector<TensorRef, 8> in = {x};
  in.insert(in.end(), indices.arrays.begin(), indices.arrays.end());
  return Apply1(TheOp<"index">(), in, IndexAttrs{indices.dims});
}

Tensor Index(const Tensor& x, const std::vector<Tensor>& indices) {
  return Index(x, ResolveIndices(x, indices, "index"));
}

Tensor IndexPut(const Tensor& x, const IndexArrays& indices, const Tensor& values,
                bool accumulate) {
  const OpDef& op = TheOp<"index_put">();
  const std::vector<Tensor> inputs = WriteInputs(x, indices, values, op.name);
  return Apply1(op, absl::InlinedVector<TensorRef, 8>(inputs.begin(), inputs.end()),
                IndexPutAttrs{indices.dims, accumulate});
}

Tensor IndexPut(const Tensor& x, const std::vector<Tensor>& indices, const Tensor& values,
                bool accumulate) {
  return IndexPut(x, ResolveIndices(x, indices, "index_put"), values, accumulate);
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
