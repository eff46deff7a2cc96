// NNabla's forms of Fourier transforms, matrices and distances (tensor/ops/signal, linalg, linear).
#include <cmath>
#include <optional>

#include "firn/io/captured/captured_transforms.h"
#include "firn/io/nnabla_network/internal/nnabla_export_call.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using V = NnablaValue;
using Numbers = NnablaNodes::Numbers;

// --- Transforms: by their matrices, where NNabla's own FFT runs on no CPU -----------------------

void Transform(NnablaExportCall& n) {
  const std::optional<CapturedTransform> t = TransformOf(n);
  if (!t) return;
  const V x = n.Reshape(n.Transpose(n.in(0), t->to_end), t->flat);
  const V y = n.Matmul(x, n.Constant(t->matrix.To(DType::kF32)));
  n.Out(0, n.Transpose(n.Reshape(y, t->made), t->back));
}
FIRN_NNABLA_EXPORT(fft) { Transform(n); }
FIRN_NNABLA_EXPORT(ifft) { Transform(n); }
FIRN_NNABLA_EXPORT(rfft) { Transform(n); }
FIRN_NNABLA_EXPORT(irfft) { Transform(n); }

// --- Matrices: [batch, n, n] in NNabla ----------------------------------------------------------

// Matrices in any number of dimensions as a list of them.
V Listed(NnablaExportCall& n, const V& x) {
  CapturedSizes sizes = {{1, 1}};
  for (size_t d = 0; d + 2 < x.sizes.size(); ++d) {
    if (x.sizes[d].batch() && d > 0) n.Refuse("with the batch in another dimension than the first");
    sizes[0].now *= x.sizes[d].now;
    sizes[0].other *= x.sizes[d].other;
  }
  if (x.sizes.size() > 3 && x.sizes[0].batch()) n.Refuse("of matrices in several dimensions");
  sizes.insert(sizes.end(), x.sizes.end() - 2, x.sizes.end());
  return n.Reshape(x, sizes);
}
// The symmetric matrix of the triangle that Firn reads and its mirror image.
FIRN_NNABLA_EXPORT(cholesky) {
  const bool upper = n.Flag("upper");
  const Tensor ones = Ones({n.size(0, n.rank(0) - 1), n.size(0, n.rank(0) - 1)});
  const V x = Listed(n, n.in(0));
  const auto part = [&](int64_t from) {
    return n.Where(n.Broadcast(n.Constant(upper ? Triu(ones, from) : Tril(ones, -from)), x.sizes),
                   x, n.Number(0));
  };
  const V all = part(0) + n.Swapped(part(1));
  n.Out(0, n.Reshape(n.Node("BatchCholesky", {all}, {{"upper", upper}}), n.out_sizes(0)));
}
FIRN_NNABLA_EXPORT(solve) {
  if (n.rank(0) != n.rank(1)) return n.Refuse("for vectors");
  const V inverse = n.Reshape(n.Node("BatchInv", {Listed(n, n.in(0))}), n.sizes(0));
  n.Out(0, n.Matmul(inverse, n.in(1)));
}

FIRN_NNABLA_EXPORT(cross_vectors) {
  const int64_t dim = n.Dim("dim", n.rank(0));
  const auto moved = [&](size_t i, const Numbers& order) { return n.Gather(n.in(i), dim, order); };
  n.Out(0, moved(0, {1, 2, 0}) * moved(1, {2, 0, 1}) - moved(0, {2, 0, 1}) * moved(1, {1, 2, 0}));
}
FIRN_NNABLA_EXPORT(kron_matrices) {
  n.Out(0, n.Reshape(n.Unsqueeze(n.in(0), {1, 3}) * n.Unsqueeze(n.in(1), {0, 2}), n.out_sizes(0)));
}
// In units of the largest difference, whose powers stay in the range.
FIRN_NNABLA_EXPORT(cdist) {
  const double p = n.Real("p");
  const int64_t last = n.rank(0);
  if (n.size(0, last - 1) == 0) return n.Out(0, n.Broadcast(n.Number(0), n.out_sizes(0)));
  const V size =
      n.Node("Abs", {n.Unsqueeze(n.in(0), {last - 1}) - n.Unsqueeze(n.in(1), {n.rank(1) - 2})});
  const auto sum = [&](const V& x) { return n.Reduce("Sum", x, {last}, false); };
  if (p == 0) return n.Out(0, sum(n.Binary("NotEqual", size, 0)));
  if (p == 1) return n.Out(0, sum(size));
  const V top = n.Reduce("Max", size, {last}, true), flat = n.Squeeze(top, {last});
  if (std::isinf(p)) return n.Out(0, flat);
  const V part = size / n.Where(n.Binary("Greater", top, 0), top, n.Number(1));
  n.Out(0, flat * n.Binary("Pow2", sum(p == 2 ? part * part : n.Binary("Pow2", part, p)), 1 / p));
}
FIRN_NNABLA_EXPORT(histc_part) {
  const V x = n.in(0), low = n.in(1), high = n.in(2);
  const auto bins = static_cast<double>(n.Int("bins"));
  const V part = (x - low) * bins / (high - low);
  const V outside = n.Binary("LogicalOr", n.Binary("Less", x, low), n.Binary("Greater", x, high));
  const V inside = n.Binary("Equal", part, part) * n.Node("LogicalNot", {outside});
  n.Out(0, n.Where(inside, n.Binary("Minimum2", part, bins - 1), n.Number(-1)));
}

}  // namespace
}  // namespace firn::io::internal
