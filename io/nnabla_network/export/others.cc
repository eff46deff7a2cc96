// NNabla's forms of the operations in tensor/ops/vision, quantize, signal and linalg.
#include <limits>
#include <numbers>

#include "firn/io/nnabla_network/internal/nnabla_export_call.h"

namespace firn::io::internal {
namespace {

using V = NnablaValue;
using Numbers = NnablaNodes::Numbers;

// Resizes the last two or three dimensions; unchanged ones get their own size.
FIRN_NNABLA_EXPORT(resample) {
  const std::string& mode = n.Word("mode");
  const bool nearest = mode == "nearest", aligned = n.Flag("align_corners");
  if (!nearest && mode != "linear") return n.Refuse("of mode " + mode);
  if (n.Flag("antialias")) return n.Refuse("with antialias");
  if (n.Real("scale") != 0) return n.Refuse("with a scale of its own");
  const int64_t dim = n.Dim("dim", n.rank(0)), behind = n.rank(0) - dim;
  const int64_t count = behind <= 2 ? 2 : 3;
  if (behind > 3 || n.rank(0) <= count) return n.Refuse("of a dimension that is none of images");
  const CapturedSizes sizes = n.out_sizes(0);
  n.Out(0, n.Node("Interpolate", {n.in(0)},
                  {{"output_size", n.Fixed(CapturedSizes(sizes.end() - count, sizes.end()))},
                   {"mode", mode},
                   {"align_corners", aligned},
                   {"half_pixel", !nearest && !aligned}},
                  sizes));
}
FIRN_NNABLA_EXPORT(grid_sample) {
  if (n.Flag("pixels")) return n.Refuse("with places in pixels");
  const std::string &mode = n.Word("mode"), &padding = n.Word("padding");
  if (mode == "bicubic") return n.Refuse("of mode bicubic");
  n.Out(0, n.Node("WarpByGrid", {n.in(0), n.in(1)},
                  {{"mode", mode == "nearest" ? "nearest" : "linear"},
                   {"padding_mode", padding == "border"       ? "repeat"
                                    : padding == "reflection" ? "reflect"
                                                              : "zero"},
                   {"align_corners", n.Flag("align_corners")}},
                  n.out_sizes(0)));
}
FIRN_NNABLA_EXPORT(adaptive_separable_conv2d) {
  n.Out(0, n.Node("AdaptiveSeparableConvolution", {n.in(0), n.in(1), n.in(2)}, {}, n.out_sizes(0)));
}
FIRN_NNABLA_NO_EXPORT(roi_pool, "takes the largest elements of boxes; NNabla's RoiAlign averages");
FIRN_NNABLA_NO_EXPORT(
    nms_mask,
    "NNabla's NmsDetection2d has boxes by their centres and sizes, whose overlaps "
    "are rounded otherwise than those that are compared here");

FIRN_NNABLA_EXPORT(fixed_point_quantize) {
  n.Out(0, n.Node("FixedPointQuantize", {n.in(0)},
                  {{"sign", n.Flag("sign")},
                   {"n", n.Int("n")},
                   {"delta", n.Real("delta")},
                   {"ste_fine_grained", n.Flag("ste_fine_grained")}}));
}
FIRN_NNABLA_EXPORT(pow2_quantize) {
  n.Out(0, n.Node("Pow2Quantize", {n.in(0)},
                  {{"sign", n.Flag("sign")},
                   {"with_zero", n.Flag("with_zero")},
                   {"n", n.Int("n")},
                   {"m", n.Int("m")},
                   {"ste_fine_grained", n.Flag("ste_fine_grained")}}));
}
// The power of two that is at most |x|, or the next one if |x| is `up` times it or more. The
// exponent from the logarithm is wrong by at most one. Subnormal numbers give 0; NaN and infinity
// stay.
FIRN_NNABLA_EXPORT(power_of_two) {
  const V size = n.Node("Abs", {n.in(0)});
  const V some = n.Binary("GreaterEqual", size, 0x1p-126);
  const V is_odd =
      n.Node("LogicalNot", {n.Binary("LessEqual", size, std::numeric_limits<float>::max())});
  const V safe =
      n.Where(n.Binary("LogicalAnd", some, n.Node("LogicalNot", {is_odd})), size, n.Number(1));
  const V place = n.Node("Floor", {n.Node("Log", {safe}) * std::numbers::log2e});
  // For the largest numbers the logarithm would be rounded to 128.
  const V near = n.Binary("Pow2", n.Number(2), n.Binary("Minimum2", place, 127));
  const V low = n.Where(n.Binary("Greater", near, safe), near * 0.5, near);
  const V power = n.Where(n.Binary("GreaterEqual", safe * 0.5, low), low * 2, low);
  const V next = n.Binary("GreaterEqual", safe, power * n.Real("up"));
  n.Out(0, n.Where(is_odd, size, n.Where(some, n.Where(next, power * 2, power), n.Number(0))));
}
// Scales and zero points: one, or one for each index of "dim".
V Each(NnablaExportCall& n, size_t i) {
  if (n.rank(i) == 0) return n.in(i);
  Numbers sizes(static_cast<size_t>(n.rank(0)), 1);
  sizes[static_cast<size_t>(n.Dim("dim", n.rank(0)))] = n.size(i, 0);
  return n.Reshape(n.in(i), sizes);
}
V Levels(NnablaExportCall& n, bool even, double least, double most) {
  V q = n.Round(n.in(0) / Each(n, 1), even);
  if (n.has(2)) q = q + Each(n, 2);
  return n.Binary("Minimum2", n.Binary("Maximum2", q, least), most);
}
V Back(NnablaExportCall& n, const V& q) { return (n.has(2) ? q - Each(n, 2) : q) * Each(n, 1); }
FIRN_NNABLA_EXPORT(quantize_linear) {
  const DType dtype = n.out_dtype(0);
  if (dtype != DType::kI8 && dtype != DType::kU8) return n.Refuse("to anything but bytes");
  const double low = dtype == DType::kI8 ? -128 : 0;
  n.Out(0, Levels(n, n.Word("round") == "even", low + (n.Flag("narrow_range") ? 1 : 0),
                  dtype == DType::kI8 ? 127 : 255));
}
FIRN_NNABLA_EXPORT(dequantize_linear) { n.Out(0, Back(n, n.in(0))); }
FIRN_NNABLA_EXPORT(fake_quantize) {
  n.Out(0, Back(n, Levels(n, true, n.Real("qmin"), n.Real("qmax"))));
}
constexpr char kIntegers[] = "is a product of integers, whose sums f32 does not hold";
FIRN_NNABLA_NO_EXPORT(int_matmul, kIntegers);
FIRN_NNABLA_NO_EXPORT(int_conv2d, kIntegers);

FIRN_NNABLA_EXPORT(det) {
  const V x = n.rank(0) == 2 ? n.Unsqueeze(n.in(0), {0}) : n.in(0);
  if (n.rank(0) > 3) return n.Refuse("of matrices in several dimensions");
  n.Out(0, n.Node("BatchDet", {x}, {}, {x.sizes[0]}));
}
FIRN_NNABLA_EXPORT(inv) {
  if (n.rank(0) > 3) return n.Refuse("of matrices in several dimensions");
  n.Out(0, n.Node("BatchInv", {n.rank(0) == 2 ? n.Unsqueeze(n.in(0), {0}) : n.in(0)}));
}
constexpr char kMatrices[] = "NNabla has no such decompositions or equations of matrices";
FIRN_NNABLA_NO_EXPORT(cofactor, kMatrices);
FIRN_NNABLA_NO_EXPORT(eigh, kMatrices);
FIRN_NNABLA_NO_EXPORT(pinv, kMatrices);
FIRN_NNABLA_NO_EXPORT(pinv_values, kMatrices);
FIRN_NNABLA_NO_EXPORT(qr, kMatrices);
FIRN_NNABLA_NO_EXPORT(slogdet, "NNabla's logarithm is of a determinant that f32 may not hold");
FIRN_NNABLA_NO_EXPORT(solve_triangular, kMatrices);
FIRN_NNABLA_NO_EXPORT(svd, kMatrices);

constexpr char kRanks[] = "calls other ranks, which no network of NNabla's does";
FIRN_NNABLA_NO_EXPORT(all_gather, kRanks);
FIRN_NNABLA_NO_EXPORT(all_reduce, kRanks);
FIRN_NNABLA_NO_EXPORT(all_reduce_extreme, kRanks);
FIRN_NNABLA_NO_EXPORT(all_reduce_prod, kRanks);
FIRN_NNABLA_NO_EXPORT(broadcast, kRanks);
FIRN_NNABLA_NO_EXPORT(reduce_scatter, kRanks);
FIRN_NNABLA_NO_EXPORT(reduce_to_root, kRanks);
FIRN_NNABLA_NO_EXPORT(start_collective, kRanks);
FIRN_NNABLA_NO_EXPORT(wait_collective, kRanks);

}  // namespace
}  // namespace firn::io::internal
