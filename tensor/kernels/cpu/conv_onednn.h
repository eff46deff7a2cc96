#ifndef FIRN_TENSOR_KERNELS_CPU_CONV_ONEDNN_H_
#define FIRN_TENSOR_KERNELS_CPU_CONV_ONEDNN_H_

// f32 convolutions through oneDNN, for images of one to three dimensions that are row-major or
// channel-blocked.

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensor/kernels/cpu/winograd.h"
#include "tensor/ops/conv/conv_problem.h"

namespace firn::cpu {

// The channel blocks (0: row-major) in which oneDNN has a fast kernel for x and y.
struct ConvLayouts {
  uint8_t x = 0, y = 0;
};
ConvLayouts OneDnnConvLayouts(const ConvProblem& p, ConvPass pass, bool bias);

// OK if oneDNN has more than its reference kernel for this pass; else why not.
absl::Status OneDnnConvSupports(const ConvProblem& p, ConvPass pass, bool bias);

// Scratch bytes: packed weights and the library's scratchpad. Requires: OneDnnConvSupports.
size_t OneDnnConvWorkspace(const ConvProblem& p, ConvPass pass, bool bias);

// Runs one pass; x and y in OneDnnConvLayouts, weight row-major [out, in / groups, kernel].
// Forward: y from x, weight, bias (may be null). Data: x from y, weight. Weight: weight from x, y.
absl::Status OneDnnConvRun(const ConvProblem& p, ConvPass pass, float* x, float* weight,
                           float* bias, float* y, void* workspace);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CONV_ONEDNN_H_
