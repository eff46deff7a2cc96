#ifndef FIRN_NN_PARALLEL_WORLD_H_
#define FIRN_NN_PARALLEL_WORLD_H_

#include <memory>

#include "firn/device/comm/communicator.h"
#include "firn/device/comm/mpi_ranks.h"

namespace firn {

// The ranks of this program: the processes that mpirun, mpiexec or srun started, or only this
// process if none of them did. One line of a program that several processes run:
//
//   const auto world = firn::Init(argc, argv);
//
// Operations among ranks (tensor/ops/collective) use it as the world, group 0. The world, and MPI
// with it, ends with its last holder (data parallel networks hold it); until then a second call
// gives the same world, whatever its options. Throws firn::Error that names in one line what is
// missing: FailedPrecondition where a launcher started this process and no MPI library is found, or
// where MPI has ended, which it does for good. Thread-safe, but only one thread at a time may use
// the world.
std::shared_ptr<comm::Communicator> Init(const comm::WorldRanksOptions& options = {});
// The same. Today's launchers pass nothing in a program's arguments, which stay as they are.
std::shared_ptr<comm::Communicator> Init(int argc, char** argv,
                                         const comm::WorldRanksOptions& options = {});

}  // namespace firn

#endif  // FIRN_NN_PARALLEL_WORLD_H_
