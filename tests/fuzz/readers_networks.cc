// Networks and graphs are read from files and then run: an accepted file must not end the program
// later.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/autograd/graph/capture.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/io/nnabla_model/nnabla_file_status.h"
#include "firn/io/nnabla_network/nnabla_network.h"
#include "firn/io/onnx/internal/onnx_write.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/io/onnx/onnx_status.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/fuzz/graph_checksums.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/run.h"
#include "tests/fuzz/scratch.h"
#include "tests/io/onnx/onnx_builder.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using testing::kFuzzLimits;
using testing::Runs;

constexpr int64_t kMaxNodes = 300;  // of loops written out, so that each run is short

FIRN_FUZZ_READER(onnx_run) {
  const auto model = TryParseOnnx(bytes, "fuzz", {.limits = kFuzzLimits, .max_nodes = kMaxNodes});
  return model.ok() && Runs(model->network);
}

// A product of bytes, which is read as sums of bytes.
std::string Quantized() {
  using internal::Node;
  const Tensor weights = FromValues<int64_t>({1, -2, 3, -4, 5, 6, 7, 8}).To(DType::kI8);
  internal::OnnxGraph graph =
      internal::Graph({Node("QuantizeLinear", {"x", "s", "z"}, {"q"}),
                       Node("DequantizeLinear", {"q", "s", "z"}, {"d"}),
                       Node("DequantizeLinear", {"w", "u"}, {"v"}, {internal::Int("axis", 0)}),
                       Node("DequantizeLinear", {"i", "t"}, {"b"}, {internal::Int("axis", 0)}),
                       Node("Conv", {"d", "v", "b"}, {"y"})},
                      {"x"}, {"y"},
                      {{"s", FromValues({0.5f}).Reshape({})},
                       {"z", FromValues<int64_t>({3}).To(DType::kU8).Reshape({})},
                       {"w", weights.Reshape({2, 1, 2, 2})},
                       {"u", FromValues({0.25f, 0.5f})},
                       {"t", FromValues({0.125f, 0.25f})},
                       {"i", FromValues<int64_t>({7, -7}).To(DType::kI32)}});
  std::vector<internal::OnnxDim> dims(4);
  for (size_t i = 0; i < dims.size(); ++i) dims[i].value = i < 2 ? 1 : 3;
  internal::OnnxType& type = graph.inputs[0].type;
  type.kind = internal::OnnxType::Kind::kTensor;
  type.element = 1;  // f32
  type.shape = dims;
  return internal::FormatOnnxModel(internal::Model(std::move(graph))).value();
}

FIRN_FUZZ_SEEDS(onnx_run) {
  std::vector<std::string> files = {Quantized()};
  for (const char* name :
       {"average_pool_dilated", "conv_transpose_output_padding", "conv_uneven_pads",
        "cross_entropy", "dequantize_blocks", "dft_onesided", "group_normalization", "gru",
        "layer_normalization_all_outputs", "lrn_even_size", "lstm_peepholes",
        "max_pool_uneven_pads", "qlinear_conv", "quantize_channels", "resize_cubic"}) {
    files.push_back(ReadFile("tests/io/onnx/data/check/" + std::string(name) + "/model.onnx"));
  }
  files.push_back(testing::Seeds(testing::FuzzReaders().at("onnx"))[0]);
  return files;
}

// A model with elements in another file.
const std::vector<std::string>& OnnxNames() {
  static const auto* const names = new std::vector<std::string>{"m.onnx", "m.onnx.data"};
  return *names;
}

FIRN_FUZZ_READER(onnx_folder) {
  const std::string folder = testing::ScratchFolder("onnx");
  testing::SplitIntoFolder(bytes, OnnxNames(), folder);
  return TryImportOnnx(folder + "/m.onnx", {.limits = kFuzzLimits, .max_nodes = kMaxNodes}).ok();
}

FIRN_FUZZ_SEEDS(onnx_folder) {
  const std::string folder = testing::ScratchFolder("onnx_seed");
  const Tensor w = FromVector(std::vector<float>(256, 0.5f), {16, 16}), x = Full({2, 16}, 1);
  const auto product = [&](absl::Span<const Tensor> in) { return TensorList{Matmul(in[0], w)}; };
  ExportOnnx(folder + "/m.onnx", Capture(product, {&x, 1}).graph, {.external_data = true});
  return {testing::JoinFolder(folder, OnnxNames())};
}

FIRN_FUZZ_READER(nnabla_run) {
  const auto model = TryParseNnabla(bytes, "fuzz.nntxt", {.limits = kFuzzLimits});
  if (!model.ok()) return false;
  const NnablaImportOptions options = {
      .limits = kFuzzLimits,
      .batch_size = 2,
      .expand = {.max_times = 50, .max_copies = 1000, .max_bytes = 1 << 20}};
  bool ran = false;
  try {
    const NnablaImport import = ImportNnablaModel(*model, "fuzz", options);
    for (const auto* parts : {&import.networks, &import.executors}) {
      for (const NnablaPart& part : *parts) ran = Runs(part.network) || ran;
    }
  } catch (const Error&) {
  }
  return ran;
}

FIRN_FUZZ_SEEDS(nnabla_run) {
  std::vector<std::string> files;
  for (const char* name : {"bare.nntxt", "protobuf.nnp"}) {
    files.push_back(ReadFile("tests/io/nnabla_model/data/" + std::string(name)));
  }
  return files;
}

FIRN_FUZZ_READER(graph_run) {
  const std::string path = testing::InMemory(testing::WithRightChecksums(bytes));
  absl::StatusOr<StaticGraph> graph =
      TryLoadGraph(path, {.limits = kFuzzLimits, .max_operations = kMaxNodes});
  return graph.ok() && Runs(*graph);
}

FIRN_FUZZ_SEEDS(graph_run) { return testing::Seeds(testing::FuzzReaders().at("graph")); }

}  // namespace
}  // namespace firn::io
