#ifndef FIRN_NN_PARALLEL_INTERNAL_REDUCTION_H_
#define FIRN_NN_PARALLEL_INTERNAL_REDUCTION_H_

#include <cstdint>

#include "firn/device/comm/kinds.h"
#include "firn/tensor/tensor.h"

namespace firn::nn::parallel::internal {

// The elements of a row-major tensor on the CPU, for writing. Not inside a capture.
void* HostData(Tensor& t);

// The one place that reduces what a pass finds: makes one tensor's elements those of all ranks, in
// place, step for step. A capture records both calls. Both throw what the communicator has for an
// error.
class Reduction {
 public:
  // `group`: device/comm/groups.h.
  Reduction(comm::Reduction how, int64_t group) : how_(how), group_(group) {}

  // The elements are the call's until Wait. All ranks start the same in the same order. Requires: a
  // row-major tensor.
  void Start(const Tensor& tensor);
  // Requires: started.
  void Wait();
  // Waits, if it was started, whatever comes of it.
  void Drop() noexcept;

 private:
  comm::Reduction how_;
  int64_t group_;
  Tensor tensor_;  // on its way; undefined: none
};

}  // namespace firn::nn::parallel::internal

#endif  // FIRN_NN_PARALLEL_INTERNAL_REDUCTION_H_
