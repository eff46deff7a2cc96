// ONNX's forms of the Fourier transforms in tensor/ops/signal: products with their matrices, at
// every opset.
#include <optional>

#include "firn/io/captured/captured_transforms.h"
#include "firn/io/onnx/internal/onnx_compose.h"

namespace firn::io::internal {
namespace {

void Transform(OnnxExportCall& n) {
  const std::optional<CapturedTransform> t = TransformOf(n);
  if (!t) return;
  const OnnxValue x = n.ReshapeTo(n.Transpose(n.in(0), t->to_end), t->flat);
  const OnnxValue y = MatMul(x, n.Constant(t->matrix.To(n.dtype(0))));
  n.Out(0, n.Transpose(n.ReshapeTo(y, t->made), t->back));
}
FIRN_ONNX_EXPORT(fft) { Transform(n); }
FIRN_ONNX_EXPORT(ifft) { Transform(n); }
FIRN_ONNX_EXPORT(rfft) { Transform(n); }
FIRN_ONNX_EXPORT(irfft) { Transform(n); }

}  // namespace
}  // namespace firn::io::internal
