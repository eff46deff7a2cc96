// Rules of advanced indexing.

#include "firn/tensor/problems/advanced_index.h"

#include "firn/tensor/problems/index_rules.h"

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

}  // namespace firn
