// Runs a graph from a file: a program that knows no class of the network, and links neither nn nor
// optim. What it needs of them is in the file: operations, their attributes, parameters.
//
//   run_graph FILE [NUMBER]     every element of every input is NUMBER (0.5 when it is not given)

#include <cstdlib>
#include <iostream>

#include "autograd/graph/static_graph.h"
#include "io/graph_file.h"
#include "tensor/error.h"
#include "tensor/format.h"
#include "tensor/ops.h"

using namespace firn;  // NOLINT: an example

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: run_graph FILE [NUMBER]\n";
    return 2;
  }
  const double number = argc > 2 ? std::atof(argv[2]) : 0.5;
  absl::StatusOr<io::GraphFile> file = io::ReadGraph(argv[1]);
  if (!file.ok()) {
    std::cerr << "run_graph: " << file.status().message() << "\n";
    return 1;
  }
  std::cout << file->graph.DebugString();
  for (const auto& [name, tensor] : file->states) {
    std::cout << "state " << name << ": " << tensor.spec() << "\n";
  }

  absl::StatusOr<StaticGraph> graph = StaticGraph::Compile(std::move(file->graph));
  if (!graph.ok()) {
    std::cerr << "run_graph: " << graph.status().message() << "\n";
    return 1;
  }
  TensorList inputs;
  for (ValueId id : graph->captured().inputs) {
    const TensorSpec& spec = graph->captured().value(id).spec;
    inputs.push_back(Full(spec.shape, number, spec.dtype));
  }
  TensorList results(graph->captured().outputs.size());
  const absl::Status status = graph->Run(inputs, absl::MakeSpan(results));
  if (!status.ok()) {
    std::cerr << "run_graph: " << status.message() << "\n";
    return 1;
  }
  for (const Tensor& result : results) std::cout << "result " << result << "\n";
}
