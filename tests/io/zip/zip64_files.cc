// zip64_files PATH LIMIT: an archive of two arrays, zip64 from LIMIT bytes on.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "firn/device/atomic_file.h"
#include "firn/device/status_macros.h"
#include "firn/io/npy/npy_status.h"
#include "firn/io/zip/internal/zip.h"
#include "firn/tensor/ops.h"

namespace firn::io {
namespace {

absl::Status WriteArrays(const std::string& path, uint64_t narrow) {
  FIRN_ASSIGN_OR_RETURN(auto out, inner::internal::AtomicFile::Create(path));
  internal::ZipWriter zip(&out, narrow);
  FIRN_ASSIGN_OR_RETURN(const std::string counted, TryFormatNpy(Arange(0, 10)));
  FIRN_ASSIGN_OR_RETURN(const std::string ones, TryFormatNpy(Ones({100})));
  FIRN_RETURN_IF_ERROR(zip.Add("counted.npy", counted, false));
  FIRN_RETURN_IF_ERROR(zip.Add("ones.npy", ones, true));
  FIRN_RETURN_IF_ERROR(zip.Add("again.npy", counted, true));
  FIRN_RETURN_IF_ERROR(zip.Finish());
  return out.Commit();
}

}  // namespace
}  // namespace firn::io

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const absl::Status status = firn::io::WriteArrays(argv[1], std::strtoull(argv[2], nullptr, 10));
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
