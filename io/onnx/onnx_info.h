#ifndef FIRN_IO_ONNX_ONNX_INFO_H_
#define FIRN_IO_ONNX_ONNX_INFO_H_

// A summary of an ONNX file, without importing or running it.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/load_limits.h"

namespace firn::io {

struct OnnxInfo {
  struct Value {
    std::string name, type;  // type: "FLOAT [batch, 3, 224, 224]", "sequence of INT64 []"
  };

  int64_t ir_version = 0;
  std::string producer;                                 // and its version
  std::vector<std::pair<std::string, int64_t>> opsets;  // "ai.onnx" and others by name
  std::vector<Value> inputs, outputs;                   // of the graph; without its initializers
  std::map<std::string, int64_t> operators;             // nodes by operator, "Conv", "own.Gate"
  int64_t parameters = 0, parameter_bytes = 0;          // elements of initializers
  std::vector<std::string> functions;                   // of the model's own
  std::vector<std::pair<std::string, std::string>> metadata;
};

// Reads the model in a file; nodes are those of the graph, of graphs in it and of functions, each
// counted once. Throws firn::Error as the import does for a file that is no model.
OnnxInfo ReadOnnxInfo(const std::string& path, const LoadLimits& limits = {});

}  // namespace firn::io

#endif  // FIRN_IO_ONNX_ONNX_INFO_H_
