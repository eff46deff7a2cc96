// scatter_add: the adjoint of gather. Half types accumulate in float, in scratch memory.

#include "tensor/ops/scatter_add.h"

#include <algorithm>

#include "tensor/apply.h"
#include "tensor/index_rules.h"
#include "tensor/kernels/cpu/index.h"
#include "tensor/ops/gather.h"
#include "tensor/ops/pad.h"
#include "tensor/ops/unsqueeze.h"
#include "tensor/reorder.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const int dim,
                        ResolveElementIndex(c.attrs<DimAttrs>().dim, c.shape(1),
                                            {{"x", &c.shape(0)}, {"source", &c.shape(2)}}));
  FIRN_RETURN_IF(c.shape(1)[dim] > c.shape(2)[dim],
                 InvalidArgument("indices ", c.shape(1).ToString(), " are more than source ",
                                 c.shape(2).ToString(), " in dim ", dim));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> Bounds(const KernelQuery& q, int) {
  const Shape& x = q.in(0).shape;
  return WrappingBounds(x[*NormalizeDim(q.attrs<DimAttrs>().dim, x)]);
}

bool IsHalf(DType d) { return d == DType::kF16 || d == DType::kBF16; }

size_t Workspace(const KernelQuery& q) {
  const Shape& region = q.in(1).shape;
  const cpu::Region r(region, *NormalizeDim(q.attrs<DimAttrs>().dim, region));
  const size_t sums = IsHalf(q.out().dtype) ? static_cast<size_t>(q.out().num_elements()) : 0;
  return static_cast<size_t>(2 * r.table_size()) * sizeof(int64_t) + sums * sizeof(float);
}

template <class T, class I>
void Add(KernelContext& k) {
  using Acc = std::conditional_t<std::is_integral_v<T>, T, AccumulatorOf<T>>;
  const Shape& x = k.in_spec(0).shape;
  const Shape& region = k.in_spec(1).shape;
  const int dim = *NormalizeDim(k.attrs<DimAttrs>().dim, region);
  const cpu::Region r(region, dim);
  int64_t* tables = k.workspace<int64_t>();
  const cpu::Places in_y(region, x, dim, tables);
  const cpu::Places in_source(region, k.in_spec(2).shape, dim, tables + r.table_size());
  T* y = k.out<T>();
  CopyElementsOnCpu(k.in_spec(0), k.in<T>(0), k.out_spec(), y);
  const auto add_to = [&](Acc* sums) {
    cpu::ScatterAddElements(r, in_y, in_source, x[dim], k.in<I>(1), k.in<T>(2), sums);
  };
  if constexpr (std::is_same_v<T, Acc>) {
    add_to(y);
  } else {
    const int64_t n = k.out_spec().num_elements();
    Acc* sums = reinterpret_cast<Acc*>(tables + 2 * r.table_size());
    std::copy(y, y + n, sums);
    add_to(sums);
    std::transform(sums, sums + n, y, [](Acc v) { return static_cast<T>(v); });
  }
}

absl::Status Run(KernelContext& k) {
  VisitNumeric(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) { Add<T, I>(k); });
  });
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  g.set_grad_input(0, g.grad_output());
  if (!g.needs(2)) return;
  const Tensor& indices = g.input(1);
  const Tensor at = Gather(g.grad_output(), static_cast<int>(g.attrs<DimAttrs>().dim), indices);
  const Shape& source = g.input_shape(2);
  std::vector<int64_t> rest;  // of source, beyond the indices: zeros
  for (int d = source.rank() - 1; d >= 0; --d) {
    rest.push_back(0);
    rest.push_back(source[d] - at.shape()[d]);
  }
  g.set_grad_input(2, at.shape() == source ? at : Pad(at, rest));
}

FIRN_REGISTER_OP(scatter_add) {
  return {
      .name = "scatter_add",
      .doc = "A copy of x with y[a.., indices[a.., i, b..], b..] += source[a.., i, b..].",
      .inputs = {{.name = "x", .dtypes = kNumeric, .min_rank = 1},
                 {.name = "indices", .dtypes = kIndex},
                 {.name = "source", .same_dtype_as = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<DimAttrs>(),
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

Tensor ScatterAdd(const Tensor& x, int dim, const Tensor& indices, const Tensor& source) {
  static const OpDef& op = Op("scatter_add");
  return Apply1(op, {x, indices, source}, DimAttrs{dim});
}

}  // namespace firn
