#ifndef FIRN_TENSOR_GLOBAL_NUMBER_H_
#define FIRN_TENSOR_GLOBAL_NUMBER_H_

#include <functional>

#include "firn/tensor/tensor.h"

namespace firn {

namespace comm {
class Communicator;  // firn/device/comm/communicator.h
}

// How a number that each of several ranks has becomes one of all ranks, for what decides by it:
// clipping by a norm, a step that is left out. Empty, as by default: there is one rank, and a
// number is what it is.
//
//   optim::LossScaler scaler({.global = OfAllRanks(*comm)});
//
// Both functions are called by all ranks, in the same order, with tensors of one shape, f32, f64 or
// i64, and give a new one of that kind: element by element the ranks' sum, and the largest, on all
// the same. Within a captured step they have to call operations, so that each run agrees anew;
// OfAllRanks does not.
struct GlobalNumber {
  std::function<Tensor(const Tensor&x)> sum = {}, largest = {};
  explicit operator bool() const { return sum != nullptr && largest != nullptr; }
};

// By the communicator, which must live longer than what this gives. Waits for the other ranks, and
// for the device of x. What it gives throws the communicator's errors, and kFailedPrecondition
// within a capture.
GlobalNumber OfAllRanks(comm::Communicator& ranks);

// Whether `flag` (bool, 0-d) is true on any rank, on all the same; the flag itself where `global`
// is empty.
Tensor OnAnyRank(const Tensor& flag, const GlobalNumber& global);

}  // namespace firn

#endif  // FIRN_TENSOR_GLOBAL_NUMBER_H_
