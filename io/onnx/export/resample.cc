// ONNX's forms of the resampling of one dimension, and of its gradient. Both are linear in each
// line, so they are products with a matrix, which is Firn's own result for the unit vectors.
#include <algorithm>

#include "firn/io/onnx/internal/onnx_compose.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using List = std::vector<int64_t>;

firn::inner::ResampleAttrs AttrsOf(const OnnxExportCall& n) {
  const firn::inner::WordList words = firn::inner::kWordsOf<InterpolateMode>;
  return {.dim = 1,
          .in = n.Int("in"),
          .out = n.Int("out"),
          .mode = static_cast<InterpolateMode>(words.Find(n.Word("mode"))->value),
          .align_corners = n.Flag("align_corners"),
          .antialias = n.Flag("antialias"),
          .scale = n.Real("scale")};
}
// [in, out]
Tensor MatrixOf(const OnnxExportCall& n) {
  const firn::inner::ResampleAttrs attrs = AttrsOf(n);
  return firn::inner::Resample(Eye(attrs.in).To(DType::kF64), attrs);
}
// A choice of whole elements is written as such, so that infinities stay right.
void ChooseNearest(OnnxExportCall& n, const Tensor& matrix) {
  const V from = n.Ints(Argmax(matrix, 0).ToVector<int64_t>());
  n.Out(0, n.Node("Gather", {n.in(0), from}, {{"axis", n.Int("dim")}}));
}
FIRN_ONNX_EXPORT(resample) {
  const std::string& mode = n.Word("mode");
  const bool nearest = mode == "nearest", linear = mode == "linear", cubes = mode == "cubic";
  const bool antialias = n.Flag("antialias");
  if (n.Real("scale") != 0 || !(nearest || linear) || (antialias && n.opset() < 18)) {
    const Tensor matrix = MatrixOf(n);
    if (!linear && !cubes) return ChooseNearest(n, matrix);
    return n.Out(0, AlongDim(n.in(0), n.rank(0), n.Int("dim"), n.Constant(matrix.To(n.dtype(0)))));
  }
  OnnxNodes::Attributes attributes = {
      {"mode", mode},
      {"coordinate_transformation_mode", n.Flag("align_corners") ? "align_corners"
                                         : nearest               ? "asymmetric"
                                                                 : "half_pixel"}};
  if (nearest) attributes.emplace_back("nearest_mode", "floor");
  if (antialias) {
    attributes.emplace_back("antialias", true);
    attributes.emplace_back("exclude_outside", true);
  }
  n.Out(0, n.Node("Resize", {n.in(0), n.Absent(), n.Absent(), n.ShapeTensor(n.out_sizes(0))},
                  attributes));
}
FIRN_ONNX_EXPORT(resample_grad) {
  const Tensor turned = Contiguous(Transpose(MatrixOf(n), 0, 1));
  n.Out(0, AlongDim(n.in(0), n.rank(0), n.Int("dim"), n.Constant(turned.To(n.dtype(0)))));
}

}  // namespace
}  // namespace firn::io::internal
