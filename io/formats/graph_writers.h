#ifndef FIRN_IO_FORMATS_GRAPH_WRITERS_H_
#define FIRN_IO_FORMATS_GRAPH_WRITERS_H_

// What writes graphs, by the suffixes of its files: `firn convert` asks here. A program's own
// writer is one of them once it is registered, and what reads such files is a format with
// `read_network` (formats.h):
//
//   io::RegisterGraphWriter({.name = "count",
//                            .suffixes = {".opcount"},
//                            .write = [](const std::string& path, const io::GraphFile& file, bool)
//                            {
//                              std::ofstream out(path);
//                              out << file.graph.instrs.size() << "\n";
//                              return std::vector<std::string>{"it has no parameters"};
//                            }});
//
// Firn's own register themselves, each in the page `format.cc` of its folder:
//
//   FIRN_GRAPH_WRITER(onnx) { return {.name = "ONNX", .suffixes = {".onnx"}, .write = ...}; }

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firn::io {

struct GraphFile;  // io/graph/graph_file_contents.h

// Several threads may call its function at once.
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

// Thread-safe. Throws firn::Error, InvalidArgument, for a writer without a name or a function, one
// whose name another has, and suffixes that are none, that another has or that do not begin with a
// dot.
void RegisterGraphWriter(GraphWriter writer);

// All, by their names. They stay where they are.
std::vector<const GraphWriter*> GraphWriters();
// The one whose suffix, the longest of all, ends the name, in any letters; null: none.
const GraphWriter* GraphWriterOfName(std::string_view path);
// ".firn, .nnb or .onnx": the suffixes of all.
std::string GraphSuffixesText();

namespace internal {

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
