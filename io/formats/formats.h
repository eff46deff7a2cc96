#ifndef FIRN_IO_FORMATS_FORMATS_H_
#define FIRN_IO_FORMATS_FORMATS_H_

// The registry of file formats. Each has a name, a way to recognise its files, and functions that
// read and write them. io::Load and io::Save (of tensors and of graphs), cells of CSV data sets
// that name files, and the commands of `firn` use it. A program may register a format of its own:
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

// The parts of a file that tell its format. A plain value.
struct FileHead {
  std::string name;   // the file's name, without its folder
  std::string bytes;  // the first 512, or all
  // `n` bytes from somewhere else, or those of them that the file has.
  std::function<std::string(int64_t offset, int64_t n)> at;

  // The name of the first file in a ZIP, "" if the file is no ZIP: .pt, .npz and .nnp differ in it.
  std::string_view FirstZipMember() const;
};

// How a file becomes one tensor: a cell of a CSV data set (CsvRowsOptions says more).
struct ReadArrayOptions {
  DType dtype = DType::kF32;  // of numbers in text
  bool round = false;         // round numbers that the dtype does not hold; else errors
  const DecodeImageOptions* image = nullptr;  // null: the default ones
  LoadLimits limits = {};
};

inline constexpr int64_t kAnyBatch = -1;

// How a file becomes a network.
struct ReadNetworkOptions {
  LoadLimits limits = {};
  // The batch size, if the file leaves it open; 0: the file's, if it has one; kAnyBatch: it stays
  // open, and each call's inputs decide it.
  int64_t batch = 0;
  std::string name = {};  // the network to take if there are several; "": the first
};

// A format. An empty function means that the format cannot do this. Functions throw firn::Error,
// and several threads may call them at once.
struct Format {
  std::string name;  // "NPZ"
  FileHolds holds = FileHolds::kTensors;
  // The suffixes of such files, in small letters, with the dot; {} if names do not tell the format.
  std::vector<std::string> suffixes = {};
  // Further suffixes, which are read and not written.
  std::vector<std::string> read_suffixes = {};
  // Whether a file looks like this format, mostly by its first bytes. Empty: only the suffix tells.
  std::function<bool(const FileHead& head)> recognises = {};
  // All tensors of a file by their names. It may ignore the option `want`, which the caller then
  // applies.
  std::function<StateDict(const std::string& path, const LoadOptions& options)> read_tensors = {};
  // Replaces the file as a whole.
  std::function<void(const std::string& path, const StateDict& state)> write_tensors = {};
  // Dtypes that become others when they are written.
  std::vector<DType> widened = {};
  // The contents of a file as one tensor.
  std::function<Tensor(const std::string& path, const ReadArrayOptions& options)> read_array = {};
  // The network that a file of another framework describes.
  std::function<Network(const std::string& path, const ReadNetworkOptions& options)> read_network =
      {};
  // The file's information about the numbers of `graph`, which was made from its network.
  std::function<GraphInfo(const std::string& path, const LoadLimits& limits,
                          const inner::Graph& graph)>
      read_info = {};
  // The suffixes of files that write_graph writes, in the form of `suffixes`; they do not help to
  // recognise existing files.
  std::vector<std::string> graph_suffixes = {};
  // Whether write_graph can leave dimension 0 of inputs open. If not, it is never asked to.
  bool any_batch = false;
  // Replaces the file as a whole; returns the points in which the file differs from the graph. Its
  // errors name what the format cannot hold.
  std::function<std::vector<std::string>(const std::string& path, const inner::Graph& graph,
                                         const SaveOptions& options)>
      write_graph = {};
  // For formats that are recognised but neither read nor written: what to do instead.
  std::string instead = {};
};

// Thread-safe. Throws firn::Error, InvalidArgument, for a format without a name; if another format
// has its name or one of its suffixes (suffixes of formats with `instead` may be taken); for a
// suffix that does not begin with a dot; if only one of write_graph and graph_suffixes is given;
// and if another format writes graphs to files of such a suffix.
void RegisterFormat(Format format);

// All formats, sorted by name. The pointers stay valid.
std::vector<const Format*> Formats();
// The format of that name, in any letters; null: none.
const Format* FindFormat(std::string_view name);
// The format with the longest suffix that the file's name ends in, in any letters; null: none.
// Opens no file.
const Format* FormatOfName(std::string_view path);
// The format that writes graphs to files of such names, by the longest of graph_suffixes; null:
// none.
const Format* GraphFormatOfName(std::string_view path);
// The format of a file: the one that recognises its bytes (among several, the one whose suffix it
// has), else the one whose suffix it has. Null if there is none, or the file cannot be opened.
const Format* FormatOfFile(const std::string& path);
// Throws firn::Error, Unimplemented, for a file of a format with `instead`, whose advice it
// repeats, and for the folder of a SavedModel; `who` is the function that would read it.
void RefuseForeign(const std::string& path, std::string_view who);
// Whether the name ends in a suffix of the format that is written, and not only read.
bool EndsAsWritten(std::string_view path, const Format& format);
// ".h5, .hdf5, .npy or .npz": the suffixes of the formats that `which` accepts.
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
