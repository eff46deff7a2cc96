#ifndef FIRN_DEVICE_COMM_DEVICE_RANKS_H_
#define FIRN_DEVICE_COMM_DEVICE_RANKS_H_

#include "absl/status/statusor.h"
#include "firn/device/comm/communicator.h"
#include "firn/device/device.h"

namespace firn::comm {

// The ranks of `host`, which are those of the CPU, for memory of `device`. Those of a CUDA device
// are made by the first call, which all ranks make together (nccl_ranks.h), and live as long as
// `host`; a rank that is alone needs no NCCL. InvalidArgument where an earlier call made them for
// another device.
absl::StatusOr<Communicator*> DeviceRanks(Communicator& host, Device device);

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_DEVICE_RANKS_H_
