#ifndef FIRN_TENSOR_OPS_LINALG_PINV_H_
#define FIRN_TENSOR_OPS_LINALG_PINV_H_

#include <optional>

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct PinvAttrs {
  double atol = 0;
  double rtol = -1;  // negative: max(m, n) times the dtype's epsilon
  template <class V>
  void Visit(V& v) {
    v.Field("atol", atol);
    v.Field("rtol", rtol);
  }
};
}  // namespace inner

// Singular values up to the larger of atol and rtol times the largest one count as 0.
struct PinvOptions {
  double atol = 0;
  std::optional<double> rtol = {};  // max(m, n) times the dtype's epsilon; 0 where atol is given
};

// The pseudoinverses of Moore and Penrose, by singular values, like torch.linalg.pinv.
//   a: [..., m, n]      result: [..., n, m]
// f32 and f64. The gradient (Golub and Pereyra, 1973) holds while the rank stays the same. Throws
// on tolerances that are negative or NaN, and where a matrix has elements that are not finite: the
// error names it in the batch, on a CUDA device with the next read from there.
Tensor Pinv(const Tensor& a, const PinvOptions& options = {});

struct LstsqResult {
  Tensor solution;         // [..., n, k]: the shortest X of those with the least |A X - B|
  Tensor residuals;        // [..., k]: the squares of the columns' |A X - B|
  Tensor rank;             // [...], i64
  Tensor singular_values;  // [..., min(m, n)]
};

// Least squares, like torch.linalg.lstsq with the driver gelsd; residuals are given for matrices of
// any shape and rank.
//   a: [..., m, n]      b: [..., m, k]; leading dimensions broadcast
// f32 and f64. `rcond` is Pinv's rtol. Solution and residuals have gradients, like Pinv. Throws
// Pinv's errors, and where sizes do not fit.
LstsqResult Lstsq(const Tensor& a, const Tensor& b, std::optional<double> rcond = {});

// a^n by repeated squares, like torch.linalg.matrix_power: the unit matrix for n = 0, powers of the
// inverse for negative n.
//   a: [..., n, n]      result: [..., n, n]
// Any numeric dtype, f32 and f64 where n < 0. Throws where a is not square, and for n < 0 where a
// matrix is singular.
Tensor MatrixPower(const Tensor& a, inner::Integer n);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINALG_PINV_H_
