#ifndef FIRN_TENSOR_GLOBAL_NUMBER_H_
#define FIRN_TENSOR_GLOBAL_NUMBER_H_

#include <functional>

#include "firn/tensor/tensor.h"

namespace firn {

namespace comm {
class Communicator;  // firn/device/comm/communicator.h
}

// How a number that each of several ranks has becomes one number for all ranks, for code that
// decides by it: clipping by a norm, skipping a step. If empty, which is the default, there is one
// rank, and numbers stay as they are.
//
//   optim::LossScaler scaler({.global = OfAllRanks(*comm)});
//
// Both functions are called by all ranks, in the same order, with tensors of one shape, f32, f64 or
// i64, and give a new one of that kind: the sum over the ranks and the largest, element by element,
// the same on all ranks. Within a captured step they have to call operations, so that each run
// agrees anew; OfAllRanks does not.
struct GlobalNumber {
  std::function<Tensor(const Tensor&x)> sum = {}, largest = {};
  explicit operator bool() const { return sum != nullptr && largest != nullptr; }
};

// Functions that call the communicator, which must outlive them. They wait for the other ranks and
// for the device of x, and throw the communicator's errors, and kFailedPrecondition within a
// capture.
GlobalNumber OfAllRanks(comm::Communicator& ranks);

// Whether `flag` (bool, 0-d) is true on any rank, with the same result on all; the flag itself
// where `global` is empty.
Tensor OnAnyRank(const Tensor& flag, const GlobalNumber& global);

}  // namespace firn

#endif  // FIRN_TENSOR_GLOBAL_NUMBER_H_
