#ifndef FIRN_TENSOR_OPS_NORM_BATCH_NORM_H_
#define FIRN_TENSOR_OPS_NORM_BATCH_NORM_H_

#include <cstdint>

#include "firn/tensor/problems/norm_options.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct BatchNormOptions {
  bool training = false;
  double momentum = 0.1;
  double eps = 1e-5;
  // Applied to the result in the same pass.
  FusedActivation activation = FusedActivation::kNone;
  // SyncBatchNorm's: the ranks whose batches count, as AllReduceOptions::group.
  int64_t group = 0;
};

// Batch normalisation (Ioffe & Szegedy, 2015; PyTorch's batch_norm) over all dimensions but the
// second:
//   y = activation((x - mean) / sqrt(var + eps) * weight + bias)
// Training uses the batch's mean and biased variance and moves the running ones in place:
// new = (1 - momentum) old + momentum batch, with the unbiased variance. Otherwise the running ones
// are used. With undefined running statistics, the batch's are always used. Undefined weight, bias:
// 1, 0.
// x: [n, c, ...], more than one value per channel in training
// others: [c], of x's dtype or all f32 where x is of a half type, as under AutocastScope
// Throws kInvalidArgument for other shapes and, in training, other dtypes.
Tensor BatchNorm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                 const Tensor& weight = {}, const Tensor& bias = {},
                 const BatchNormOptions& options = {});

// BatchNorm whose statistics in training are those of the batches of all ranks of a group
// (PyTorch's SyncBatchNorm): as if one rank had all their rows. Batches may differ in size and may
// be empty; each value counts once. The running statistics become the same bits on all ranks. One
// collective call in the forward pass, one in the backward pass: all ranks make both, or others
// wait for them. The gradients of weight and bias are those of the rank's own rows. In a group of
// one rank, and in evaluation, which makes no collective call, this is BatchNorm.
Tensor SyncBatchNorm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                     const Tensor& weight = {}, const Tensor& bias = {},
                     const BatchNormOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_NORM_BATCH_NORM_H_
