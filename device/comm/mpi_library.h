#ifndef FIRN_DEVICE_COMM_MPI_LIBRARY_H_
#define FIRN_DEVICE_COMM_MPI_LIBRARY_H_

#include <string>

#include "absl/status/statusor.h"

namespace firn::comm {

// The library of MPI that WorldRanks would take: "Open MPI v4.1.4 (libmpi.so.40)", as it calls
// itself, without beginning MPI. NotFound, which says what was looked for. Thread-safe.
absl::StatusOr<std::string> DescribeMpi();

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_MPI_LIBRARY_H_
