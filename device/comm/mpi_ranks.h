#ifndef FIRN_DEVICE_COMM_MPI_RANKS_H_
#define FIRN_DEVICE_COMM_MPI_RANKS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "firn/device/comm/communicator.h"

namespace firn::comm {

struct WorldRanksOptions {
  // How long Wait waits for ranks that do not come.
  absl::Duration timeout = absl::Seconds(60);
};

// All processes that a launcher of MPI (mpirun, mpiexec, srun) started with this one; a program
// that none has started is the only rank. MPI is looked for then alone: FailedPrecondition where a
// launcher's environment is there and no library, which says so instead of training the same
// several times. Elements are reduced in the order in which the library does, half types in f32;
// whether the smallest and the largest keep a NaN is the library's affair. What Split gives is kept
// until MPI ends. Once in a process where this begins MPI, from the thread that will use it.
absl::StatusOr<std::unique_ptr<Communicator>> WorldRanks(const WorldRanksOptions& options = {});

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_MPI_RANKS_H_
