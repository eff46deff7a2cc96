// The version texts of MPI libraries, which the standard allows to ask for before MPI_Init: Open
// MPI "Open MPI v4.1.4, package: Debian OpenMPI, ...", MPICH "MPICH Version:\t4.0.2\n...".
#include "firn/device/comm/mpi_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "firn/device/comm/mpi_api.h"
#include "firn/device/status_macros.h"

namespace firn::comm {

absl::StatusOr<std::string> DescribeMpi() {
  FIRN_ASSIGN_OR_RETURN(const MpiLibrary library, LoadMpi());
  const auto version =
      reinterpret_cast<int (*)(char*, int*)>(dlsym(library.handle, "MPI_Get_library_version"));
  FIRN_RETURN_IF(version == nullptr, NotFound(library.file, " has no MPI_Get_library_version"));
  std::vector<char> text(1 << 14);  // twice what any library has
  int length = 0;
  FIRN_RETURN_IF(version(text.data(), &length) != 0,
                 Internal(library.file, " does not say which version it is"));
  text.back() = '\0';
  std::string said = text.data();
  said.resize(std::min(said.size(), said.find_first_of(",\n")));
  said = absl::StrReplaceAll(said, {{" Version:", ""}, {"\t", " "}});
  absl::RemoveExtraAsciiWhitespace(&said);
  return absl::StrCat(said, " (", library.file, ")");
}

}  // namespace firn::comm
