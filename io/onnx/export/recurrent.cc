// ONNX's forms of the operations in tensor/ops/recurrent: ONNX's operators where they can do the
// whole layer, otherwise the layer written step by step.
#include <optional>

#include "firn/io/onnx/internal/onnx_recurrent_steps.h"
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
// ONNX has padded sequences side by side, and their lengths; Firn also has packed sequences,
// without the padding behind their ends.
struct Packed {
  explicit Packed(OnnxExportCall& n) {
    const List& sizes = n.List("batch_sizes");
    steps = static_cast<int64_t>(sizes.size());
    batch = sizes[0];
    lengths.resize(static_cast<size_t>(batch));
    int64_t row = 0;
    for (int64_t t = 0; t < steps; ++t) {
      for (int64_t b = 0; b < batch; ++b) {
        const bool runs = b < sizes[static_cast<size_t>(t)];
        if (runs) places.push_back(t * batch + b);
        if (runs) ++lengths[static_cast<size_t>(b)];
        rows.push_back(runs ? row++ : 0);  // padding behind the end is not read
      }
    }
  }
  V Pad(OnnxExportCall& n, const V& x) const {
    const V flat = n.Node("Gather", {x, n.Ints(rows)}, {{"axis", 0}});
    return n.Reshape(flat, {steps, batch, n.size(0, 1)});
  }
  V Pack(OnnxExportCall& n, const V& y, int64_t hidden) const {
    return n.Node("Gather", {n.Reshape(y, {steps * batch, hidden}), n.Ints(places)}, {{"axis", 0}});
  }
  int64_t steps = 0, batch = 0;
  List lengths, rows, places;
};
// For one direction, with these gates.
void Recurrent(OnnxExportCall& n, const char* op, const List& order,
               OnnxNodes::Attributes attributes) {
  const bool lstm = std::string_view(op) == "LSTM";
  std::optional<Packed> packed;
  if (!n.List("batch_sizes").empty()) packed.emplace(n);
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
  const bool reverse = n.Has("reverse") && n.Flag("reverse");
  attributes.emplace_back("direction", reverse ? "reverse" : "forward");
  const DType dtype = n.dtype(0);
  const V x = packed ? packed->Pad(n, n.in(0)) : n.in(0);
  const V lengths = packed ? n.Constant(FromVector(packed->lengths).To(DType::kI32)) : n.Absent();
  const auto y = n.NodeOf(op,
                          {x, Gates(n, n.in(2), order, hidden), Gates(n, n.in(3), order, hidden),
                           bias, lengths, Initial(n, 1), lstm ? Initial(n, 6) : n.Absent()},
                          std::vector<DType>(lstm ? 3 : 2, dtype), attributes);
  n.Out(0, packed ? packed->Pack(n, y[0], hidden) : n.Squeeze(y[0], {1}));
  n.Out(1, n.ReshapeTo(y[1], n.out_sizes(1)));
  if (lstm) n.Out(2, n.ReshapeTo(y[2], n.out_sizes(2)));
}
// The operator has neither a projection nor the results that gradients read.
bool NeedsSteps(const OnnxExportCall& n, size_t results) {
  for (size_t i = results; i < n.out_count(); ++i) {
    if (n.wants(i)) return true;
  }
  return n.has(7);
}
void Lstm(OnnxExportCall& n) { Recurrent(n, "LSTM", {0, 3, 1, 2}, {}); }
void Gru(OnnxExportCall& n) { Recurrent(n, "GRU", {1, 0, 2}, {{"linear_before_reset", 1}}); }
void Rnn(OnnxExportCall& n, bool relu) {
  OnnxNodes::Attributes attributes;
  if (relu) attributes = {{"activations", std::vector<std::string>{"Relu"}}};
  Recurrent(n, "RNN", {0}, std::move(attributes));
}
FIRN_ONNX_EXPORT(lstm_layer) {
  if (NeedsSteps(n, 3)) return WriteLayerByStep(n, OnnxLstmStep());
  Lstm(n);
}
FIRN_ONNX_EXPORT(gru_layer) {
  if (NeedsSteps(n, 2)) return WriteLayerByStep(n, OnnxGruStep());
  Gru(n);
}
FIRN_ONNX_EXPORT(rnn_tanh_layer) {
  if (NeedsSteps(n, 2)) return WriteLayerByStep(n, OnnxRnnStep(false));
  Rnn(n, false);
}
FIRN_ONNX_EXPORT(rnn_relu_layer) {
  if (NeedsSteps(n, 2)) return WriteLayerByStep(n, OnnxRnnStep(true));
  Rnn(n, true);
}
// The form of a layer on a CUDA device.
FIRN_ONNX_EXPORT(recurrent_layer) {
  const std::string& cell = n.Word("cell");
  if (!n.List("batch_sizes").empty()) return n.Refuse("of packed sequences");
  if (cell == "lstm" && n.has(7)) return n.Refuse("with a projection");
  if (cell == "lstm") return Lstm(n);
  cell == "gru" ? Gru(n) : Rnn(n, cell == "rnn_relu");
  if (!n.wants(2)) return;  // of cells, which this kind does not have
  n.Out(2, n.Constant(FromVector(std::vector<double>(), n.out_spec(2).shape).To(n.dtype(0))));
}
FIRN_ONNX_EXPORT(lstm_layer_grad) { WriteLayerGradByStep(n, OnnxLstmStep()); }
FIRN_ONNX_EXPORT(gru_layer_grad) { WriteLayerGradByStep(n, OnnxGruStep()); }
FIRN_ONNX_EXPORT(rnn_tanh_layer_grad) { WriteLayerGradByStep(n, OnnxRnnStep(false)); }
FIRN_ONNX_EXPORT(rnn_relu_layer_grad) { WriteLayerGradByStep(n, OnnxRnnStep(true)); }
FIRN_ONNX_NO_EXPORT(recurrent_layer_grad,
                    "is a gradient that nobody has written in ONNX's operators yet");

}  // namespace
}  // namespace firn::io::internal
