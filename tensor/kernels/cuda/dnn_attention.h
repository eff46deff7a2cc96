#ifndef FIRN_TENSOR_KERNELS_CUDA_DNN_ATTENTION_H_
#define FIRN_TENSOR_KERNELS_CUDA_DNN_ATTENTION_H_

// Attention by cuDNN's graph API.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/cuda/launch.h"

namespace firn::cuda {

// What cuDNN wants the addresses of tensors to be multiples of, in bytes.
inline constexpr size_t kDnnAttentionAlignment = 16;

// The parts of a call on which its plan depends. Strides are in elements, in the order [batch,
// heads, rows, columns]; those of y and dy count only for the gradient, since results are dense
// [batch, rows, heads, columns].
struct DnnAttentionCall {
  using Strides = std::array<int64_t, 4>;

  bool grad = false, causal = false;
  DType dtype = DType::kF16;
  int64_t batch = 0, heads = 0, kv_heads = 0;
  int64_t queries = 0, keys = 0;
  int64_t width = 0, value_width = 0;
  Strides q = {}, k = {}, v = {}, y = {}, dy = {};

  auto operator<=>(const DnnAttentionCall&) const = default;
};

// The reasons, known without asking it, why cuDNN does not get a call: its engines take half types;
// widths that are multiples of 8 and at most 128; adjacent columns; rows that begin at multiples of
// 16 bytes; no two elements at the same address. A deterministic gradient takes memory for each
// pair of a query and a key, of which it gets 256 MiB.
absl::Status CheckDnnAttention(const DnnAttentionCall& call);

// A plan lasts as long as the process, so that calls of it can be kept and repeated.
class DnnAttentionPlan;
struct DnnAttentionMemory {
  size_t workspace = 0;  // cuDNN's own, in bytes
  int64_t row_sums = 0;  // f32 numbers: of the gradient, the sum of dy y of each query
};
struct DnnAttentionFound {
  const DnnAttentionPlan* plan = nullptr;
  DnnAttentionMemory memory;
};
// The plan of a call, made at the first time and kept; so is the reason when there is none. Making
// one compiles a kernel, which takes cuDNN seconds, so a device has 32 plans at most: a program
// whose sizes change all the time then stops waiting. Thread-safe. Errors: Unavailable without
// cuDNN 9.16 or later; Unimplemented if it takes no such call, or no more of them.
absl::StatusOr<DnnAttentionFound> FindDnnAttention(Device device, const DnnAttentionCall& call);

// Tensors of a call; y and logsumexp [batch, heads, queries] are results, or inputs of the
// gradient, which has the rest.
struct DnnAttentionTensors {
  const void *q, *k, *v, *y = nullptr, *logsumexp = nullptr;
  const void *dy = nullptr, *dq = nullptr, *dk = nullptr, *dv = nullptr;
  const void* row_sums = nullptr;
};
// Queues a call. All addresses are multiples of kDnnAttentionAlignment, `workspace` of
// kWorkspaceAlignment (workspace.h).
absl::Status RunDnnAttention(const Queue& queue, const DnnAttentionPlan& plan, double scale,
                             const DnnAttentionTensors& tensors, void* workspace);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_DNN_ATTENTION_H_
