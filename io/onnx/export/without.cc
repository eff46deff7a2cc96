// Operations that ONNX cannot express, and why.
#include <cmath>

#include "firn/io/onnx/internal/onnx_export_call.h"

namespace firn::io::internal {
namespace {

constexpr char kMatrices[] = "ONNX has no decompositions, inverses or equations of matrices";
FIRN_ONNX_NO_EXPORT(cholesky, kMatrices);
FIRN_ONNX_NO_EXPORT(cofactor, kMatrices);
FIRN_ONNX_NO_EXPORT(eigh, kMatrices);
FIRN_ONNX_NO_EXPORT(inv, kMatrices);
FIRN_ONNX_NO_EXPORT(pinv, kMatrices);
FIRN_ONNX_NO_EXPORT(pinv_values, kMatrices);
FIRN_ONNX_NO_EXPORT(qr, kMatrices);
FIRN_ONNX_NO_EXPORT(slogdet, kMatrices);
FIRN_ONNX_NO_EXPORT(solve, kMatrices);
FIRN_ONNX_NO_EXPORT(solve_triangular, kMatrices);
FIRN_ONNX_NO_EXPORT(svd, kMatrices);
FIRN_ONNX_SAME(det, Det);

constexpr char kDistribution[] = "ONNX draws no numbers of this distribution";
FIRN_ONNX_NO_EXPORT(binomial, kDistribution);
FIRN_ONNX_NO_EXPORT(rand_gamma, kDistribution);
FIRN_ONNX_NO_EXPORT(rand_gamma_grad, kDistribution);
FIRN_ONNX_NO_EXPORT(generator_position, "ONNX has no generators of random numbers");

constexpr char kImages[] = "ONNX has nothing like it for images";
FIRN_ONNX_NO_EXPORT(adaptive_separable_conv2d, kImages);
FIRN_ONNX_NO_EXPORT(adaptive_separable_conv2d_grad, kImages);
FIRN_ONNX_NO_EXPORT(patch_correlation, kImages);
FIRN_ONNX_NO_EXPORT(patch_correlation_grad, kImages);
FIRN_ONNX_NO_EXPORT(grid_sample_grad, kImages);
FIRN_ONNX_NO_EXPORT(roi_align_grad, kImages);

FIRN_ONNX_EXPORT(binary_sigmoid) { n.Out(0, n.Cast(n.Compare("Greater", n.in(0), 0), n.dtype(0))); }
FIRN_ONNX_EXPORT(binary_tanh) {
  const DType dtype = n.dtype(0);
  n.Out(0, n.Where(n.Compare("Greater", n.in(0), 0), n.Number(1, dtype), n.Number(-1, dtype)));
}
FIRN_ONNX_EXPORT(logit_grad) {
  const OnnxValue x = n.in(1), dx = n.in(0) / (x * (1 - x));
  const double eps = n.Real("eps");
  if (eps < 0) return n.Out(0, dx);
  const OnnxValue none = n.Number(0, x.dtype);
  const OnnxValue low = n.Where(n.Compare("Less", x, eps), none, dx);
  n.Out(0, n.Where(n.Compare("Greater", x, 1 - eps), none, low));
}
FIRN_ONNX_EXPORT(logsumexp_grad) {
  if (n.rank(0) == 0) return n.Out(0, n.in(1));
  OnnxValue p = n.Node("Softmax", {n.in(0)}, {{"axis", n.Dim("dim", n.rank(0))}});
  // An element of -infinity gets no gradient, even if all are.
  p = n.Where(n.Compare("Equal", n.in(0), -INFINITY), n.Number(0, p.dtype), p);
  n.Out(0,
        n.rank(1) == n.rank(0) ? p * n.in(1) : p * n.Unsqueeze(n.in(1), {n.Dim("dim", n.rank(0))}));
}

constexpr char kRanks[] = "ONNX knows no other ranks";
FIRN_ONNX_NO_EXPORT(all_gather, kRanks);
FIRN_ONNX_NO_EXPORT(all_reduce, kRanks);
FIRN_ONNX_NO_EXPORT(all_reduce_extreme, kRanks);
FIRN_ONNX_NO_EXPORT(all_reduce_prod, kRanks);
FIRN_ONNX_NO_EXPORT(broadcast, kRanks);
FIRN_ONNX_NO_EXPORT(reduce_scatter, kRanks);
FIRN_ONNX_NO_EXPORT(reduce_to_root, kRanks);
FIRN_ONNX_NO_EXPORT(start_collective, kRanks);
FIRN_ONNX_NO_EXPORT(wait_collective, kRanks);

}  // namespace
}  // namespace firn::io::internal
