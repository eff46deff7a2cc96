#ifndef FIRN_DEVICE_LAUNCH_H_
#define FIRN_DEVICE_LAUNCH_H_

#include "absl/status/status.h"

namespace firn::env {

// Whether the variables of launchers, from which LaunchedAs() (device/environment.h) reads, make
// sense up to those that it takes. FailedPrecondition, in one line that names variable and value,
// for a rank or a number of ranks that is no such number, for a rank that is not below their
// number, and where OMPI_COMM_WORLD_RANK or PMI_RANK is set without that number: LaunchedAs() would
// say that no launcher started the process. An empty variable counts as unset.
absl::Status CheckLaunch();

}  // namespace firn::env

#endif  // FIRN_DEVICE_LAUNCH_H_
