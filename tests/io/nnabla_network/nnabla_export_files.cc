// Every sample of every operation, and networks, as NNabla's files, for
// nnabla_export_python_test.py:
//   nnabla_export_files FOLDER
// FOLDER/<name>.nnp and .safetensors with its inputs "in.0", ... and its outputs "out.<variable>",
// and "draws" where numbers are drawn; networks are called "network.<name>". Prints a line for each
// sample that is refused: the name and why.
#include <iostream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "examples/models.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/io/nnabla_network/nnabla_export.h"
#include "firn/io/safetensors/safetensors.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/precision.h"
#include "firn/tensor/rng.h"
#include "tests/io/nnabla_network/nnabla_samples.h"

namespace firn::testing {
namespace {

void WriteSamples(const std::string& folder) {
  ForEachNnablaSample(folder, true, [&](const NnablaSample& sample) {
    if (sample.path.empty()) {
      std::cout << sample.name << "\t" << sample.refused << "\n";
      return;
    }
    StateDict tensors;
    for (size_t i = 0; i < sample.inputs.size(); ++i) {
      tensors.Insert(absl::StrCat("in.", i), sample.inputs[i]);
    }
    for (const auto& [name, y] : sample.outputs) {
      tensors.Insert(absl::StrCat("out.", name), y.To(DType::kF32));
    }
    if (sample.draws) tensors.Insert("draws", Ones({1}));
    io::SaveSafetensors(absl::StrCat(folder, "/", sample.name, ".safetensors"), tensors);
  });
}

// Exports networks for batches of any size, and runs them with another size than they were captured
// with.
void WriteNetworks(const std::string& folder) {
  ManualSeed(1);
  for (const std::string name : {"lenet", "mlp", "resnet", "deep_cnn"}) {
    const std::unique_ptr<nn::Layer> net = *examples::MakeModel(name, 1);
    const Tensor x = Randn({3, 1, 8, 8});
    net->Train();
    (*net)(x);
    (*net)(x * 2 + 1);
    net->Eval();
    const NoGradScope no_grad;
    const StaticGraph graph = Freeze([&](const Tensor& in) { return (*net)(in); }, x);
    const std::string path = absl::StrCat(folder, "/network.", name);
    io::ExportNnabla(path + ".nnp", graph, {.dynamic_batch = true, .names = net->state_dict()});
    const Tensor other = Randn({5, 1, 8, 8});
    io::SaveSafetensors(path + ".safetensors", {{"in.0", other}, {"out.output.0", (*net)(other)}});
  }
}

}  // namespace
}  // namespace firn::testing

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  // Convolutions are computed as sums of products, whose rounding is known.
  firn::SetWinogradAllowed(false);
  firn::testing::WriteSamples(argv[1]);
  firn::testing::WriteNetworks(argv[1]);
}
