#ifndef FIRN_IO_ONNX_ONNX_EXPORT_H_
#define FIRN_IO_ONNX_ONNX_EXPORT_H_

// Captured runs as ONNX files (github.com/onnx/onnx), which other programs run:
//
//   StaticGraph graph = Freeze([&](const Tensor& x) { return net(x); }, images);
//   io::ExportOnnx("net.onnx", graph, {.dynamic_batch = true, .names = net.state_dict()});
//
// docs/onnx.md tells the form of each operation. io/onnx/onnx_status.h has the same with a status.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

struct OnnxExportOptions {
  // The opset of the file's operators, 13 to 28. Newer opsets have one node where older ones need
  // several (Gelu from 20 on, GroupNormalization from 21, Attention and RMSNormalization from 23);
  // not all runtimes know the newest.
  int opset = 18;
  // Whether dimension 0 of all inputs may be another in each run: "N" in the file. Sizes equal to
  // it that stand in the attributes of operations are then taken for the batch too, so capture with
  // a batch size that no other dimension has.
  bool dynamic_batch = false;
  // Names for states: a module's state_dict(). States that are not named here are called "state.0"
  // and so on.
  StateDict names = {};
  // Names of inputs and outputs, in their order; those that have none are called "input.0",
  // "output.0".
  std::vector<std::string> inputs = {}, outputs = {};
  // Whether elements of 1 KiB and more stand in a file beside it, "net.onnx.data", each at a
  // multiple of 64 bytes: models with more than 2 GiB need this.
  bool external_data = false;
  // Kept in the file.
  OrderedMap<std::string> metadata = {};
};

// A report on the written file.
struct OnnxExportReport {
  int64_t nodes = 0;
  std::vector<std::string> inputs, outputs;  // the file's names
  // Points in which the file differs from the captured run: numbers that a runtime draws by itself,
  // gradients and changed states, which are outputs.
  std::vector<std::string> warnings;
};

// Writes what a captured run computes from its inputs and states to `path`, replacing the file that
// is there once the new one is safely on the disk. States keep the elements they have now. Names of
// modules are those of nodes. A training step is exported as it was captured: its gradients and the
// new values of states that it changes are further outputs, "<name>.grad" and "<name>.next". For
// inference give a graph captured in evaluation mode, or ToEvaluation of one. Sums of bytes, as
// Quantize (autograd/graph/quantize.h) and nn::quantized have them, are Conv, Gemm and MatMul
// between DequantizeLinear and QuantizeLinear, and come back from ImportOnnx with the same bits.
//
// Throws firn::Error: Unimplemented with all operations that ONNX cannot express, their modules and
// the reasons; InvalidArgument for an opset, and for names that come twice; FailedPrecondition for
// states that were replaced since; those of the system for the path.
OnnxExportReport ExportOnnx(const std::string& path, const inner::Graph& graph,
                            const OnnxExportOptions& options = {});
OnnxExportReport ExportOnnx(const std::string& path, const StaticGraph& graph,
                            const OnnxExportOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_ONNX_ONNX_EXPORT_H_
