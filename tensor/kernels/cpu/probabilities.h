#ifndef FIRN_TENSOR_KERNELS_CPU_PROBABILITIES_H_
#define FIRN_TENSOR_KERNELS_CPU_PROBABILITIES_H_

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cpu/elementwise.h"
#include "firn/tensor/op.h"

namespace firn::cpu {

// OutOfRange where an element of input i, contiguous and floating, is not a probability: "p 1.5 at
// index 1 is outside [0, 1]".
template <class T>
absl::Status CheckProbabilities(const KernelContext& k, int i) {
  const auto bad = [](auto p) { return !(p >= 0) | !(p <= 1); };
  if (!AnyElement<T>(k, i, bad)) return absl::OkStatus();
  const T* const p = k.in<T>(i);
  int64_t at = 0;
  while (!bad(static_cast<double>(p[at]))) ++at;
  return OutOfRange("p ", static_cast<double>(p[at]), " at index ", at, " is outside [0, 1]");
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_PROBABILITIES_H_
