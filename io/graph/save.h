#ifndef FIRN_IO_GRAPH_SAVE_H_
#define FIRN_IO_GRAPH_SAVE_H_

// Saving captured runs in one line, to files of Firn and of others:
//
//   StaticGraph graph = Freeze([&](const Tensor& x) { return net(x); }, images);
//   io::Save("net.firn", graph, {.names = net.state_dict()});
//   io::Save("net.onnx", graph, {.names = net.state_dict(), .any_batch = true});

#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/io/graph/graph_info.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

struct SaveOptions {
  // Names for states: a module's state_dict(), an optimizer's. Tensors that are no states of the
  // graph are passed over; states that are not named here get names by the format.
  StateDict names = {};
  // The meaning of its numbers (io/graph/graph_info.h). A warning lists what the format leaves out.
  GraphInfo info = {};
  // Whether dimension 0 of all inputs may be another in each run. Sizes equal to it that stand in
  // the attributes of operations are then taken for the batch too, so capture with a batch size
  // that no other dimension has.
  bool any_batch = false;
};

// Writes the graph with the elements that its states have now, in the format that the end of the
// name tells: .firn (io/graph/graph_file.h), with //:firn or //io/formats:networks also .onnx
// (io/onnx/onnx_export.h), .nnp, .nntxt and .nnb (io/nnabla_network/nnabla_export.h), and formats
// that the program registers (io/formats/formats.h). Options of one format only are in that
// format's own function. Returns the points in which the file differs from the captured run; mostly
// empty.
//
// Throws firn::Error: InvalidArgument for other names, listing those that are written, and for
// any_batch where the format has one size of batches, and for info that makes no sense or does not
// fit the graph; else those of the format's function. What
// was at `path` before is then unharmed.
std::vector<std::string> Save(const std::string& path, const StaticGraph& graph,
                              const SaveOptions& options = {});
// The same for a graph that is not compiled. Save(path, {}), without options, saves tensors.
std::vector<std::string> Save(const std::string& path, const inner::Graph& graph,
                              const SaveOptions& options);

}  // namespace firn::io

#endif  // FIRN_IO_GRAPH_SAVE_H_
