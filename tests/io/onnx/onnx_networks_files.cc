// The networks of all examples and of `firn train` as ONNX files, for onnx_networks_python_test.py:
//   onnx_networks_files FOLDER OPSET
// FOLDER/<network>.onnx, and .safetensors with its inputs "in.0", ... and results "out.0", ...
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/io/safetensors/safetensors.h"
#include "firn/tensor/ops.h"
#include "tests/examples/networks.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  firn::testing::ForEachNetwork([&](const firn::testing::Network& net) {
    const std::string path = absl::StrCat(argv[1], "/", net.name);
    firn::io::ExportOnnx(path + ".onnx", net.graph,
                         {.opset = std::atoi(argv[2]), .names = net.names});
    firn::StateDict tensors;
    for (size_t i = 0; i < net.inputs.size(); ++i) {
      tensors.Insert(absl::StrCat("in.", i), Contiguous(net.inputs[i]));
    }
    for (size_t i = 0; i < net.outputs.size(); ++i) {
      tensors.Insert(absl::StrCat("out.", i), Contiguous(net.outputs[i]));
    }
    firn::io::SaveSafetensors(path + ".safetensors", tensors);
  });
}
