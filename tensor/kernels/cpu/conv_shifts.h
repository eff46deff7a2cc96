#ifndef FIRN_TENSOR_KERNELS_CPU_CONV_SHIFTS_H_
#define FIRN_TENSOR_KERNELS_CPU_CONV_SHIFTS_H_

// Convolutions of few channels a group, depthwise ones above all, on row-major tensors.

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/conv_pass.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn::cpu {

struct ShiftConv;

// How to compute one pass of the problem, or why these loops do not. Takes every floating type.
// Requires: `p` is of three dimensions (ConvProblem::Lifted).
absl::StatusOr<std::shared_ptr<const ShiftConv>> ShiftConvFor(const ConvProblem& p, ConvPass pass,
                                                              DType dtype);

// Scratch bytes of ShiftConvRun. Does not depend on the threads.
size_t ShiftConvWorkspace(const ShiftConv& conv);

// Forward: y from x, weight, bias (may be null). Data: x from y, weight. Weight: weight from x, y.
// Adds up in f32, or in f64 for f64; the results do not depend on the threads. Requires:
// `workspace` is aligned to 64 bytes.
void ShiftConvRun(const ShiftConv& conv, void* x, void* weight, const void* bias, void* y,
                  void* workspace);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CONV_SHIFTS_H_
