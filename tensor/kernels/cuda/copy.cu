// Strided copies on a CUDA device: what CopyElements (tensor/reorder.h) does there.
#include "tensor/kernels/cuda/divide.cuh"
#include "tensor/kernels/cuda/for_each.cuh"
#include "tensor/reorder.h"

namespace firn::cuda {
namespace {

constexpr int kDims = kMaxRank + 1;

// An element a thread, in the order of the destination.
template <class T>
struct CopyBody {
  const T* src;
  T* dst;
  int rank;
  int64_t sizes[kDims], src_steps[kDims], dst_steps[kDims];

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t from = 0, to = 0;
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t at = d == 0 ? i : TakeDigit(i, sizes[d]);
      from += at * src_steps[d];
      to += at * dst_steps[d];
    }
    dst[to] = src[from];
  }
};

template <class T>
absl::Status Copy(const Queue& queue, absl::Span<const firn::internal::CopyDim> dims,
                  const void* src, void* dst) {
  CopyBody<T> body = {static_cast<const T*>(src), static_cast<T*>(dst)};
  body.rank = static_cast<int>(dims.size());
  int64_t n = 1;
  for (int d = 0; d < body.rank; ++d) {
    const firn::internal::CopyDim& dim = dims[static_cast<size_t>(d)];
    body.sizes[d] = dim.size;
    body.src_steps[d] = dim.src;
    body.dst_steps[d] = dim.dst;
    n *= dim.size;
  }
  return ForEach(queue, n, body);
}

struct alignas(16) Bytes16 {
  uint64_t v[2];
};

absl::Status CopyElements(Device device, Stream* stream,
                          absl::Span<const firn::internal::CopyDim> dims, int64_t size,
                          const void* src, void* dst) {
  const Queue queue(device, stream);
  // One dense run: sixteen bytes a thread as far as they go.
  const firn::internal::CopyDim& run = dims[0];
  const bool aligned =
      (reinterpret_cast<uintptr_t>(src) | reinterpret_cast<uintptr_t>(dst)) % 16 == 0;
  if (dims.size() == 1 && run.src == 1 && run.dst == 1 && aligned && run.size * size % 16 == 0) {
    const firn::internal::CopyDim wide = {run.size * size / 16, 1, 1};
    return Copy<Bytes16>(queue, {&wide, 1}, src, dst);
  }
  switch (size) {
    case 1:
      return Copy<uint8_t>(queue, dims, src, dst);
    case 2:
      return Copy<uint16_t>(queue, dims, src, dst);
    case 4:
      return Copy<uint32_t>(queue, dims, src, dst);
    default:
      return Copy<uint64_t>(queue, dims, src, dst);
  }
}

FIRN_BEFORE_GLOBALS const struct Registration {
  Registration() { firn::internal::copy_on_cuda = CopyElements; }
} registration;

}  // namespace
}  // namespace firn::cuda
