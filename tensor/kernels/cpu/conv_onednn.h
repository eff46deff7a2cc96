#ifndef FIRN_TENSOR_KERNELS_CPU_CONV_ONEDNN_H_
#define FIRN_TENSOR_KERNELS_CPU_CONV_ONEDNN_H_

// Convolutions through oneDNN in f32, and in bf16 where the processor multiplies that, for images
// of one to three dimensions that are row-major, channel-blocked or channels-last.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/tensor/kernels/cpu/winograd.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn::cpu {

// A block of channels: those of a pixel are neighbours.
inline constexpr uint8_t kChannelsLast = 1;

// The channel blocks (0: row-major) in which oneDNN has a fast kernel for x and y, or
// kChannelsLast.
struct ConvLayouts {
  uint8_t x = 0, y = 0;
  bool operator==(const ConvLayouts&) const = default;
};

// A pass of one problem: the library's primitive for the number of threads at the time when it was
// made. Any thread may run it.
struct OneDnnConv;

// Errors: Unimplemented, `dtype` is neither f32 nor a bf16 that the processor multiplies, or the
// library has only its reference kernel. Each thread keeps them, so that asking for a problem again
// costs a look-up. `given`: the layouts that x and y have or should get; AMX, which needs an order
// of its own, converts them from these.
absl::StatusOr<std::shared_ptr<const OneDnnConv>> OneDnnConvFor(const ConvProblem& p, ConvPass pass,
                                                                DType dtype, bool bias,
                                                                const ConvLayouts& given);

ConvLayouts OneDnnConvLayouts(const OneDnnConv& conv);

// Whether it multiplies by the processor's instructions for tiles of matrices (AMX).
bool OneDnnConvWithTiles(const OneDnnConv& conv);

// Scratch bytes: packed operands and the library's scratchpad.
size_t OneDnnConvWorkspace(const OneDnnConv& conv);

// Whether the weight is packed into a layout of the primitive's own, which depends on the number of
// threads that it was made for, and how many bytes it has there.
bool OneDnnConvPacksWeight(const OneDnnConv& conv);
size_t OneDnnConvWeightBytes(const OneDnnConv& conv);
int OneDnnConvThreads(const OneDnnConv& conv);
ConvPass OneDnnConvPass(const OneDnnConv& conv);
absl::Status OneDnnConvPackWeight(const OneDnnConv& conv, const void* weight, void* packed);

// `conv` on a weight that OneDnnConvPackWeight laid out for the same problem with `threads`
// threads: with as many threads as OpenMP has now where their layout is the same, otherwise with
// `threads`. Requires: no gradient of the weight. Errors: those of OneDnnConvFor.
absl::StatusOr<std::shared_ptr<const OneDnnConv>> OneDnnConvOfPacked(
    const std::shared_ptr<const OneDnnConv>& conv, int threads);

// Runs the pass on tensors of its dtype; x and y in OneDnnConvLayouts, weight row-major
// [out, in / groups, kernel].
// Forward: y from x, weight, bias (null: made without). Data: x from y, weight. Weight: weight from
// x, y.
absl::Status OneDnnConvRun(const OneDnnConv& conv, void* x, void* weight, void* bias, void* y,
                           void* workspace);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CONV_ONEDNN_H_
