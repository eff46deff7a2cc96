#ifndef FIRN_IO_ONNX_ONNX_H_
#define FIRN_IO_ONNX_ONNX_H_

// Networks in ONNX files (onnx.ai), which PyTorch, TensorFlow and others write:
//
//   Network net = io::ImportOnnx("resnet18.onnx");
//   Tensor scores = net(images);
//
// A network is a function of tensors like any other: `Freeze` compiles it, nn::StaticModule keeps a
// graph for each shape, `Capture` gives one that is saved, quantized or edited, and nn::GraphModule
// (nn/graph_module.h) owns its parameters, so that it is trained further.
//
// io/onnx/onnx_status.h has all this with a status.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/network/network.h"
#include "firn/io/load_limits.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

struct OnnxImportOptions {
  // max_metadata_bytes bounds everything in a file but the elements of its tensors; max_total_bytes
  // bounds these, wherever they lie.
  LoadLimits limits = {};
  // Sizes for dimensions that the file only names: {{"batch", 8}}. Inputs must then have these
  // sizes.
  std::vector<std::pair<std::string, int64_t>> dims = {};
  // Nodes that a call may run, once functions and loops are written out.
  int64_t max_nodes = 1'000'000;
};

// Facts about a file beside its computation.
struct OnnxReport {
  std::string producer;  // "pytorch 2.15.0"
  int64_t ir_version = 0;
  std::vector<std::pair<std::string, int64_t>> opsets;  // by their domains; "" is ONNX's own
  // The number of nodes of each operator, by name; products of bytes count as the nodes that sum
  // bytes.
  std::vector<std::pair<std::string, int64_t>> operators;
  std::vector<std::pair<std::string, std::string>> metadata;
};

struct OnnxImport {
  Network network;
  // Its parameters and running statistics under their names in the file: network.parameters().
  StateDict state;
  OnnxReport report;

  // nn::GraphModule net(io::ImportOnnx("resnet18.onnx"));
  operator const Network&() const { return network; }
};

// Reads a network: opsets 1 to 28 of ONNX's own operators (docs/onnx.md lists them), functions of
// the file's own, elements in other files of its folder. Float initializers become parameters,
// unless they only decide what is computed, such as the scales of Resize; other initializers and
// Constant nodes are constants. `If` runs the branch that its condition chooses, `Loop` and `Scan`
// are written out; in a graph, loops must be as long as constants and shapes say, and an `If` whose
// condition is computed runs both branches and chooses from the results. Products of results of
// DequantizeLinear, one from quantized bytes and one from bytes in the file, become sums of bytes
// in i32, as in nn::quantized; their scales are then one parameter, "scale_of_sums". Other scales
// in the file are parameters under their own names: those of DequantizeLinear get gradients, those
// of QuantizeLinear, which makes integers, none.
//
// Throws firn::Error: DataLoss, naming the file, the place and the field, what was expected and
// what was found, for a damaged file or one that is no model; Unimplemented, before anything is
// computed, listing all that Firn does not have by what the file says of operators, their
// attributes and types (of many places alike three are named and the others counted; beyond 500
// kinds they are only counted); ResourceExhausted beyond the limits; NotFound and the like for the
// path. Errors that depend on the ranks, dtypes or elements of tensors, or on which inputs a node
// has, come at the first call, one at a time: GridSample of more than volumes, a Scan of opset 8
// with sequence_lens, an output without a type in the file that is a list.
OnnxImport ImportOnnx(const std::string& path, const OnnxImportOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_ONNX_ONNX_H_
