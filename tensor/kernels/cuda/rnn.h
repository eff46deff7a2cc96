#ifndef FIRN_TENSOR_KERNELS_CUDA_RNN_H_
#define FIRN_TENSOR_KERNELS_CUDA_RNN_H_

// One recurrent layer in one direction by cuDNN's functions for them.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/tensor/kernels/cuda/launch.h"
#include "firn/tensor/problems/recurrent_problem.h"

namespace firn::cuda {

struct RnnShape {
  DType dtype;
  RecurrentCell cell;
  bool biased;  // with one bias or both
  bool tf32;    // f32 may be multiplied in TF32
  int64_t steps, batch, in, hidden, state;
  auto operator<=>(const RnnShape&) const = default;
};

// cuDNN's descriptors of a layer, and the scratch memory that its calls want, in bytes.
struct RnnPlan;
struct RnnMemory {
  size_t weights = 0;                // in cuDNN's order
  size_t forward = 0, backward = 0;  // work space of a forward pass alone, and of both
  size_t reserve = 0;                // from the forward to the backward pass
};
struct RnnCall {
  std::shared_ptr<const RnnPlan> plan;
  RnnMemory memory;
  bool lasting = false;  // the plan is there for good, and its calls can be repeated
};

// `batch_sizes`: as in RecurrentLayerAttrs; empty: all sequences have all steps, and plans last.
// Errors: Unavailable where there is no cuDNN, Unimplemented where a size is no int, others from
// cuDNN where it has no such layer.
absl::StatusOr<RnnCall> FindRnn(Device device, const RnnShape& shape,
                                absl::Span<const int64_t> batch_sizes);

// The parameters of a layer, in PyTorch's layout, by position; null: not given.
struct RnnWeight {
  enum : int { kIh, kHh, kBih, kBhh, kHr, kCount };
};

struct RnnTensors {
  const void *x, *h0, *c0;
  const void* weights[RnnWeight::kCount];
  void *y, *h_n, *c_n;  // the states may be null
};
struct RnnScratch {
  void *weights, *work, *reserve;
};
absl::Status RnnForward(const Queue& queue, const RnnCall& call, const RnnTensors& tensors,
                        const RnnScratch& scratch);

struct RnnGradients {
  const void *dy, *dh_n, *dc_n;  // the states' may be null, for zeros
  void* zeros;                   // null, or memory for zeros in place of dy, which is then null
  size_t zero_bytes;
  void *dx, *dh0, *dc0;
  void* weights[RnnWeight::kCount];  // null: not wanted
  void* scratch;                     // as large as scratch.weights
};
// Runs the layer again, with its reserve, and then back.
absl::Status RnnBackward(const Queue& queue, const RnnCall& call, const RnnTensors& tensors,
                         const RnnScratch& scratch, const RnnGradients& gradients);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_RNN_H_
