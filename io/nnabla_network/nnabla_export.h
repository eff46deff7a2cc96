#ifndef FIRN_IO_NNABLA_NETWORK_NNABLA_EXPORT_H_
#define FIRN_IO_NNABLA_NETWORK_NNABLA_EXPORT_H_

// Captured runs as NNabla's model files (nnabla.org), which NNabla 1.39 loads and runs:
//
//   StaticGraph graph = Freeze([&](const Tensor& x) { return net(x); }, images);
//   io::ExportNnabla("net.nnp", graph, {.dynamic_batch = true, .names = net.state_dict()});
//
// docs/nnabla_export.md tells the form of each operation. nnabla_export_status.h has the same with
// a status.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

struct NnablaExportOptions {
  // Whether dimension 0 of all inputs may be another in each run: -1 in the file. Sizes equal to it
  // that stand in the attributes of operations are then taken for the batch too, so capture with a
  // batch size that no other dimension has.
  bool dynamic_batch = false;
  // Names for states: a module's state_dict(). States that are not named here are called "state.0"
  // and so on.
  StateDict names = {};
  // Names of inputs and outputs, in their order; those that have none are called "input.0",
  // "output.0".
  std::vector<std::string> inputs = {}, outputs = {};
  std::string network = "firn";      // its name
  std::string executor = "runtime";  // of the executor with these inputs and outputs
};

// A report on the written file.
struct NnablaExportReport {
  int64_t functions = 0;
  std::vector<std::string> inputs, outputs;  // the names of variables
  // Points in which the file differs from the captured run: numbers that NNabla draws by itself,
  // types of more or fewer bits than f32, and changed states, which are outputs.
  std::vector<std::string> warnings;
};

// Writes what a captured run computes from its inputs and states to `path`, an .nnp, an .nntxt,
// which has no parameters, or an .nnb for the C runtime (nnabla_model/nnb_file.h says what that
// lacks), replacing the file that is there once the new one is safely on the disk. The network
// computes in f32; parameters have the names of states, with slashes for dots ("fc/weight"), and
// those of affine functions are transposed, as NNabla has them; names of modules are those of
// functions. New values of states that the run changes are further outputs, "<name>.next". For
// inference give a graph captured in evaluation mode, or ToEvaluation of one.
//
// Throws firn::Error: Unimplemented with all operations that NNabla cannot express, their modules
// and the reasons, and for graphs that leave gradients, which NNabla computes by itself;
// InvalidArgument for names that come twice and other endings of the path; FailedPrecondition for
// states that were replaced since; those of the system for the path.
NnablaExportReport ExportNnabla(const std::string& path, const inner::Graph& graph,
                                const NnablaExportOptions& options = {});
NnablaExportReport ExportNnabla(const std::string& path, const StaticGraph& graph,
                                const NnablaExportOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_NNABLA_NETWORK_NNABLA_EXPORT_H_
