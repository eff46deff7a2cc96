// What the operations of tensor/ops/recurrent, quantize and random are in ONNX.
#include "firn/io/onnx/internal/onnx_export_call.h"
#include "firn/tensor/from.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using List = std::vector<int64_t>;

// Rows of gates in ONNX's order.
V Gates(OnnxExportCall& n, const V& x, const List& order, int64_t hidden) {
  List rows;
  for (const int64_t gate : order) {
    for (int64_t i = 0; i < hidden; ++i) rows.push_back(gate * hidden + i);
  }
  return n.Unsqueeze(n.Node("Gather", {x, n.Ints(rows)}, {{"axis", 0}}), {0});
}
V Initial(OnnxExportCall& n, size_t i) {
  return n.rank(i) == 2 ? n.Unsqueeze(n.in(i), {0}) : n.in(i);
}
// Of one direction, with these gates.
void Recurrent(OnnxExportCall& n, const char* op, const List& order,
               OnnxNodes::Attributes attributes) {
  const bool lstm = std::string_view(op) == "LSTM";
  if (!n.List("batch_sizes").empty()) return n.Refuse("of packed sequences");
  if (lstm && n.has(7)) return n.Refuse("with a projection");
  const int64_t hidden = n.size(3, 1);
  const auto zeros = [&] {
    const auto count = static_cast<size_t>(n.size(3, 0));
    return n.Constant(FromVector(std::vector<double>(count, 0)).To(n.dtype(0)));
  };
  V bias = n.Absent();
  if (n.has(4) || n.has(5)) {
    bias = n.Concat({Gates(n, n.has(4) ? n.in(4) : zeros(), order, hidden),
                     Gates(n, n.has(5) ? n.in(5) : zeros(), order, hidden)},
                    1);
  }
  attributes.emplace_back("hidden_size", hidden);
  attributes.emplace_back("direction", n.Flag("reverse") ? "reverse" : "forward");
  const DType dtype = n.dtype(0);
  const auto y =
      n.NodeOf(op,
               {n.in(0), Gates(n, n.in(2), order, hidden), Gates(n, n.in(3), order, hidden), bias,
                n.Absent(), Initial(n, 1), lstm ? Initial(n, 6) : n.Absent()},
               std::vector<DType>(lstm ? 3 : 2, dtype), attributes);
  n.Out(0, n.Squeeze(y[0], {1}));
  n.Out(1, n.ReshapeTo(y[1], n.out_sizes(1)));
  if (lstm) n.Out(2, n.ReshapeTo(y[2], n.out_sizes(2)));
}
FIRN_ONNX_EXPORT(lstm_layer) { Recurrent(n, "LSTM", {0, 3, 1, 2}, {}); }
FIRN_ONNX_EXPORT(gru_layer) { Recurrent(n, "GRU", {1, 0, 2}, {{"linear_before_reset", 1}}); }
FIRN_ONNX_EXPORT(rnn_tanh_layer) { Recurrent(n, "RNN", {0}, {}); }
FIRN_ONNX_EXPORT(rnn_relu_layer) {
  Recurrent(n, "RNN", {0}, {{"activations", std::vector<std::string>{"Relu"}}});
}
FIRN_ONNX_EXPORT(reverse_sequence) {
  const int64_t time = n.Dim("time_dim", n.rank(0)), batch = n.Dim("batch_dim", n.rank(0));
  if (time > 1 || batch > 1) return n.Refuse("of other dimensions than 0 and 1");
  n.Out(0, n.Node("ReverseSequence", {n.in(0), n.in(1, DType::kI64)},
                  {{"time_axis", time}, {"batch_axis", batch}}));
}

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
  const V q = n.Node("QuantizeLinear", {n.in(0), n.in(1), n.in(2, n.out_dtype(0))}, Axis(n, 0),
                     n.out_dtype(0));
  if (!n.Flag("narrow_range")) return n.Out(0, q);
  n.Out(0, n.Node("Max", {q, n.Number(dtype == DType::kI8 ? -127 : 1, dtype)}));
}
FIRN_ONNX_EXPORT(dequantize_linear) {
  if (n.out_dtype(0) == DType::kF64) return n.Refuse(kDoubles);
  n.Out(0, n.Node("DequantizeLinear", {n.in(0), n.in(1), n.in(2, n.dtype(0))}, Axis(n, 0),
                  n.out_dtype(0)));
}
// A QuantizeLinear and a DequantizeLinear where the range is that of a type.
FIRN_ONNX_EXPORT(fake_quantize) {
  if (n.dtype(0) == DType::kF64) return n.Refuse(kDoubles);
  const int64_t least = n.Int("qmin"), most = n.Int("qmax");
  const bool i8 = least == -128 && most == 127, u8 = least == 0 && most == 255;
  if (!i8 && !u8) return n.Refuse("of a range that no type has");
  const DType dtype = i8 ? DType::kI8 : DType::kU8;
  const V zero = n.in(2, dtype);
  const V q = n.Node("QuantizeLinear", {n.in(0), n.in(1), zero}, Axis(n, 0), dtype);
  n.Out(0, n.Node("DequantizeLinear", {q, n.in(1), zero}, Axis(n, 0), n.out_dtype(0)));
}
FIRN_ONNX_EXPORT(int_matmul) {
  V b = n.in(2);
  if (n.Flag("transpose_b")) {
    if (n.rank(2) != 2) return n.Refuse("of several transposed matrices");
    b = n.Transpose(b, {1, 0});
  }
  if (n.rank(3) != 0) return n.Refuse("with a zero point for each column");
  n.Out(0, n.Node("MatMulInteger", {n.in(0), b, n.in(1, n.dtype(0)), n.in(3, n.dtype(2))}, {},
                  DType::kI32));
}
FIRN_ONNX_EXPORT(int_conv2d) {
  List pads = n.Each("padding", 2);
  pads.insert(pads.end(), pads.begin(), pads.end());
  n.Out(0, n.Node("ConvInteger", {n.in(0), n.in(2), n.in(1, n.dtype(0)), n.in(3, n.dtype(2))},
                  {{"strides", n.Each("stride", 2)},
                   {"pads", pads},
                   {"dilations", n.Each("dilation", 2)},
                   {"group", n.Int("groups")}},
                  DType::kI32));
}

