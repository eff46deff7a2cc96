#ifndef FIRN_IO_GRAPH_INTERNAL_GRAPH_FILE_FORMAT_H_
#define FIRN_IO_GRAPH_INTERNAL_GRAPH_FILE_FORMAT_H_

// Shared by reading and writing of graph files. For io/graph/graph_file_*.cc only.
//
// Note [Graph files]
//
//   8 bytes   magic
//   u32       version
//   u32       CRC-32 of the structure
//   u64       bytes of the structure
//   u64       bytes of the elements
//   structure (io/graph/internal/graph_archive); from version 2 on with a GraphInfo at its end,
//             from version 3 on with words for enumerators of attributes, which were numbers before
//   elements  of constants, and of states when they are with it, in the order of the buffers
//   u32       CRC-32 of everything before
//
// Devices are relative: a graph uses one, which files call the CPU.
// Numbers are little-endian. The version counts changes that older readers cannot read: a new field
// of the structure is such a change, a new attribute or operation is not. A file has the lowest
// version that can express it: 1 without enums and a GraphInfo, 2 without enums.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/autograd/graph/graph.h"
#include "firn/io/graph/graph_info.h"
#include "firn/io/graph/internal/graph_archive.h"

namespace firn::io {

static_assert(std::endian::native == std::endian::little);

// The magic contains bytes that are not text and that a transfer as text would change.
inline constexpr char kGraphMagic[] =
    "\x89"
    "FIRN\r\n\x1a";
inline constexpr uint32_t kGraphVersion = 3;

struct GraphFileHeader {
  char magic[8] = {};
  uint32_t version = 1;
  uint32_t structure_crc = 0;
  uint64_t structure_bytes = 0;
  uint64_t element_bytes = 0;
};
static_assert(sizeof(GraphFileHeader) == 32 && sizeof(kGraphMagic) == 9);

// A kind's number in files is its position here.
inline constexpr Buffer::Kind kBufferKinds[] = {Buffer::Kind::kInput, Buffer::Kind::kState,
                                                Buffer::Kind::kConstant, Buffer::Kind::kTemp};

// Whether a buffer's elements are in the file.
inline bool HasElements(Buffer::Kind kind, bool with_states) {
  return kind == Buffer::Kind::kConstant || (kind == Buffer::Kind::kState && with_states);
}

// Whether the value is all that its buffer holds, so that a tensor can take the buffer's place.
inline bool FillsBuffer(const Graph& graph, const Value& v) {
  return v.offset == 0 && v.spec.layout.contiguous &&
         static_cast<int64_t>(v.spec.bytes()) == graph.buffers[static_cast<size_t>(v.buffer)].bytes;
}

// Refuses graphs that a file must not hold. Checks everything that Graph::Verify does, and what
// holds for every captured run and what compiling and running rely on: operations that are called
// as they are declared, results in memory that is new, views where their shape rule puts them,
// inputs in buffers of their own. A graph that passes can be compiled and run, whatever file it
// came from. `bound` tensors need no elements. InvalidArgument, naming the operation or value.
absl::Status CheckStorable(const Graph& graph);

// Refuses info that makes no sense or does not fit the first input and result. InvalidArgument.
absl::Status CheckInfo(const GraphInfo& info, const Graph& graph);

// The graph as a file has it. Values keep the tensors they have in this program. Unimplemented for
// views of blocked tensors, which no operation makes.
absl::StatusOr<Graph> MakePortable(const Graph& graph);

// The device of all its buffers. Unimplemented, naming two, where they lie on several.
absl::StatusOr<Device> OneDeviceOf(const Graph& graph);
// Every buffer, value and attribute to another device; the tensors of values stay where they are.
void MoveGraph(Device to, Graph* graph);
// Copies tensors of other devices to the CPU. FailedPrecondition for one that has no elements yet.
absl::Status BringTensorsToHost(Graph* graph);

// The graph of a file's structure. Its tensors have no elements yet, and no storage. NotFound for
// an operation that is not linked in; InvalidArgument and the like, naming what is wrong.
absl::StatusOr<Graph> RestoreGraph(const internal::StoredGraph& stored);

}  // namespace firn::io

#endif  // FIRN_IO_GRAPH_INTERNAL_GRAPH_FILE_FORMAT_H_
