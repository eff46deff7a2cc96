#ifndef FIRN_NN_PARALLEL_INTERNAL_RANK_MEAN_H_
#define FIRN_NN_PARALLEL_INTERNAL_RANK_MEAN_H_

#include <memory>

#include "firn/device/comm/communicator.h"
#include "firn/tensor/tensor.h"

namespace firn::nn::parallel::internal {

// What a tensor's elements are exchanged as: bools are bytes.
comm::Element ElementOf(DType dtype);
// The elements of a row-major tensor on the CPU, for writing.
void* HostData(Tensor& t);

// The one place that reduces gradients: makes one tensor's elements their mean over all ranks, in
// place, step for step. Both throw what the communicator has for an error.
class RankMean {
 public:
  // Requires: a row-major tensor of floats on the CPU.
  RankMean(std::shared_ptr<comm::Communicator> comm, Tensor tensor)
      : comm_(std::move(comm)), tensor_(std::move(tensor)) {}

  // The elements are the call's until Wait. All ranks start the same in the same order.
  void Start();
  // Requires: started.
  void Wait();
  // Waits, if it was started, whatever comes of it.
  void Drop() noexcept { pending_.reset(); }

 private:
  std::shared_ptr<comm::Communicator> comm_;
  Tensor tensor_;
  std::unique_ptr<comm::Pending> pending_;  // before the tensor goes
};

}  // namespace firn::nn::parallel::internal

#endif  // FIRN_NN_PARALLEL_INTERNAL_RANK_MEAN_H_
