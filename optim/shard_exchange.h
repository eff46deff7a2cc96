#ifndef FIRN_OPTIM_SHARD_EXCHANGE_H_
#define FIRN_OPTIM_SHARD_EXCHANGE_H_

#include <cstdint>
#include <exception>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "firn/device/comm/communicator.h"
#include "firn/tensor/tensor.h"

namespace firn::optim::internal {

// A rank's part of a tensor's elements, in the order in which they lie.
struct Shard {
  int64_t begin = 0, count = 0;
};

// The part of each of `ranks` ranks: all have one length except the last ones, which get the rest.
// The length is a multiple of 16, so that parts of f32 begin with a cache line if the whole does.
int64_t ShardLength(int64_t elements, int ranks);
Shard ShardOf(int64_t elements, int rank, int ranks);

// The part's elements, in the memory of `t`. Requires: t is contiguous.
Tensor ElementsOf(const Tensor& t, const Shard& shard);

// In the functions below tensors are contiguous and on one device, and all ranks give as many, of
// the same shapes and dtypes, in the same order; `comm` has the ranks of the CPU. For tensors on a
// CUDA device the exchange is only queued there (device/comm/device_ranks.h). Tensors that are cut
// evenly are not copied. Errors: the communicator's, and memory; InvalidArgument for several
// devices.

// Each rank brings its own part of the tensors, and has all of them afterwards.
absl::Status GatherShards(absl::Span<const Tensor> tensors, comm::Communicator& comm);

// parts[i] becomes this rank's part of the mean of the ranks' whole[i], added in their order.
// Requires: floating.
absl::Status AverageShards(absl::Span<const Tensor> whole, absl::Span<const Tensor> parts,
                           comm::Communicator& comm);

// Runs this rank's work between two joint calls. If it throws, the other ranks would wait, so their
// calls end with its error.
template <class F>
void OrAbort(comm::Communicator& comm, const F& work) {
  try {
    work();
  } catch (const std::exception& e) {
    comm.Abort(e.what());
    throw;
  }
}

}  // namespace firn::optim::internal

#endif  // FIRN_OPTIM_SHARD_EXCHANGE_H_
