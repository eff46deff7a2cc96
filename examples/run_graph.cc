// Runs a graph from a file: a network, or a whole training step. The program knows no class of
// either: it links //:run_graph, which has no modules, and only the operations of optimizers.
// Everything else that the graph needs is in the file: attributes, parameters, the optimizer's
// state.
//
//   run_graph FILE [NUMBER]     every element of every input is NUMBER (0.5 when it is not given)

#include <exception>
#include <iostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/tensor/error.h"
#include "firn/tensor/format.h"
#include "firn/tensor/ops.h"

using namespace firn;  // NOLINT: an example

// Making tensors may throw firn::Error, like all eager code.
static absl::Status Run(const char* path, double number) {
  absl::StatusOr<io::GraphFile> file = io::TryReadGraph(path);
  if (!file.ok()) return file.status();
  std::cout << file->graph.DebugString();
  for (const auto& [name, tensor] : file->states) {
    std::cout << "state " << name << ": " << tensor.spec() << "\n";
  }

  absl::StatusOr<StaticGraph> graph = StaticGraph::Compile(std::move(file->graph));
  if (!graph.ok()) return graph.status();
  TensorList inputs;
  for (ValueId id : graph->captured().inputs) {
    const TensorSpec& spec = graph->captured().value(id).spec;
    inputs.push_back(Full(spec.shape, number, spec.dtype));
  }
  TensorList results(graph->captured().outputs.size());
  const absl::Status status = graph->Run(inputs, absl::MakeSpan(results));
  if (!status.ok()) return status;
  for (const Tensor& result : results) std::cout << "result " << result << "\n";
  return status;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: run_graph FILE [NUMBER]\n";
    return 2;
  }
  double number = 0.5;
  if (argc > 2 && !absl::SimpleAtod(argv[2], &number)) {
    std::cerr << "run_graph: '" << argv[2] << "' is not a number\n";
    return 2;
  }
  std::string message;
  try {
    const absl::Status status = Run(argv[1], number);
    if (status.ok()) return 0;
    message = std::string(status.message());
  } catch (const std::exception& e) {  // there is not enough memory for an input
    message = e.what();
  }
  std::cerr << "run_graph: " << message << "\n";
  return 1;
}
