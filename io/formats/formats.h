#ifndef FIRN_IO_FORMATS_FORMATS_H_
#define FIRN_IO_FORMATS_FORMATS_H_

// The formats of files, each of which says what it is called, how a file of it is told and what
// reads and writes it. io::Load and io::Save (of tensors and of graphs), cells of CSV data sets
// that name files, and the commands of `firn` ask here. A program's own format is one of them once
// it is registered:
//
//   io::RegisterFormat({.name = "RAW",
//                       .suffixes = {".raw"},
//                       .read_tensors = [](const std::string& path, const io::LoadOptions&) {
//                         return StateDict{{"pixels", ReadRaw(path)}};
//                       }});
//   net.LoadStateDict(io::Load("net.raw"));
//
// Firn's own register themselves, each in the page `format.cc` of its folder:
//
//   FIRN_FILE_FORMAT(npy) { return {.name = "NPY", .suffixes = {".npy"}, ...}; }

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/io/load_options.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn {
class Network;  // autograd/network/network.h
namespace inner {
struct Graph;  // autograd/graph/graph.h
}
}  // namespace firn

namespace firn::io {

struct DecodeImageOptions;  // image/image.h
struct GraphInfo;           // graph/graph_info.h
struct SaveOptions;         // graph/save.h

enum class FileHolds { kTensors, kTable, kImage, kSound, kGraph, kEvents };

// "tensors", "a table", "an image", "sound", "a graph", "events".
const char* FileHoldsName(FileHolds holds);

// By what the format of a file is told. A plain value.
struct FileHead {
  std::string name;   // of the file, without its folder
  std::string bytes;  // the first 512, or all
  // `n` bytes from somewhere else, or those of them that the file has.
  std::function<std::string(int64_t offset, int64_t n)> at;

  // The name of the first file in a ZIP, "" for what is none: .pt, .npz and .nnp differ in it.
  std::string_view FirstZipMember() const;
};

// How a file becomes one tensor: a cell of a CSV data set (CsvRowsOptions says more).
struct ReadArrayOptions {
  DType dtype = DType::kF32;  // of numbers in text
  bool round = false;         // those among them that the dtype does not hold; else errors
  const DecodeImageOptions* image = nullptr;  // null: the default ones
  LoadLimits limits = {};
};

inline constexpr int64_t kAnyBatch = -1;

// How a file becomes a network.
struct ReadNetworkOptions {
  LoadLimits limits = {};
  // Where the file lets it be any; 0: what the file says, if it says one; kAnyBatch: it stays any,
  // and comes with each call's inputs.
  int64_t batch = 0;
  std::string name = {};  // which of several; "": the first
};

// A format. Functions that are empty are what it cannot do; they throw firn::Error, and several
// threads may call them at once.
struct Format {
  std::string name;  // "NPZ"
  FileHolds holds = FileHolds::kTensors;
  // How names of such files end, in small letters, with the dot; {} where no name tells.
  std::vector<std::string> suffixes = {};
  // More of them, which are read and not written.
  std::vector<std::string> read_suffixes = {};
  // Whether a file looks like one, by its first bytes above all. Empty: its suffix alone tells.
  std::function<bool(const FileHead& head)> recognises = {};
  // All tensors of a file by their names. Among the options `want` may be left to the caller.
  std::function<StateDict(const std::string& path, const LoadOptions& options)> read_tensors = {};
  // Replaces the file as a whole.
  std::function<void(const std::string& path, const StateDict& state)> write_tensors = {};
  // Types of elements that become others when they are written.
  std::vector<DType> widened = {};
  // What a file holds as one tensor.
  std::function<Tensor(const std::string& path, const ReadArrayOptions& options)> read_array = {};
  // The network that a file of another framework describes.
  std::function<Network(const std::string& path, const ReadNetworkOptions& options)> read_network =
      {};
  // What a file says of the numbers of `graph`, which is what its network became.
  std::function<GraphInfo(const std::string& path, const LoadLimits& limits,
                          const inner::Graph& graph)>
      read_info = {};
  // How names end of the files that write_graph takes, as `suffixes`; they tell nothing of files
  // that are there.
  std::vector<std::string> graph_suffixes = {};
  // Whether write_graph can leave dimension 0 of inputs open. Without it, it is not asked to.
  bool any_batch = false;
  // Replaces the file as a whole; gives what the file does not do as the graph does. Its errors
  // name what the format cannot hold.
  std::function<std::vector<std::string>(const std::string& path, const inner::Graph& graph,
                                         const SaveOptions& options)>
      write_graph = {};
  // For files that are neither read nor written, which are told all the same: what to do instead.
  std::string instead = {};
};

// Thread-safe. Throws firn::Error, InvalidArgument, for a format without a name, and one whose name
// or one of whose suffixes another has (but for one with `instead`, whose suffixes it takes), or
// whose suffix does not begin with a dot; and where only one of write_graph and graph_suffixes is
// given, or another format writes graphs to files of such a suffix.
void RegisterFormat(Format format);

// All formats, by their names. They stay where they are.
std::vector<const Format*> Formats();
// The format of that name, in any letters; null: none.
const Format* FindFormat(std::string_view name);
// The one whose suffix, the longest of all, ends the name of the file in any letters; null: none.
// Nothing is opened.
const Format* FormatOfName(std::string_view path);
// The one that writes graphs to files of such names, by the longest of graph_suffixes; null: none.
const Format* GraphFormatOfName(std::string_view path);
// The one that recognises the file: by what it holds, of several the one whose suffix it has, and
// if none does, by its name. Null where it is none of them, or cannot be opened.
const Format* FormatOfFile(const std::string& path);
// Throws firn::Error, Unimplemented, for a file whose format says what to do instead, with that,
// and for the folder of a SavedModel; `who` is the function that would read it.
void RefuseForeign(const std::string& path, std::string_view who);
// Whether the name ends in a suffix of the format that is written, and not only read.
bool EndsAsWritten(std::string_view path, const Format& format);
// ".h5, .hdf5, .npy or .npz": the suffixes of those formats that `which` says.
std::string SuffixesText(const std::function<bool(const Format& format)>& which);
// ".firn, .nnb or .onnx": all graph_suffixes.
std::string GraphSuffixesText();

namespace internal {

struct FormatRegistration {
  explicit FormatRegistration(Format format) { RegisterFormat(std::move(format)); }
};

}  // namespace internal

// Defines a function that makes a format, and registers that before main begins. In namespace
// firn::io, outside of another.
#define FIRN_FILE_FORMAT(id)                                                   \
  static ::firn::io::Format FirnFileFormat_##id();                             \
  static const ::firn::io::internal::FormatRegistration firn_file_format_##id( \
      FirnFileFormat_##id());                                                  \
  static ::firn::io::Format FirnFileFormat_##id()

}  // namespace firn::io

#endif  // FIRN_IO_FORMATS_FORMATS_H_
