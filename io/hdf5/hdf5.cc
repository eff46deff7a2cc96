// Written through the HDF5 library, read by our own reader; see Note [Reading HDF5].
#include "firn/io/hdf5/hdf5.h"

#include <memory>

#include "firn/device/status_macros.h"
#include "firn/io/hdf5/internal/h5_reader.h"
#include "firn/io/hdf5/internal/h5_words.h"
#include "firn/io/hdf5/internal/h5_writer.h"
#include "firn/io/internal/random_access.h"

namespace firn::io {

absl::Status WriteHdf5(const std::string& path, const StateDict& state) {
  return internal::WriteH5(path, state);
}

absl::StatusOr<StateDict> ReadHdf5(const std::string& path, const LoadOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<internal::RandomAccess> file,
                        internal::RandomAccess::Open(path));
  return internal::ReadH5(*file, options);
}

absl::StatusOr<std::vector<std::string>> ReadHdf5Words(const std::string& path,
                                                       const std::string& name,
                                                       const LoadLimits& limits) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<internal::RandomAccess> file,
                        internal::RandomAccess::Open(path));
  return internal::ReadH5Words(*file, name, limits);
}

}  // namespace firn::io
