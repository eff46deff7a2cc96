#ifndef FIRN_DEVICE_COMM_MPI_RANKS_H_
#define FIRN_DEVICE_COMM_MPI_RANKS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "firn/device/comm/communicator.h"

namespace firn::comm {

struct WorldRanksOptions {
  // How long Wait waits for ranks that do not come, and how long the end of MPI waits for ranks
  // that still work.
  absl::Duration timeout = absl::Seconds(60);
};

// All processes that a launcher of MPI (mpirun, mpiexec, srun) started with this one; a program
// that none has started is the only rank. MPI is looked for only if a launcher started the process.
// FailedPrecondition where a launcher's environment is set but there is no library, or srun has
// started several tasks without MPI: otherwise each process would train the same by itself. What
// Split gives is kept until MPI ends. Where this function initialises MPI, call it once in a
// process, from the thread that will use it; after an error of MPI's or a rank's, another call is
// FailedPrecondition.
//
// Ranks of one machine exchange elements through memory that all of them see, 32 MiB or less for
// each communicator (the more ranks the more from 64 on), as ThreadRanks do to the bit. MPI is used
// where one rank cannot have that memory (ranks of different containers), with FIRN_SHARED_RANKS=0,
// for messages and for communicators of several machines: there elements are reduced in the order
// in which the library does, half types in f32, and whether the smallest and the largest keep a NaN
// is the library's affair.
//
// A program that calls MPI itself must not do so while calls are on their way, since a thread of
// Firn's may be calling MPI. After an error MPI may still write into the memory of calls that were
// on their way when the program calls it. A child of fork() may destroy ranks and calls, and
// nothing else.
absl::StatusOr<std::unique_ptr<Communicator>> WorldRanks(const WorldRanksOptions& options = {});

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_MPI_RANKS_H_