constexpr char kDraws[] = "draws the runtime's numbers, not this generator's";
FIRN_ONNX_EXPORT(rand) {
  n.Warn(kDraws);
  n.Out(0, n.Node("RandomUniform", {},
                  {{"shape", n.out_shape(0)}, {"low", n.Real("low")}, {"high", n.Real("high")}},
                  DType::kF32));
}
FIRN_ONNX_EXPORT(randn) {
  if (n.Real("std") == 0) {
    return n.Out(0, n.ExpandTo(n.Number(n.Real("mean"), n.out_dtype(0)), n.out_sizes(0)));
  }
  n.Warn(kDraws);
  n.Out(0, n.Node("RandomNormal", {},
                  {{"shape", n.out_shape(0)}, {"mean", n.Real("mean")}, {"scale", n.Real("std")}},
                  DType::kF32));
}
FIRN_ONNX_EXPORT(bernoulli) {
  n.NeedsOpset(15);
  n.Warn(kDraws);
  n.Out(0, n.Node("Bernoulli", {n.in(1)}));
}
FIRN_ONNX_EXPORT(dropout) {
  if (n.wants(1)) n.Refuse("whose gradient is wanted: what was kept is bits, which ONNX has not");
  if (n.Real("p") == 1) {  // runtimes refuse it
    return n.Out(0, n.ExpandTo(n.Number(0, n.dtype(0)), n.out_sizes(0)));
  }
  n.Warn(kDraws);
  const V yes = n.Constant(FromVector(std::vector<bool>{true}, Shape({})));
  const auto y = n.NodeOf("Dropout", {n.in(0), n.Number(n.Real("p"), DType::kF32), yes},
                          {n.dtype(0), DType::kBool});
  n.Out(0, y[0]);
}
FIRN_ONNX_NO_EXPORT(dropout_grad, "what was kept is bits, which ONNX has not");

}  // namespace
}  // namespace firn::io::internal
