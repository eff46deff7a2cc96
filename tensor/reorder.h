#ifndef FIRN_TENSOR_REORDER_H_
#define FIRN_TENSOR_REORDER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/device/device.h"
#include "firn/tensor/strided_copy.h"
#include "firn/tensor/tensor.h"

namespace firn {

class Stream;

// Copies the elements of `src` to `dst`, between any two layouts: for a CUDA device queued on
// `stream` (a kernel hands on its context's), null being the device's own. Requires: one dtype,
// shape and device, no overlap. Errors: Unimplemented on a CUDA device between two sizes of blocks.
absl::Status CopyElements(const TensorSpec& src_spec, const void* src, const TensorSpec& dst_spec,
                          void* dst, Stream* stream = nullptr);

// The same where both lie on the CPU; cannot fail.
void CopyElementsOnCpu(const TensorSpec& src_spec, const void* src, const TensorSpec& dst_spec,
                       void* dst);

// `t` itself if it is dense with this channel block (0: contiguous), else a copy that is. Not
// recorded, because it changes only the places of elements.
absl::StatusOr<Tensor> Reordered(const Tensor& t, int channel_block);

// Makes a blocked tensor row-major in new memory; its handles see the same elements. Other tensors
// on the old memory stay there and no longer share elements with it: Storage::parted.
absl::Status LayOutRowMajor(const Tensor& t);
// The same if no other tensor shares the memory; else does nothing.
absl::Status LayOutRowMajorIfAlone(const Tensor& t);

namespace inner::internal {

// How elements of 1, 2, 4 or 8 bytes are copied on a CUDA device, dimensions outermost first.
using CudaCopyFn = absl::Status (*)(Device device, Stream* stream, absl::Span<const CopyDim> dims,
                                    int64_t size, const void* src, void* dst);
// Set by tensor/kernels/cuda where it is linked.
extern CudaCopyFn copy_on_cuda;

}  // namespace inner::internal
}  // namespace firn

#endif  // FIRN_TENSOR_REORDER_H_
