#ifndef FIRN_TOOLS_FIRN_FILES_H_
#define FIRN_TOOLS_FIRN_FILES_H_

#include <optional>
#include <string>

#include "autograd/graph/graph.h"
#include "device/inner.h"
#include "tensor/state_dict.h"

namespace firn::cli {

// What a file holds, whichever of the formats that Firn reads it has, told by its first bytes.
struct FileContents {
  std::string format;          // "HDF5", "Firn graph"
  StateDict tensors;           // of a graph, its states
  std::optional<Graph> graph;  // of a graph
};

// Reads it within the readers' limits; nothing of it is run. Throws firn::Error.
FileContents ReadFile(const std::string& path);

// The tensors of a file. Throws as ReadFile.
StateDict ReadTensors(const std::string& path);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_FILES_H_
