#ifndef FIRN_DEVICE_COMM_MPI_LIBRARY_H_
#define FIRN_DEVICE_COMM_MPI_LIBRARY_H_

#include <string>

#include "absl/status/statusor.h"

namespace firn::comm {

// The library of MPI that WorldRanks would take: "Open MPI v4.1.4 (libmpi.so.40)", the library's
// own name for itself, asked for without initialising MPI. NotFound, which lists the names that
// were tried. Thread-safe.
absl::StatusOr<std::string> DescribeMpi();

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_MPI_LIBRARY_H_
