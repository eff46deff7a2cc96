// Rules of advanced indexing.

#include "firn/tensor/ops/index/advanced_index.h"

#include "absl/strings/str_cat.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/index/index_rules.h"
#include "firn/tensor/ops/index/masks.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/slices.h"

namespace firn {
namespace inner::internal {

absl::StatusOr<AdvancedIndex> Resolve(const Shape& x, absl::Span<const Shape* const> indices,
                                      const DimList& dims) {
  FIRN_RETURN_IF(dims.size() != indices.size(),
                 InvalidArgument(dims.size(), " dims for ", indices.size(), " index tensors"));
  FIRN_RETURN_IF(indices.empty(), InvalidArgument("there is no index tensor"));
  AdvancedIndex a;
  for (size_t k = 0; k < indices.size(); ++k) {
    FIRN_RETURN_IF(x.rank() == 0, InvalidArgument("x is 0-d: it has no dimension to index"));
    FIRN_ASSIGN_OR_RETURN(const int dim, NormalizeDim(dims[k], x));
    FIRN_RETURN_IF(a.dims.rank > 0 && dim <= a.dims[a.dims.rank - 1],
                   InvalidArgument("dims do not ascend at ", dim));
    a.dims.push_back(dim);
    if (k == 0) {
      a.positions = *indices[k];
    } else {
      FIRN_ASSIGN_OR_RETURN(a.positions, BroadcastShapes(a.positions, *indices[k]));
    }
  }
  const int64_t first = a.dims[0], last = a.dims[a.dims.rank - 1];
  const bool neighbours = last - first + 1 == a.dims.rank;
  int k = 0;
  for (int d = 0; d < x.rank(); ++d) {
    if (k < a.dims.rank && a.dims[k] == d) {
      ++k;
    } else {
      (neighbours && d < first ? a.before : a.after).push_back(d);
    }
  }
  const int rank = a.before.rank + a.positions.rank() + a.after.rank;
  FIRN_RETURN_IF(rank > kMaxRank,
                 InvalidArgument("the result would have ", rank, " dimensions, at most ", kMaxRank,
                                 " are possible"));
  Dims sizes;
  for (int64_t d : a.before.span()) sizes.push_back(x[d]);
  for (int64_t n : a.positions) sizes.push_back(n);
  for (int64_t d : a.after.span()) sizes.push_back(x[d]);
  FIRN_ASSIGN_OR_RETURN(a.result, Shape::Make(sizes.span()));
  return a;
}

}  // namespace inner::internal

absl::StatusOr<IndexBounds> AdvancedIndexBounds(const KernelQuery& q, int i, int first,
                                                const DimList& dims) {
  const Shape& x = q.in(0).shape;
  FIRN_ASSIGN_OR_RETURN(const int dim, NormalizeDim(dims[i - first], x));
  return WrappingBounds(x[dim]);
}

absl::Status CheckMask(const Shape& x, int dim, const Shape& mask) {
  bool fits = mask.rank() > 0 && dim + mask.rank() <= x.rank();
  for (int d = 0; fits && d < mask.rank(); ++d) fits = mask[d] == x[dim + d];
  FIRN_RETURN_IF(!fits, InvalidArgument("the mask ", mask.ToString(), " does not fit x ",
                                        x.ToString(), " from dim ", dim, " on"));
  return absl::OkStatus();
}

int AppendIndex(const Shape& x, int dim, const Tensor& t, std::string_view op, IndexArrays* to) {
  if (t.dtype() != DType::kBool) {
    to->dims.push_back(dim);
    to->arrays.push_back(t);
    return 1;
  }
  RaiseIfError(CheckMask(x, dim, t.shape()), op);
  const Tensor where = Nonzero(t);
  for (int d = 0; d < t.rank(); ++d) {
    to->dims.push_back(dim + d);
    to->arrays.push_back(Select(where, 1, d));
  }
  return t.rank();
}

IndexArrays ResolveIndices(const Tensor& x, const std::vector<Tensor>& indices,
                           std::string_view op) {
  CheckDefined(x, op);
  IndexArrays result;
  int dim = 0;
  for (const Tensor& t : indices) {
    if (dim >= x.rank()) {
      RaiseStatus(InvalidArgument(indices.size(), " indices for x ", x.shape().ToString()), op);
    }
    dim += t.defined() ? AppendIndex(x.shape(), dim, t, op, &result) : 1;
  }
  return result;
}

std::vector<Tensor> WriteInputs(const Tensor& x, const IndexArrays& indices, const Tensor& values,
                                std::string_view op) {
  CheckDefined(x, op);
  CheckDefined(values, op, "values");
  std::vector<const Shape*> shapes;
  for (const Tensor& t : indices.arrays) shapes.push_back(&t.shape());
  const absl::StatusOr<AdvancedIndex> a = internal::Resolve(x.shape(), shapes, indices.dims);
  RaiseIfError(a.status(), op);
  if (!BroadcastsTo(values.shape(), a->result)) {
    RaiseStatus(
        InvalidArgument("values ", values.shape().ToString(), " do not broadcast to ",
                        a->result.ToString(), ", what the indices say of x ", x.shape().ToString()),
        op);
  }
  std::vector<Tensor> inputs = {x, Expand(Cast(values, x.dtype()), a->result)};
  inputs.insert(inputs.end(), indices.arrays.begin(), indices.arrays.end());
  return inputs;
}

}  // namespace firn
