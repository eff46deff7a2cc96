#ifndef FIRN_TOOLS_FIRN_FILES_H_
#define FIRN_TOOLS_FIRN_FILES_H_

// Files of every format that Firn reads (io/formats). Formats that hold more than tensors, or would
// be too large to be kept, have a reader of their own here, in a file of formats/:
//
//   FIRN_FILE_CONTENTS(wav, "WAV") {
//     return [](const std::string& path, const io::LoadLimits& limits) {
//       FileContents contents;
//       contents.tensors.Insert("samples", io::ReadWav(path, limits).samples);
//       return contents;
//     };
//   }

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/autograd/graph/graph.h"
#include "firn/device/inner.h"
#include "firn/io/load_limits.h"
#include "firn/tensor/state_dict.h"
#include "tools/firn/statistics.h"

namespace firn::cli {

// Numbers that were read one after the other and not kept: a column of a table, the scalars of a
// tag.
struct Column {
  std::string name;
  Statistics statistics = {};
  int64_t others = 0;  // cells that are no numbers
};

// The contents of a file.
struct FileContents {
  std::string format;               // "HDF5", "Firn graph"
  StateDict tensors = {};           // for a graph, its states
  std::optional<Graph> graph = {};  // of a graph
  std::vector<Column> columns = {};
  std::vector<std::pair<std::string, nlohmann::json>> facts = {};  // {"sample rate", 16000}
};

// Throws firn::Error for a file that is damaged, refused, or beyond the limits; runs no code or
// graph of it.
using ContentsReader = FileContents (*)(const std::string& path, const io::LoadLimits& limits);

struct ContentsRegistration {
  ContentsRegistration(const char* format, ContentsReader read);
};

// Registers a reader of files of the format of that name.
#define FIRN_FILE_CONTENTS(id, name)                                                            \
  static ::firn::cli::ContentsReader FirnContents_##id();                                       \
  static const ::firn::cli::ContentsRegistration firn_contents_##id(name, FirnContents_##id()); \
  static ::firn::cli::ContentsReader FirnContents_##id()

// The names of all formats that ReadFile takes, sorted.
std::vector<std::string> FormatNames();

// Reads a file within the limits, and runs no code or graph of it. Throws firn::Error.
FileContents ReadFile(const std::string& path, const io::LoadLimits& limits = {});

// Like ReadFile; throws for a file of numbers that were not kept as well.
FileContents ReadFileOfTensors(const std::string& path);
// Its tensors.
StateDict ReadTensors(const std::string& path);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_FILES_H_
