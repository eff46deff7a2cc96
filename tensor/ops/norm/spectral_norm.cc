// The power method: u and v are turned towards the singular vectors of the largest singular value
// by multiplying with the matrix and its transpose in turn, outside of the gradient. The sigma that
// w is divided by is then u^T W v, differentiated with u and v held constant.

#include "firn/tensor/ops/norm/spectral_norm.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/norm/normalize.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

// w as a matrix whose rows are the indices of `dim`.
Tensor MatrixOf(const Tensor& w, int64_t dim) {
  DimList order = dim;
  for (int64_t i = 0; i < w.rank(); ++i) {
    if (i != dim) order.d[order.rank++] = i;
  }
  return Reshape(Permute(w, order), {w.size(dim), -1});
}

void CheckVector(const Tensor& t, const char* name, const Tensor& w, int64_t size) {
  CheckDefined(t, "spectral_norm", name);
  if (t.shape() == Shape({size}) && t.dtype() == w.dtype()) return;
  RaiseStatus(
      InvalidArgument(name, " must be ", DTypeName(w.dtype()), " ", Shape({size}).ToString(),
                      " for w ", w.spec().ToString(), ", got ", t.spec().ToString()),
      "spectral_norm");
}

}  // namespace

Tensor SpectralNorm(const Tensor& w, const Tensor& u, const Tensor& v,
                    const SpectralNormOptions& options) {
  CheckDefined(w, "spectral_norm", "w");
  if (w.rank() < 2 || w.num_elements() == 0 || !IsFloating(w.dtype())) {
    RaiseStatus(
        InvalidArgument("w must be floating, of at least 2 dimensions and one element, got ",
                        w.spec().ToString()),
        "spectral_norm");
  }
  if (options.iterations < 0 || !(options.eps >= 0)) {
    RaiseStatus(InvalidArgument("iterations and eps must be 0 or more, got ", options.iterations,
                                " and ", options.eps),
                "spectral_norm");
  }
  const absl::StatusOr<int> dim = NormalizeDim(options.dim, w.shape());
  if (!dim.ok()) RaiseStatus(dim.status(), "spectral_norm");
  const int64_t rows = w.shape()[*dim];
  CheckVector(u, "u", w, rows);
  CheckVector(v, "v", w, w.num_elements() / rows);
  const Tensor matrix = MatrixOf(w, *dim);
  Tensor left = u.Detach(), right = v.Detach();
  if (options.training && options.iterations > 0) {
    const Tensor held = matrix.Detach();
    for (int64_t i = 0; i < options.iterations; ++i) {
      left = Normalize(Matmul(held, right), 2, 0, options.eps);
      right = Normalize(Matmul(left, held), 2, 0, options.eps);
    }
    Assign(u, left);
    Assign(v, right);
  } else {
    // The recorded operations get copies of u and v, because a later call in training moves these.
    left = left.Clone();
    right = right.Clone();
  }
  return Div(w, Matmul(left, Matmul(matrix, right)));
}

}  // namespace firn
