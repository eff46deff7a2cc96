// What is written is chosen by the end of the file's name; what is read by the first bytes where
// they tell, since files of weights go by many names. A new format is a row of kFormats.
#include "firn/io/parameters.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/hdf5.h"
#include "firn/io/internal/random_access.h"
#include "firn/io/safetensors/safetensors_status.h"
#include "firn/io/torch/torch_status.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

struct Format {
  std::string_view extensions;  // a blank after each
  bool (*begins)(std::string_view bytes);
  absl::Status (*save)(const std::string&, const StateDict&);
  absl::StatusOr<StateDict> (*load)(const std::string&, const LoadOptions&);
};

constexpr Format kFormats[] = {
    {".safetensors .json ",
     // A length of the header that leaves the highest bytes empty, and the header.
     [](std::string_view b) {
       return b.size() > 8 && b.substr(4, 5) == std::string_view("\0\0\0\0{", 5);
     },
     [](const std::string& path, const StateDict& state) {
       return TrySaveSafetensors(path, state);
     },
     [](const std::string& path, const LoadOptions& options) {
       return TryLoadSafetensors(path, {.load = options, .map = false});
     }},
    {".pt .pth .bin .ckpt ",
     [](std::string_view b) { return b.starts_with("PK") || b.starts_with("\x80\x02\x8a\x0a"); },
     TrySaveTorch,
     [](const std::string& path, const LoadOptions& options) {
       return TryLoadTorch(path, {.load = options});
     }},
    {".h5 .hdf5 ", [](std::string_view b) { return b.starts_with("\x89HDF"); }, WriteHdf5,
     ReadHdf5},
};

// Where what somebody has is read or written.
const char* InsteadOf(std::string_view extension) {
  if (extension == ".npz") return "; ReadNpz and WriteNpz of firn/io/npy/npy.h take .npz";
  if (extension == ".npy") return "; ReadNpy and WriteNpy of firn/io/npy/npy.h take .npy";
  if (extension == ".firn")
    return "; LoadGraph and SaveGraph of firn/io/graph/graph_file.h take .firn";
  return "";
}

const Format* ByName(std::string_view extension) {
  const std::string word = absl::StrCat(std::string(extension), " ");
  const auto* format = std::find_if(std::begin(kFormats), std::end(kFormats), [&](const Format& f) {
    return extension.empty() ? &f == kFormats : f.extensions.find(word) != f.extensions.npos;
  });
  return format == std::end(kFormats) ? nullptr : format;
}

// Null where the file cannot be opened, of which its reader tells, or begins like none.
const Format* ByContent(const std::string& path) {
  const auto file = internal::RandomAccess::Open(path);
  char first[16] = {};
  if (!file.ok()) return nullptr;
  const int64_t n = std::min<int64_t>((*file)->size(), sizeof(first));
  if (!(*file)->ReadAt(0, first, n, "signature").ok()) return nullptr;
  const auto* format = std::find_if(std::begin(kFormats), std::end(kFormats), [&](const Format& f) {
    return f.begins(std::string_view(first, static_cast<size_t>(n)));
  });
  return format == std::end(kFormats) ? nullptr : format;
}

[[noreturn]] void RaiseNoFormat(const std::string& path, std::string_view extension,
                                const char* who) {
  RaiseStatus(
      InvalidArgument("'", path, "' ends in '", std::string(extension),
                      "' (want .safetensors, .pt, .pth, .h5 or .hdf5", InsteadOf(extension), ")"),
      who);
}

void CheckPath(const std::string& path, const char* who) {
  if (path.empty()) RaiseStatus(InvalidArgument("expected a path, got an empty one"), who);
}

}  // namespace

void Save(const std::string& path, const StateDict& state) {
  CheckPath(path, "save");
  const std::string extension = std::filesystem::path(path).extension().string();
  const Format* format = ByName(extension);
  if (format == nullptr || extension == ".json") RaiseNoFormat(path, extension, "save");
  RaiseIfError(format->save(path, state), "save");
}

StateDict Load(const std::string& path, const LoadOptions& options) {
  CheckPath(path, "load");
  const std::string extension = std::filesystem::path(path).extension().string();
  const Format* format = ByName(extension);
  // What a name without a meaning says is for the content alone; .npz begins as .pt does.
  if (InsteadOf(extension)[0] == '\0' && extension != ".json") {
    const Format* found = ByContent(path);
    if (found != nullptr) format = found;
  }
  if (format == nullptr) RaiseNoFormat(path, extension, "load");
  absl::StatusOr<StateDict> state = format->load(path, options);
  RaiseIfError(state.status(), "load");
  return *std::move(state);
}

}  // namespace firn::io
