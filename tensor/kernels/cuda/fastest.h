#ifndef FIRN_TENSOR_KERNELS_CUDA_FASTEST_H_
#define FIRN_TENSOR_KERNELS_CUDA_FASTEST_H_

#include <cstddef>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace firn::cuda {

// Runs a candidate once and says how long it took. Units are the caller's.
using TimeOnce = absl::FunctionRef<absl::StatusOr<float>(size_t candidate)>;

// The candidate with the smallest median of `repeats` times, the first of those that share it; all
// are run once before, without counting. Turns are taken, so that a device that slows down does so
// for all of them. A candidate with an error, or with three times the best time of a turn, is not
// run again. No value when all have errors. Requires: repeats >= 1.
std::optional<size_t> Fastest(size_t candidates, int repeats, TimeOnce time);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_FASTEST_H_
