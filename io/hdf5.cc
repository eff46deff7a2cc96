// Written through the HDF5 library, read by our own reader; see Note [Reading HDF5].
#include "io/hdf5.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "device/atomic_file.h"
#include "device/status_macros.h"
#include "io/internal/h5_reader.h"
#include "io/internal/h5_writer.h"
#include "io/internal/random_access.h"

namespace firn::io {

absl::Status WriteHdf5(const std::string& path, const StateDict& state) {
  const absl::Status status = internal::WriteH5(state, [&](const void* image, size_t bytes) {
    return firn::inner::internal::ReplaceFile(path, {static_cast<const char*>(image), bytes});
  });
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("save ", path, ": ", std::string(status.message())));
}

absl::StatusOr<StateDict> ReadHdf5(const std::string& path, const LoadOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<internal::RandomAccess> file,
                        internal::RandomAccess::Open(path));
  return internal::ReadH5(*file, options);
}

}  // namespace firn::io
