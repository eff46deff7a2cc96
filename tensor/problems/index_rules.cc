// Shape rules of index operations.

#include "firn/tensor/problems/index_rules.h"

namespace firn {

absl::StatusOr<IndexPlan> PlanIndex(const Shape& x, const Shape& indices,
                                    const IndexSelectAttrs& attrs) {
  FIRN_RETURN_IF(x.rank() == 0, InvalidArgument("x is 0-d: it has no dimension to index"));
  FIRN_ASSIGN_OR_RETURN(const int dim, NormalizeDim(attrs.dim, x));
  const int64_t batch_dims = attrs.batch_dims;
  FIRN_RETURN_IF(batch_dims < 0 || batch_dims > dim || batch_dims > indices.rank(),
                 InvalidArgument("batch_dims ", batch_dims, " is negative or more than dim ", dim,
                                 " or the rank of indices ", indices.ToString()));
  IndexPlan p;
  p.ignored = attrs.ignored;
  p.n = x[dim];
  Dims sizes;
  for (int d = 0; d < x.rank(); ++d) {
    if (d < batch_dims) {
      FIRN_RETURN_IF(x[d] != indices[d],
                     InvalidArgument("x ", x.ToString(), " and indices ", indices.ToString(),
                                     " differ in batch dim ", d));
      p.batch *= x[d];
    } else if (d != dim) {
      (d < dim ? p.outer : p.inner) *= x[d];
    }
  }
  const int64_t rank = x.rank() - 1 + indices.rank() - batch_dims;
  FIRN_RETURN_IF(rank > kMaxRank,
                 InvalidArgument("the result would have ", rank, " dimensions, at most ", kMaxRank,
                                 " are possible"));
  for (int d = 0; d < dim; ++d) sizes.push_back(x[d]);
  for (int d = static_cast<int>(batch_dims); d < indices.rank(); ++d) {
    sizes.push_back(indices[d]);
    p.count *= indices[d];
  }
  for (int d = dim + 1; d < x.rank(); ++d) sizes.push_back(x[d]);
  FIRN_ASSIGN_OR_RETURN(p.selection, Shape::Make(sizes.span()));
  return p;
}

absl::StatusOr<int> ResolveElementIndex(int64_t dim, const Shape& indices,
                                        std::initializer_list<NamedShape> tensors) {
  FIRN_RETURN_IF(indices.rank() == 0,
                 InvalidArgument("indices are 0-d: want as many dimensions as x"));
  FIRN_ASSIGN_OR_RETURN(const int at, NormalizeDim(dim, indices));
  for (const NamedShape& t : tensors) {
    bool fits = t.shape->rank() == indices.rank();
    for (int d = 0; fits && d < indices.rank(); ++d) {
      fits = d == at || indices[d] <= (*t.shape)[d];
    }
    FIRN_RETURN_IF(!fits, InvalidArgument("indices ", indices.ToString(), " do not fit ", t.name,
                                          " ", t.shape->ToString(),
                                          ": want equally many dimensions, "
                                          "none but dim ",
                                          at, " larger"));
  }
  return at;
}

absl::Status OthersContiguous(const KernelQuery& q) {
  for (int i = 1; i < q.num_inputs(); ++i) {
    FIRN_RETURN_IF(q.has(i) && !q.in(i).layout.contiguous,
                   Unimplemented("input ", i, " is not contiguous"));
  }
  return absl::OkStatus();
}

}  // namespace firn
