#ifndef FIRN_TENSOR_KERNELS_CPU_CONV_BYTES_H_
#define FIRN_TENSOR_KERNELS_CPU_CONV_BYTES_H_

// Convolutions of bytes through oneDNN, images channels-last, a few at a time, so that the caller
// uses the sums while they are in cache.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn::cpu {

// One problem with the zero point of its images, and its primitive for the number of threads at the
// time when it was made. Immutable: any thread may run it.
struct ByteSums;

// For images of u8 or i8, of which `zero` is subtracted, and weights of i8. Errors: Unimplemented,
// oneDNN cannot do it, does not multiply bytes exactly (MultipliesBytes) or has only a slow way.
absl::StatusOr<std::shared_ptr<const ByteSums>> MakeByteSums(const ConvProblem& p, DType x,
                                                             int32_t zero);
// The same for the threads there are now, for weights that were packed for `conv`; returns `conv`
// where oneDNN would want them in another layout.
std::shared_ptr<const ByteSums> ForThreadsNow(std::shared_ptr<const ByteSums> conv);

const ConvProblem& ByteSumsProblem(const ByteSums& conv);

// Lays out weights [out, in / groups, kernel] as the problem reads them.
size_t PackedWeightBytes(const ByteSums& conv);
absl::Status PackWeights(const ByteSums& conv, const int8_t* weight, void* packed);

size_t ByteSumsWorkspace(const ByteSums& conv);

// Calls take(first, pixels, sums) for one run of pixels of [batch, out_size] after the other, until
// all are done: sums [pixels, out] of (x - zero) * weight, rounded to f32. Images have their
// channels last.
absl::Status RunByteSums(
    const ByteSums& conv, const void* x, const void* packed_weight, void* workspace,
    absl::FunctionRef<void(int64_t first, int64_t pixels, const int32_t* sums)> take);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CONV_BYTES_H_
