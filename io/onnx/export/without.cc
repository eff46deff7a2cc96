// Operations that ONNX has no words for, and why.
#include <algorithm>
#include <cmath>

#include "firn/io/onnx/internal/onnx_export_call.h"

namespace firn::io::internal {
namespace {

constexpr char kStep[] = "is the step of an optimizer, which an inference graph has no place for";
FIRN_ONNX_NO_EXPORT(adabelief_step, kStep);
FIRN_ONNX_NO_EXPORT(adabound_step, kStep);
FIRN_ONNX_NO_EXPORT(adadelta_step, kStep);
FIRN_ONNX_NO_EXPORT(adagrad_step, kStep);
FIRN_ONNX_NO_EXPORT(adam_step, kStep);
FIRN_ONNX_NO_EXPORT(adamax_step, kStep);
FIRN_ONNX_NO_EXPORT(lamb_step, kStep);
FIRN_ONNX_NO_EXPORT(lars_step, kStep);
FIRN_ONNX_NO_EXPORT(lion_step, kStep);
FIRN_ONNX_NO_EXPORT(nadam_step, kStep);
FIRN_ONNX_NO_EXPORT(radam_step, kStep);
FIRN_ONNX_NO_EXPORT(rmsprop_step, kStep);
FIRN_ONNX_NO_EXPORT(rprop_step, kStep);
FIRN_ONNX_NO_EXPORT(sgd_step, kStep);
FIRN_ONNX_NO_EXPORT(clip_grad_norm, kStep);
FIRN_ONNX_NO_EXPORT(clip_grad_value, kStep);
FIRN_ONNX_NO_EXPORT(unscale_gradients, kStep);
FIRN_ONNX_NO_EXPORT(update_loss_scale, kStep);

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
FIRN_ONNX_NO_EXPORT(multinomial, kDistribution);
FIRN_ONNX_NO_EXPORT(rand_gamma, kDistribution);
FIRN_ONNX_NO_EXPORT(rand_gamma_grad, kDistribution);
FIRN_ONNX_NO_EXPORT(randint, kDistribution);
FIRN_ONNX_NO_EXPORT(randperm, kDistribution);
FIRN_ONNX_NO_EXPORT(generator_position, "ONNX has no generators of random numbers");

constexpr char kImages[] = "ONNX has nothing like it for images";
FIRN_ONNX_NO_EXPORT(adaptive_separable_conv2d, kImages);
FIRN_ONNX_NO_EXPORT(adaptive_separable_conv2d_grad, kImages);
FIRN_ONNX_NO_EXPORT(patch_correlation, kImages);
FIRN_ONNX_NO_EXPORT(patch_correlation_grad, kImages);
FIRN_ONNX_NO_EXPORT(grid_sample_grad, kImages);
FIRN_ONNX_NO_EXPORT(roi_align_grad, kImages);

constexpr char kRecurrent[] = "ONNX has no gradients of recurrent layers";
FIRN_ONNX_NO_EXPORT(gru_layer_grad, kRecurrent);
FIRN_ONNX_NO_EXPORT(lstm_layer_grad, kRecurrent);
FIRN_ONNX_NO_EXPORT(rnn_relu_layer_grad, kRecurrent);
FIRN_ONNX_NO_EXPORT(rnn_tanh_layer_grad, kRecurrent);
FIRN_ONNX_NO_EXPORT(digamma_grad, "ONNX has no gamma function");

constexpr char kGradient[] = "is a gradient that nobody has written in ONNX's operators yet";
FIRN_ONNX_NO_EXPORT(affine_group_norm_grad, kGradient);
FIRN_ONNX_NO_EXPORT(avg_pool1d_grad, kGradient);
FIRN_ONNX_NO_EXPORT(avg_pool2d_grad, kGradient);
FIRN_ONNX_NO_EXPORT(avg_pool3d_grad, kGradient);
FIRN_ONNX_NO_EXPORT(binary_cross_entropy_target_grad, kGradient);
FIRN_ONNX_NO_EXPORT(cdist_grad, kGradient);
FIRN_ONNX_NO_EXPORT(fake_quantize_grad, kGradient);
FIRN_ONNX_NO_EXPORT(max_pool1d_gather, kGradient);
FIRN_ONNX_NO_EXPORT(max_pool2d_gather, kGradient);
FIRN_ONNX_NO_EXPORT(max_pool3d_gather, kGradient);
FIRN_ONNX_NO_EXPORT(nll_loss_grad, kGradient);
FIRN_ONNX_NO_EXPORT(pow2_quantize_grad, kGradient);
FIRN_ONNX_NO_EXPORT(prod_grad, kGradient);
FIRN_ONNX_NO_EXPORT(resample_grad, kGradient);
FIRN_ONNX_NO_EXPORT(scaled_dot_product_attention_grad, kGradient);
FIRN_ONNX_NO_EXPORT(unit_rows_grad, kGradient);
FIRN_ONNX_NO_EXPORT(var_grad, kGradient);

constexpr char kNotYet[] = "nobody has written it in ONNX's operators yet";
FIRN_ONNX_NO_EXPORT(cdist, kNotYet);
FIRN_ONNX_NO_EXPORT(cross_vectors, kNotYet);
FIRN_ONNX_NO_EXPORT(fft, kNotYet);
FIRN_ONNX_NO_EXPORT(ifft, kNotYet);
FIRN_ONNX_NO_EXPORT(irfft, kNotYet);
FIRN_ONNX_NO_EXPORT(rfft, kNotYet);
FIRN_ONNX_NO_EXPORT(fixed_point_quantize, kNotYet);
FIRN_ONNX_NO_EXPORT(histc_part, kNotYet);
FIRN_ONNX_NO_EXPORT(kron_matrices, kNotYet);
FIRN_ONNX_NO_EXPORT(multilabel_margin_loss, kNotYet);
FIRN_ONNX_NO_EXPORT(multilabel_margin_slopes, kNotYet);
FIRN_ONNX_NO_EXPORT(nms_mask, kNotYet);
FIRN_ONNX_NO_EXPORT(pow2_quantize, kNotYet);
FIRN_ONNX_NO_EXPORT(power_of_two, kNotYet);

// Rows of length 1: y = x scale / max(sqrt(sum x^2 + eps), least).
FIRN_ONNX_EXPORT(unit_rows) {
  if (n.Real("least") != 0) return n.Refuse("with a least length");
  const OnnxValue x = n.in(0), sum = n.Reduce("ReduceSum", x * x, {1}, true);
  const OnnxValue inverse = n.Node("Reciprocal", {n.Node("Sqrt", {sum + n.Real("eps")})});
  const OnnxValue y = x * inverse;
  n.Out(0, n.has(1) ? y * n.Unsqueeze(n.in(1, x.dtype), {1}) : y);
  n.Out(1, n.ReshapeTo(inverse, n.out_sizes(1)));
}
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
  // Nothing flows to -infinity, also where there is nothing else.
  p = n.Where(n.Compare("Equal", n.in(0), -INFINITY), n.Number(0, p.dtype), p);
  n.Out(0,
        n.rank(1) == n.rank(0) ? p * n.in(1) : p * n.Unsqueeze(n.in(1), {n.Dim("dim", n.rank(0))}));
}
// Boxes of images that are not there give 0 here; runtimes refuse them.
struct Boxes {
  OnnxValue image, inside, corners;
};
Boxes BoxesOf(OnnxExportCall& n) {
  const OnnxValue first = n.Squeeze(n.Slice(n.in(1), 1, 0, 1), {1});
  const OnnxValue image = n.Cast(n.Node("Floor", {first}), DType::kI64);
  const OnnxValue below = n.Compare("Less", image, n.ShapeTensor({n.sizes(0)[0]}));
  const OnnxValue inside = n.Node("And", {below, n.Compare("GreaterOrEqual", image, 0)});
  return {n.Where(inside, image, n.Integer(0)), inside, n.Slice(n.in(1), 1, 1, 5)};
}
void OutInside(OnnxExportCall& n, const Boxes& boxes, const OnnxValue& y) {
  n.Out(0, n.Where(n.Unsqueeze(boxes.inside, {1, 2, 3}), y, n.Number(0, y.dtype)));
}
FIRN_ONNX_EXPORT(roi_pool) {
  if (n.wants(1)) return n.Refuse("whose positions are wanted");
  const Boxes boxes = BoxesOf(n);
  const OnnxValue image = n.Unsqueeze(n.Cast(boxes.image, n.dtype(1)), {1});
  OutInside(n, boxes,
            n.Node("MaxRoiPool", {n.in(0), n.Concat({image, boxes.corners}, 1)},
                   {{"pooled_shape", n.Each("output_size", 2)},
                    {"spatial_scale", n.Real("spatial_scale")}}));
}
FIRN_ONNX_EXPORT(roi_align) {
  n.NeedsOpset(16);
  const Boxes boxes = BoxesOf(n);
  const std::vector<int64_t> size = n.Each("output_size", 2);
  OutInside(n, boxes,
            n.Node("RoiAlign", {n.in(0), boxes.corners, boxes.image},
                   {{"output_height", size[0]},
                    {"output_width", size[1]},
                    {"sampling_ratio", std::max<int64_t>(n.Int("sampling_ratio"), 0)},
                    {"spatial_scale", n.Real("spatial_scale")},
                    {"coordinate_transformation_mode",
                     n.Flag("aligned") ? "half_pixel" : "output_half_pixel"}}));
}
// One dimension at a time.
FIRN_ONNX_EXPORT(resample) {
  const std::string& mode = n.Word("mode");
  const bool nearest = mode == "nearest", linear = mode == "linear";
  if (!nearest && !linear) return n.Refuse("of mode " + mode);
  if (n.Flag("antialias")) n.NeedsOpset(18);
  if (n.Real("scale") != 0) return n.Refuse("with a scale of its own");
  OnnxSizes sizes = n.out_sizes(0);
  OnnxNodes::Attributes attributes = {
      {"mode", mode},
      {"coordinate_transformation_mode", n.Flag("align_corners") ? "align_corners"
                                         : nearest               ? "asymmetric"
                                                                 : "half_pixel"}};
  if (nearest) attributes.emplace_back("nearest_mode", "floor");
  if (n.Flag("antialias")) {
    attributes.emplace_back("antialias", true);
    attributes.emplace_back("exclude_outside", true);
  }
  n.Out(0, n.Node("Resize", {n.in(0), n.Absent(), n.Absent(), n.ShapeTensor(sizes)}, attributes));
}

}  // namespace
}  // namespace firn::io::internal
