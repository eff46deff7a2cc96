// Written through the HDF5 library, read by our own reader; see Note [Reading HDF5].
#include "firn/io/hdf5/hdf5.h"

#include <memory>

#include "firn/device/status_macros.h"
#include "firn/io/hdf5/hdf5_status.h"
#include "firn/io/hdf5/internal/h5_reader.h"
#include "firn/io/hdf5/internal/h5_words.h"
#include "firn/io/hdf5/internal/h5_writer.h"
#include "firn/io/random_access.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/error.h"

namespace firn::io {

absl::Status TrySaveHdf5(const std::string& path, const StateDict& state) {
  return internal::WriteH5(path, state);
}

absl::StatusOr<StateDict> TryLoadHdf5(const std::string& path, const LoadOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccess> file, RandomAccess::Open(path));
  return internal::ReadH5(*file, options);
}

absl::StatusOr<std::vector<std::string>> TryLoadHdf5Words(const std::string& path,
                                                          const std::string& name,
                                                          const LoadLimits& limits) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccess> file, RandomAccess::Open(path));
  return internal::ReadH5Words(*file, name, limits);
}

void SaveHdf5(const std::string& path, const StateDict& state) {
  RaiseIfError(TrySaveHdf5(path, state), "save_hdf5");
}

StateDict LoadHdf5(const std::string& path, const LoadOptions& options) {
  return ValueOrRaise(TryLoadHdf5(path, options), "load_hdf5");
}

}  // namespace firn::io
