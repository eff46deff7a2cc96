#ifndef FIRN_TENSOR_OPS_SHAPE_DIAGONAL_H_
#define FIRN_TENSOR_OPS_SHAPE_DIAGONAL_H_

// Diagonals and triangles of matrices. Diagonal number 0 goes through the first element; numbers
// above 0 lie to its right, those below 0 beneath it. Any dtype.

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct DiagonalAttrs {
  int64_t offset = 0;
  int64_t dim1 = 0;
  int64_t dim2 = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("offset", offset);
    v.Field("dim1", dim1);
    v.Field("dim2", dim2);
  }
};
struct DiagEmbedAttrs {
  int64_t offset = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("offset", offset);
    v.Field("rows", rows);
    v.Field("columns", columns);
  }
};
struct TriangleAttrs {
  int64_t diagonal = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("diagonal", diagonal);
  }
};
}  // namespace inner

// A view of diagonal `offset` of the matrices with rows along dim1 and columns along dim2; the
// diagonal is the last dimension of the result, empty where there is none
// (torch.diagonal). Throws when a dim is out of range or both are one.
Tensor Diagonal(const Tensor& x, inner::Integer offset = 0, inner::Integer dim1 = 0,
                inner::Integer dim2 = 1);

// Matrices of zeros with the last dimension of x on diagonal `offset`: [..., n] ->
// [..., n + |offset|, n + |offset|], whose rows and columns are dimensions dim1 and dim2 of the
// result (torch.diag_embed). Throws when a dim is out of range or both are one.
Tensor DiagEmbed(const Tensor& x, inner::Integer offset = 0, inner::Integer dim1 = -2,
                 inner::Integer dim2 = -1);

// x [..., n, m] with zeros above diagonal number `diagonal`: a lower triangle.
Tensor Tril(const Tensor& x, inner::Integer diagonal = 0);
// x [..., n, m] with zeros below diagonal number `diagonal`: an upper triangle.
// Triu(Full({n, n}, -INFINITY), 1) is a causal mask.
Tensor Triu(const Tensor& x, inner::Integer diagonal = 0);

namespace inner {
// [..., n] -> [..., rows, columns]: zeros with x on diagonal `offset`, which has n elements.
Tensor OnDiagonal(const Tensor& x, const DiagEmbedAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_DIAGONAL_H_
