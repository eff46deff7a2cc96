#ifndef FIRN_NN_PARALLEL_WORLD_H_
#define FIRN_NN_PARALLEL_WORLD_H_

#include <memory>

#include "firn/device/comm/communicator.h"
#include "firn/device/comm/mpi_ranks.h"

namespace firn {

// The ranks of this program: the processes that mpirun, mpiexec or srun started, or this one alone
// where none of them did. One line of a program that several processes run:
//
//   const auto world = firn::Init(argc, argv);
//
// It is what operations among ranks (tensor/ops/collective) take for the world, group 0.
// The world ends with the last that holds it (data parallel networks do), and MPI with it; until
// then a second call gives the same, whatever its options. Throws firn::Error that says in one line
// what is missing: FailedPrecondition where a launcher started this process and no MPI library is
// found, or where MPI has ended, which it does for good. Thread-safe, but all use of the world is
// for one thread at a time.
std::shared_ptr<comm::Communicator> Init(const comm::WorldRanksOptions& options = {});
// The same. Launchers of today pass nothing in a program's arguments, which stay as they are.
std::shared_ptr<comm::Communicator> Init(int argc, char** argv,
                                         const comm::WorldRanksOptions& options = {});

}  // namespace firn

#endif  // FIRN_NN_PARALLEL_WORLD_H_
