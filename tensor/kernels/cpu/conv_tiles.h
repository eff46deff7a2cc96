#ifndef FIRN_TENSOR_KERNELS_CPU_CONV_TILES_H_
#define FIRN_TENSOR_KERNELS_CPU_CONV_TILES_H_

// Weight gradients in bf16 where the processor multiplies tiles of matrices (AMX). A NaN or an
// infinity of x or y can give NaN at other places of the kernel for its channel.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "firn/tensor/problems/conv_problem.h"
#include "firn/tensor/spec.h"

namespace firn::cpu {

struct TileConv;

// How to compute the weight gradient of the problem, or the reason why this kernel does not.
// Requires: `p` is of three dimensions (ConvProblem::Lifted).
absl::StatusOr<std::shared_ptr<const TileConv>> TileConvFor(const ConvProblem& p, DType dtype);

size_t TileConvWorkspace(const TileConv& conv);

// x and y: the channels of a pixel side by side, all of them or in blocks of 16, as the specs say;
// weight: row-major, overwritten.
void TileConvWeightGrad(const TileConv& conv, const TensorSpec& x_spec, const void* x,
                        const TensorSpec& y_spec, const void* y, void* weight, void* workspace);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CONV_TILES_H_
