// The formats by the end of the file's name; a new one is a row of kFormats.
#include "firn/io/parameters.h"

#include <algorithm>
#include <filesystem>

#include "firn/device/status_macros.h"
#include "firn/io/hdf5.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

struct Format {
  const char* extension;
  absl::Status (*save)(const std::string&, const StateDict&);
  absl::StatusOr<StateDict> (*load)(const std::string&, const LoadOptions&);
};

constexpr Format kFormats[] = {
    {".h5", WriteHdf5, ReadHdf5},
    {".hdf5", WriteHdf5, ReadHdf5},
};

// Where what somebody has is read or written.
const char* InsteadOf(const std::string& extension) {
  if (extension == ".npz") return "; ReadNpz and WriteNpz of firn/io/npy.h take .npz";
  if (extension == ".npy") return "; ReadNpy and WriteNpy of firn/io/npy.h take .npy";
  if (extension == ".firn") return "; LoadGraph and SaveGraph of firn/io/graph_file.h take .firn";
  if (extension == ".pt" || extension == ".pth" || extension == ".bin") {
    return "; io/README.md shows how PyTorch writes its weights as .h5";
  }
  return "";
}

const Format& FormatOf(const std::string& path, const char* who) {
  const std::string extension = std::filesystem::path(path).extension().string();
  const auto* format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                    [&](const Format& f) { return extension == f.extension; });
  if (format == std::end(kFormats)) {
    RaiseStatus(InvalidArgument("'", path, "' ends in '", extension, "' (want .h5 or .hdf5",
                                InsteadOf(extension), ")"),
                who);
  }
  return *format;
}

}  // namespace

void Save(const std::string& path, const StateDict& state) {
  RaiseIfError(FormatOf(path, "save").save(path, state), "save");
}

StateDict Load(const std::string& path, const LoadOptions& options) {
  absl::StatusOr<StateDict> state = FormatOf(path, "load").load(path, options);
  RaiseIfError(state.status(), "load");
  return *std::move(state);
}

}  // namespace firn::io
