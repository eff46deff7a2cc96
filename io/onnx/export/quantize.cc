// ONNX's forms of the operations in tensor/ops/quantize. Sums of bytes become MatMulInteger and
// ConvInteger unless only dequantize_linear reads them (onnx_qdq.h).
#include "firn/io/onnx/internal/onnx_export_call.h"
#include "firn/io/onnx/internal/onnx_qdq.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;

constexpr char kDoubles[] = "in f64, which ONNX quantizes nothing of";
OnnxNodes::Attributes Axis(OnnxExportCall& n, size_t i) {
  if (n.rank(1) == 0) return {};
  return {{"axis", n.Dim("dim", n.rank(i))}};
}
FIRN_ONNX_EXPORT(quantize_linear) {
  if (n.dtype(0) == DType::kF64) return n.Refuse(kDoubles);
  if (n.Word("round") != "even") return n.Refuse("that rounds " + n.Word("round"));
  const DType dtype = n.out_dtype(0);
  if (dtype != DType::kI8 && dtype != DType::kU8) return n.Refuse("to anything but bytes");
  const V q = n.Node("QuantizeLinear", {n.in(0), n.in(1), ZeroPointOf(n, 2, dtype)}, Axis(n, 0),
                     n.out_dtype(0));
  if (!n.Flag("narrow_range")) return n.Out(0, q);
  n.Out(0, n.Node("Max", {q, n.Number(dtype == DType::kI8 ? -127 : 1, dtype)}));
}
// For sums of bytes dequantize_linear becomes the product itself.
FIRN_ONNX_EXPORT(dequantize_linear) {
  if (n.out_dtype(0) == DType::kF64) return n.Refuse(kDoubles);
  if (WriteQdq(n)) return;
  n.Out(0, n.Node("DequantizeLinear", {n.in(0), n.in(1), ZeroPointOf(n, 2, n.dtype(0))}, Axis(n, 0),
                  n.out_dtype(0)));
}
// Written with ordinary numbers, for a range that no type has.
void RoundToLevels(OnnxExportCall& n) {
  std::vector<int64_t> sizes;
  if (n.rank(1) != 0) {
    sizes.assign(static_cast<size_t>(n.rank(0) - n.Dim("dim", n.rank(0))), 1);
    sizes[0] = n.size(1, 0);
  }
  const auto each = [&](size_t i) {
    const V numbers = n.in(i, DType::kF32);
    return sizes.size() < 2 ? numbers : n.Reshape(numbers, sizes);
  };
  const V scale = each(1), zero = each(2);
  const V level = n.Node("Round", {n.in(0, DType::kF32) / scale}) + zero;
  const auto end = [&](const char* name) {
    return n.Number(static_cast<double>(n.Int(name)), DType::kF32);
  };
  n.Out(0, (n.Node("Clip", {level, end("qmin"), end("qmax")}) - zero) * scale);
}
// A QuantizeLinear and a DequantizeLinear where the range is that of a type.
FIRN_ONNX_EXPORT(fake_quantize) {
  if (n.dtype(0) == DType::kF64) return n.Refuse(kDoubles);
  const int64_t least = n.Int("qmin"), most = n.Int("qmax");
  const bool i8 = least == -128 && most == 127, u8 = least == 0 && most == 255;
  if (!i8 && !u8) return RoundToLevels(n);
  const DType dtype = i8 ? DType::kI8 : DType::kU8;
  const V zero = ZeroPointOf(n, 2, dtype);
  const V q = n.Node("QuantizeLinear", {n.in(0), n.in(1), zero}, Axis(n, 0), dtype);
  n.Out(0, n.Node("DequantizeLinear", {q, n.in(1), zero}, Axis(n, 0), n.out_dtype(0)));
}
FIRN_ONNX_EXPORT(int_matmul) {
  const V b = n.Flag("transpose_b") ? n.Transpose(n.in(2), {0, 2, 1}) : n.in(2);
  if (n.rank(3) != 0) return n.Refuse("with a zero point for each column");
  n.Out(0, n.Node("MatMulInteger", {n.in(0), b, n.in(1, n.dtype(0)), n.in(3, n.dtype(2))}, {},
                  DType::kI32));
}
FIRN_ONNX_EXPORT(int_conv2d) {
  std::vector<int64_t> pads = n.Each("padding", 2);
  pads.insert(pads.end(), pads.begin(), pads.end());
  n.Out(0, n.Node("ConvInteger", {n.in(0), n.in(2), n.in(1, n.dtype(0)), n.in(3, n.dtype(2))},
                  {{"strides", n.Each("stride", 2)},
                   {"pads", pads},
                   {"dilations", n.Each("dilation", 2)},
                   {"group", n.Int("groups")}},
                  DType::kI32));
}

}  // namespace
}  // namespace firn::io::internal
