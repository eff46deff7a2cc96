#ifndef FIRN_IO_GRAPH_INTERNAL_GRAPH_ARCHIVE_H_
#define FIRN_IO_GRAPH_INTERNAL_GRAPH_ARCHIVE_H_

// The structure of a graph file without elements: plain structs, to bytes and back. Here every
// count and length is checked against the bytes there are; other code checks whether the structs
// make sense.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "firn/io/graph/graph_info.h"
#include "firn/io/graph/internal/stored_attrs.h"

namespace firn::io::internal {

struct StoredBuffer {
  uint8_t kind = 0;  // position in kBufferKinds of io/graph/internal/graph_file_format.h
  int64_t bytes = 0;
  std::string device;
};

struct StoredValue {
  int32_t buffer = 0;
  int64_t offset = 0;
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // empty: row-major without gaps
  bool bound = false;            // a tensor of the graph, not only an intermediate result
  std::string name;              // of a state
};

struct StoredInstr {
  std::string op;
  std::vector<StoredAttr> attrs;
  std::vector<int32_t> in, out;
  std::string path;
  bool backward = false;
};

struct StoredGraph {
  bool with_states = true;  // elements of states follow, not only those of constants
  std::vector<StoredBuffer> buffers;
  std::vector<StoredValue> values;
  std::vector<StoredInstr> instrs;
  std::vector<int32_t> inputs, outputs;
  std::vector<std::string> warnings;
  uint32_t version = 1;  // of the file: not stored here
  GraphInfo info = {};   // from version 2 on
};

// The lowest version that can express this graph.
uint32_t VersionFor(const StoredGraph& graph);

std::string EncodeGraph(const StoredGraph& graph);

// `bytes` of a file of that version. `file` and `offset`, where they stand in it, are for messages.
// Memory stays within a small multiple of `bytes`, whatever they say. Errors: DataLoss for bytes
// that no EncodeGraph makes.
absl::StatusOr<StoredGraph> DecodeGraph(absl::string_view bytes, const std::string& file,
                                        int64_t offset, uint32_t version = 1);

}  // namespace firn::io::internal

#endif  // FIRN_IO_GRAPH_INTERNAL_GRAPH_ARCHIVE_H_
