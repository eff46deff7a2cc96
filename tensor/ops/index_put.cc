// index_put: a copy, written to where index tensors say. Half types accumulate in float, in scratch
// memory of the result's size.

#include "tensor/ops/index_put.h"

#include <algorithm>

#include "tensor/advanced_index.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/index_rules.h"
#include "tensor/kernels/cpu/advanced_index.h"
#include "tensor/ops/cast.h"
#include "tensor/ops/expand.h"
#include "tensor/ops/index.h"
#include "tensor/reorder.h"
#include "tensor/view.h"

namespace firn {
namespace {

constexpr int kFirst = 2;  // index tensor

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a,
                        ResolveAdvancedIndex(c.shape(0), c, kFirst, c.attrs<IndexPutAttrs>().dims));
  FIRN_RETURN_IF(
      c.shape(1) != a.result,
      InvalidArgument("values ", c.shape(1).ToString(), " must have the shape ",
                      a.result.ToString(), " of x ", c.shape(0).ToString(), " at the indices"));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> Bounds(const KernelQuery& q, int i) {
  return AdvancedIndexBounds(q, i, kFirst, q.attrs<IndexPutAttrs>().dims);
}

size_t TableBytes(const AdvancedIndex& a, const Shape& x) {
  return static_cast<size_t>(cpu::IndexedRunsSize(a, x)) * sizeof(int64_t);
}

size_t Workspace(const KernelQuery& q) {
  const Shape& x = q.in(0).shape;
  const AdvancedIndex a = *ResolveAdvancedIndex(x, q, kFirst, q.attrs<IndexPutAttrs>().dims);
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

absl::Status Run(KernelContext& k) {
  const TensorSpec& y = k.out_spec();
  FIRN_ASSIGN_OR_RETURN(const AdvancedIndex a,
                        ResolveAdvancedIndex(y.shape, k, kFirst, k.attrs<IndexPutAttrs>().dims));
  CopyElementsOnCpu(k.in_spec(0), k.in<void>(0), y, k.out<void>());
  const cpu::IndexedRuns r = cpu::MakeIndexedRuns(a, y, k, kFirst, k.workspace<int64_t>());
  float* sums = reinterpret_cast<float*>(k.workspace<char>() + TableBytes(a, y.shape));
  VisitDType(y.dtype, [&]<class T>(TypeTag<T>) { Put<T>(r, k, sums); });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  static const OpDef& index = Op("index");
  const IndexPutAttrs& a = g.attrs<IndexPutAttrs>();
  const Tensor& dy = g.grad_output();
  IndexArrays where{a.dims, {}};
  for (int i = kFirst; i < g.num_inputs(); ++i) where.arrays.push_back(g.input(i));
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
      .name = "index_put",
      .doc = "A copy of x with values written (or added) where index tensors say.",
      .inputs = {{.name = "x", .min_rank = 1},
                 {.name = "values", .same_dtype_as = "x"},
                 {.name = "indices", .dtypes = kIndex, .variadic = true}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<IndexPutAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(2)},
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

Tensor IndexPut(const Tensor& x, const IndexArrays& indices, const Tensor& values,
                bool accumulate) {
  static const OpDef& op = Op("index_put");
  const std::vector<Tensor> inputs = WriteInputs(x, indices, values, op.name);
  return Apply1(op, absl::InlinedVector<TensorRef, 8>(inputs.begin(), inputs.end()),
                IndexPutAttrs{indices.dims, accumulate});
}

Tensor IndexPut(const Tensor& x, const std::vector<Tensor>& indices, const Tensor& values,
                bool accumulate) {
  return IndexPut(x, ResolveIndices(x, indices, "index_put"), values, accumulate);
}

}  // namespace firn
