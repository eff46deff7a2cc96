#ifndef FIRN_IO_GRAPH_GRAPH_FILE_H_
#define FIRN_IO_GRAPH_GRAPH_FILE_H_

// Captured runs in files: operations, attributes, constants and states of a graph, to be run by a
// program that knows neither the modules nor the optimizer that it was captured from.
//
//   io::SaveGraph("net.firn", graph, {.names = net.state_dict()});   // where it was captured
//   StaticGraph graph = io::LoadGraph("net.firn");                   // elsewhere
//   Tensor scores = graph(image);
//
// A file is read on any machine: it holds no layouts that kernels chose, nor the device that it was
// captured on. This and later versions read it: attributes have names, and an attribute that an
// operation got later has its default.
//
// io/graph/graph_file_status.h has both with a status.

#include <cstdint>
#include <string>

#include "firn/autograd/graph/static_graph.h"
#include "firn/device/device.h"
#include "firn/io/graph/graph_info.h"
#include "firn/io/load_limits.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

struct SaveGraphOptions {
  // Names for states: a module's state_dict(), an optimizer's. Tensors that are no states of the
  // graph are passed over; states that are not named here are called "unnamed.0" and so on.
  StateDict names = {};
  // Whether the elements of states are written, as they are now. Without them, all states must have
  // names, and the program that loads the graph must bring them.
  bool with_states = true;
  // Whether a graph is saved that leaves gradients in the grad() of leaves. A loaded one does not.
  bool drop_gradients = false;
  // The meaning of the graph's numbers: the normalisation of its input, names of classes
  // (io/graph/graph_info.h). Older programs that know nothing of it read files without it.
  GraphInfo info = {};
};

// Writes the graph to `path`, replacing the file that is there once the new one is safely on the
// disk. Equal graphs with equal info give equal files. Tensors that the captured code made and left
// outside become temporaries, and buffers are cut to the part that is used. Throws firn::Error:
// FailedPrecondition for gradients and names, see the options; InvalidArgument for info that makes
// no sense or does not fit the graph's first input and result; Unimplemented for graphs on several
// devices, naming them, and for graphs that no captured run could give, naming the operation; those
// of SaveHdf5 for the file. What was at `path` before is then unharmed. States on other devices
// than the CPU are copied to the host, which waits for them.
void SaveGraph(const std::string& path, const inner::Graph& graph,
               const SaveGraphOptions& options = {});
void SaveGraph(const std::string& path, const StaticGraph& graph,
               const SaveGraphOptions& options = {});

struct LoadGraphOptions {
  // max_tensors holds for values, max_metadata_bytes for everything in the file but elements.
  // max_total_bytes holds for inputs, constants, states and temporaries together as the file has
  // them, for the elements of any value, and for the arena of the compiled graph.
  LoadLimits limits = {};
  int64_t max_operations = 1'000'000;
  // States to use instead of those in the file, by name: the graph reads and writes these tensors,
  // which may be a model's. Names that the graph does not have are passed over.
  StateDict states = {};
  // Where the graph runs. Unavailable where there is no such device.
  Device device = Device::Cpu();
};

// Reads a file of SaveGraph and compiles the graph. The states belong to the graph, and so does the
// random stream that it draws from, which goes on where it stood. The file may come from anywhere:
// everything in it is checked before it is used, sizes before memory is taken. Throws firn::Error:
// DataLoss for a damaged or inconsistent file; NotFound for an operation that is not linked into
// this program, naming it; Unimplemented for a file of a later version; ResourceExhausted beyond
// the limits; FailedPrecondition for a state that is missing or does not fit. All name the file.
// NotFound and the like for the path.
StaticGraph LoadGraph(const std::string& path, const LoadGraphOptions& options = {});

// The meaning of the graph's numbers by the file; GraphInfo() if it has none. Elements are not
// read, so damage among them goes unnoticed. The limits are the only options that matter:
// max_tensors also bounds classes, columns and words, and max_name_bytes each of them. Throws as
// LoadGraph.
GraphInfo LoadGraphInfo(const std::string& path, const LoadGraphOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_GRAPH_GRAPH_FILE_H_
