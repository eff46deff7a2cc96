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

const Format& FormatOf(const std::string& path, const char* who) {
  const std::string extension = std::filesystem::path(path).extension().string();
  const auto* format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                    [&](const Format& f) { return extension == f.extension; });
  if (format == std::end(kFormats)) {
    RaiseStatus(InvalidArgument("'", path, "' ends in '", extension, "' (want .h5 or .hdf5)"), who);
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
