#ifndef FIRN_DEVICE_COMM_NCCL_RANKS_H_
#define FIRN_DEVICE_COMM_NCCL_RANKS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "firn/device/comm/communicator.h"
#include "firn/device/device.h"

namespace firn::comm {

// The ranks of `host`, for memory of CUDA devices: calls go through NCCL 2.14 or later
// (libnccl.so.2, found when this is called). All ranks call it, each with a device of its own, and
// all get the same error where one of them has no such device or no NCCL. `host` must live longer.
//
// Calls are queued behind the work on the device's stream, on a stream of their own, and move data
// while the device computes. Wait makes the device's stream wait for the call, not the thread: what
// is queued later sees what it wrote. A Barrier is the host's. A send or receive is held until one
// of the held messages is waited for or another call is made, even a Barrier; then all of them
// begin together. So two ranks that send each other something start both messages before they wait.
// The first rank of a pair waits, on the host, until the other has begun its message.
//
// Elements are reduced in the order, and half types with the roundings, that NCCL has; the same on
// all ranks. Whether the smallest and the largest keep a NaN is the library's affair.
//
// A call that a device has come to and that is not done host.timeout() later ends the communicator,
// as do errors that NCCL finds: the next that waits for the device, and all later calls, have an
// error with the call's name. An error that ends the calls of `host`, such as an Abort on another
// rank, ends this communicator with the same error within about a tenth of a second.
//
// FailedPrecondition for calls that would be recorded into a graph, unless all ranks record it
// together (recorded_runs.h): NCCL wants a call recorded on all ranks or on none. A run that was
// recorded counts as one call, which the device comes to where the run begins.
//
// Communicators of one device, as Split makes them, each have a stream. Calls of several that are
// on their way at once can wait for each other for ever, that is until the timeout, unless all
// ranks start them in the same order.
absl::StatusOr<std::unique_ptr<Communicator>> NcclRanks(Communicator& host, Device device);

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_NCCL_RANKS_H_
