// For each line "MODEL IN OUT" on the standard input: imports the model, calls it with the
// tensors of the safetensors file IN, in the order of the network's inputs, by their names, and
// writes the results to OUT, by the names of its outputs. A line "OK MODEL", or "ERROR MODEL CODE
// MESSAGE". With the argument --frozen the call is captured and the graph's second run counts.
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/network/definition.h"
#include "firn/io/onnx/onnx.h"
#include "firn/io/safetensors/safetensors.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {
namespace {

TensorList Outputs(const Network& network, const std::vector<Tensor>& inputs, bool frozen) {
  const NoGradScope no_grad;
  if (!frozen) return network.Call(inputs);
  const auto call = [&](absl::Span<const Tensor> in) { return network.Call(in); };
  StaticGraph graph = inner::internal::CaptureAndCompile(call, inputs, {});
  graph.Call(inputs);
  return graph.Call(inputs);
}

void Run(const std::string& model, const std::string& in, const std::string& out, bool frozen) {
  const OnnxImport imported = ImportOnnx(model);
  const StateDict given = LoadSafetensors(in);
  std::vector<Tensor> inputs;
  for (const autograd::NetworkPort& port : imported.network.inputs()) {
    inputs.push_back(given[port.name]);
  }
  const TensorList results = Outputs(imported.network, inputs, frozen);
  StateDict named;
  for (size_t i = 0; i < results.size(); ++i) {
    named.Set(imported.network.outputs()[i].name, Contiguous(results[i]));
  }
  SaveSafetensors(out, named);
}

}  // namespace
}  // namespace firn::io

int main(int argc, char** argv) {
  const bool frozen = argc > 1 && std::string(argv[1]) == "--frozen";
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string model, in, out;
    words >> model >> in >> out;
    try {
      firn::io::Run(model, in, out, frozen);
      std::cout << "OK " << model << std::endl;
    } catch (const firn::Error& e) {
      std::cout << "ERROR " << model << " " << absl::StatusCodeToString(e.code()) << " "
                << absl::CEscape(e.what()) << std::endl;
    }
  }
  return 0;
}
