// gather: an element for every index. Its gradient is scatter_add.
//
// scatter_add: the adjoint of gather. Half types accumulate in float, in scratch memory.

#include "firn/tensor/ops/index/gather.h"

#include <algorithm>

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/index.h"
#include "firn/tensor/kernels/cpu/scatter.h"
#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/ops/shape/view.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/dim_attrs.h"
#include "firn/tensor/problems/index_rules.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

absl::Status InferGather(InferContext& c) {
  FIRN_RETURN_IF_ERROR(
      ResolveElementIndex(c.attrs<DimAttrs>().dim, c.shape(1), {{"x", &c.shape(0)}}).status());
  c.set_out(0, c.dtype(0), c.shape(1));
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> Bounds(const KernelQuery& q, int) {
  const Shape& x = q.in(0).shape;
  return WrappingBounds(x[*NormalizeDim(q.attrs<DimAttrs>().dim, x)]);
}

size_t WorkspaceGather(const KernelQuery& q) {
  const Shape& region = q.in(1).shape;
  const cpu::Region r(region, *NormalizeDim(q.attrs<DimAttrs>().dim, region));
  return static_cast<size_t>(r.table_size()) * sizeof(int64_t);
}

absl::Status RunGather(KernelContext& k) {
  const Shape& x = k.in_spec(0).shape;
  const Shape& region = k.in_spec(1).shape;
  const int dim = *NormalizeDim(k.attrs<DimAttrs>().dim, region);
  const cpu::Region r(region, dim);
  const cpu::Places in_x(region, x, dim, k.workspace<int64_t>());
  VisitWidth(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
      cpu::GatherElements(r, in_x, x[dim], k.in<T>(0), k.in<I>(1), k.out<T>());
    });
  });
  return absl::OkStatus();
}

void GradGather(GradContext& g) {
  const TensorSpec& x = g.input_spec(0);
  g.set_grad_input(0, ScatterAdd(ExpandedZeros(x.shape, x.dtype, x.device), g.attrs<DimAttrs>().dim,
                                 g.input(1), g.grad_output()));
}

FIRN_REGISTER_OP(gather) {
  return {
      .doc = "y[a.., i, b..] = x[a.., indices[a.., i, b..], b..].",
      .inputs = {{.name = "x", .min_rank = 1}, {.name = "indices", .dtypes = kIndex}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<DimAttrs>(),
      .infer = InferGather,
      .grad = GradGather,
      .saves = {Saved::Input(1)},
      .index_bounds = Bounds,
      .index_inputs = {1},
      .kernels = {{.name = "loop", .workspace = WorkspaceGather, .run = RunGather}},
  };
}

absl::Status InferScatterAdd(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const int dim,
                        ResolveElementIndex(c.attrs<DimAttrs>().dim, c.shape(1),
                                            {{"x", &c.shape(0)}, {"source", &c.shape(2)}}));
  FIRN_RETURN_IF(c.shape(1)[dim] > c.shape(2)[dim],
                 InvalidArgument("indices ", c.shape(1).ToString(), " are more than source ",
                                 c.shape(2).ToString(), " in dim ", dim));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

size_t WorkspaceScatterAdd(const KernelQuery& q) {
  const Shape& region = q.in(1).shape;
  const cpu::Region r(region, *NormalizeDim(q.attrs<DimAttrs>().dim, region));
  return static_cast<size_t>(2 * r.table_size()) * sizeof(int64_t) + cpu::SumsBytes(q.out());
}

template <class T, class I>
void Add(KernelContext& k) {
  const Shape& x = k.in_spec(0).shape;
  const Shape& region = k.in_spec(1).shape;
  const int dim = *NormalizeDim(k.attrs<DimAttrs>().dim, region);
  const cpu::Region r(region, dim);
  int64_t* tables = k.workspace<int64_t>();
  const cpu::Places in_y(region, x, dim, tables);
  const cpu::Places in_source(region, k.in_spec(2).shape, dim, tables + r.table_size());
  T* y = k.out<T>();
  CopyElementsOnCpu(k.in_spec(0), k.in<T>(0), k.out_spec(), y);
  if constexpr (cpu::kIsHalf<T>) {
    constexpr int64_t kFew = 64;  // elements of a line to an index
    if (r.lines > 0 && r.columns == 1 && r.count > 0 && r.count * kFew >= x[dim] &&
        in_y.step == 1 && in_source.step == 1) {
      auto* const sums = reinterpret_cast<float*>(tables + 2 * r.table_size());
      return cpu::ScatterAddLines(r, in_y, in_source, x[dim], k.in<I>(1), k.in<T>(2), y, sums);
    }
  }
  const auto elements = [&](const auto& f) {
    cpu::ForEachAddedElement(r, in_y, x[dim], k.in<I>(1), f);
  };
  cpu::AddUpRuns(y, k.out_spec().num_elements(), tables + 2 * r.table_size(),
                 r.lines * r.count * r.columns, 1, elements, [&](auto* sums) {
                   cpu::ScatterAddElements(r, in_y, in_source, x[dim], k.in<I>(1), k.in<T>(2),
                                           sums);
                 });
}

absl::Status RunScatterAdd(KernelContext& k) {
  VisitNumeric(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) { Add<T, I>(k); });
  });
  return absl::OkStatus();
}

void GradScatterAdd(GradContext& g) {
  g.set_grad_input(0, g.grad_output());
  if (!g.needs(2)) return;
  const Tensor& indices = g.input(1);
  const Tensor at = Gather(g.grad_output(), g.attrs<DimAttrs>().dim, indices);
  const Shape& source = g.input_shape(2);
  std::vector<int64_t> rest;  // of source, beyond the indices: zeros
  for (int d = source.rank() - 1; d >= 0; --d) {
    rest.push_back(0);
    rest.push_back(source[d] - at.shape()[d]);
  }
  g.set_grad_input(2, at.shape() == source ? at : Pad(at, rest));
}

FIRN_REGISTER_OP(scatter_add) {
  OpDef op = {
      .doc = "A copy of x with y[a.., indices[a.., i, b..], b..] += source[a.., i, b..].",
      .inputs = {{.name = "x", .dtypes = kNumeric, .min_rank = 1},
                 {.name = "indices", .dtypes = kIndex},
                 {.name = "source", .same_dtype_as = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<DimAttrs>(),
      .infer = InferScatterAdd,
      .grad = GradScatterAdd,
      .index_bounds = Bounds,
  };
  return cpu::ScatterOp(std::move(op), 1, WorkspaceScatterAdd, RunScatterAdd);
}

}  // namespace

Tensor Gather(const Tensor& x, Integer dim, const Tensor& indices) {
  return Apply1(TheOp<"gather">(), {x, indices}, DimAttrs{dim});
}

Tensor ScatterAdd(const Tensor& x, Integer dim, const Tensor& indices, const Tensor& source) {
  return Apply1(TheOp<"scatter_add">(), {x, indices, source}, DimAttrs{dim});
}

}  // namespace firn
