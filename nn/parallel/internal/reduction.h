#ifndef FIRN_NN_PARALLEL_INTERNAL_REDUCTION_H_
#define FIRN_NN_PARALLEL_INTERNAL_REDUCTION_H_

#include <cstdint>

#include "firn/device/comm/kinds.h"
#include "firn/tensor/tensor.h"

namespace firn::nn::parallel::internal {

// The elements of a row-major tensor on the CPU, for writing. Not inside a capture.
void* HostData(Tensor& t);

// The only place that reduces gradients of a pass: reduces one tensor's elements over all ranks, in
// place, in two steps. A capture records both calls. Both throw the communicator's errors.
class Reduction {
 public:
  // `group`: device/comm/groups.h.
  Reduction(comm::Reduction how, int64_t group) : how_(how), group_(group) {}

  // The elements belong to the call until Wait. All ranks start the same reductions in the same
  // order. Requires: a row-major tensor.
  void Start(const Tensor& tensor);
  // Requires: started.
  void Wait();
  // Waits, if a reduction was started, and ignores its error.
  void Drop() noexcept;

 private:
  comm::Reduction how_;
  int64_t group_;
  Tensor tensor_;  // on its way; undefined: none
};

}  // namespace firn::nn::parallel::internal

#endif  // FIRN_NN_PARALLEL_INTERNAL_REDUCTION_H_
