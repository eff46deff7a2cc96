#ifndef FIRN_IO_FORMATS_GRAPH_WRITERS_H_
#define FIRN_IO_FORMATS_GRAPH_WRITERS_H_

// What writes graphs, by the suffixes of its files: `firn convert` asks here. Each registers itself
// in the page `format.cc` of its folder:
//
//   FIRN_GRAPH_WRITER(onnx) { return {.name = "ONNX", .suffixes = {".onnx"}, .write = ...}; }

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firn::io {

struct GraphFile;  // io/graph/graph_file_contents.h

struct GraphWriter {
  std::string name;
  std::vector<std::string> suffixes;  // in small letters, with the dot
  // Whether dimension 0 of inputs may be left open.
  bool any_batch = false;
  // Replaces the file as a whole; gives what the file does not do as the graph does. Throws
  // firn::Error naming what the format cannot hold.
  std::function<std::vector<std::string>(const std::string& path, const GraphFile& file,
                                         bool any_batch)>
      write;
};

namespace internal {

// Before main.
void RegisterGraphWriter(GraphWriter writer);
// The one with a suffix that ends the name, in any letters; null: none.
const GraphWriter* GraphWriterOfName(std::string_view path);

struct GraphWriterRegistration {
  explicit GraphWriterRegistration(GraphWriter writer) { RegisterGraphWriter(std::move(writer)); }
};

}  // namespace internal

// Defines a function that makes a writer, and registers that before main begins. In namespace
// firn::io, outside of another.
#define FIRN_GRAPH_WRITER(id)                                                        \
  static ::firn::io::GraphWriter FirnGraphWriter_##id();                             \
  static const ::firn::io::internal::GraphWriterRegistration firn_graph_writer_##id( \
      FirnGraphWriter_##id());                                                       \
  static ::firn::io::GraphWriter FirnGraphWriter_##id()

}  // namespace firn::io

#endif  // FIRN_IO_FORMATS_GRAPH_WRITERS_H_
