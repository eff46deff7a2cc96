#include "tools/firn/files.h"

#include <fstream>
#include <string_view>
#include <utility>

#include "io/graph_file_contents.h"
#include "io/hdf5.h"
#include "io/parameters.h"
#include "tensor/error.h"

namespace firn::cli {

FileContents ReadFile(const std::string& path) {
  std::string head(8, '\0');
  std::ifstream(path, std::ios::binary)
      .read(head.data(), static_cast<std::streamsize>(head.size()));
  if (std::string_view(head).substr(1, 4) == "FIRN") {
    absl::StatusOr<io::GraphFile> file = io::ReadGraph(path);
    RaiseIfError(file.status(), "graph");
    return {"Firn graph", std::move(file->states), std::move(file->graph)};
  }
  // Whatever it is: HDF5's reader says what is wrong with another file, or with none.
  absl::StatusOr<StateDict> tensors = io::ReadHdf5(path);
  RaiseIfError(tensors.status(), "file");
  return {"HDF5", *std::move(tensors), {}};
}

StateDict ReadTensors(const std::string& path) { return ReadFile(path).tensors; }

}  // namespace firn::cli
