// Networks of the zoo as ONNX files, for onnx_networks_python_test.py of tests/io/onnx:
//   zoo_files FOLDER OPSET
// FOLDER/<network>.onnx, and .safetensors with its inputs "in.0", ... and the result "out.0".
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/freeze_list.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/io/safetensors/safetensors.h"
#include "firn/nn/zoo/zoo.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops.h"
#include "tests/nn/zoo/reference.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const firn::NoGradScope no_grad;
  for (const std::string& name : firn::testing::ChosenNetworks()) {
    const auto net = firn::testing::MakeFromZoo(name);
    firn::testing::FillByNames(*net, firn::testing::NormsForSingle(name));
    net->Eval();
    const std::vector<firn::Tensor> inputs =
        firn::testing::InputsOf(firn::testing::ReadZooReference(name));
    const firn::StaticGraph graph = firn::Freeze(
        [&](const std::vector<firn::Tensor>& in) { return firn::zoo::Call(*net, in); }, inputs);
    const std::string path = absl::StrCat(argv[1], "/", name);
    firn::io::ExportOnnx(path + ".onnx", graph,
                         {.opset = std::atoi(argv[2]), .names = net->state_dict()});
    firn::StateDict tensors;
    for (size_t i = 0; i < inputs.size(); ++i) tensors.Insert(absl::StrCat("in.", i), inputs[i]);
    tensors.Insert("out.0", Contiguous(firn::zoo::Call(*net, inputs)));
    firn::io::SaveSafetensors(path + ".safetensors", tensors);
  }
}
