// Both compute like the CPU. arange: in double for floats and modulo 2^64 for the others. linspace:
// the first half from the start and the second from the end.

#include "firn/tensor/kernels/cuda/elements.cuh"
#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/range.h"

namespace firn::range_cuda {
namespace {

struct ArangeBody {
  void* out;
  DType dtype;
  bool floating;
  int64_t n;
  double start, step;
  uint64_t first, stride;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    if (floating) {
      cuda::Elements<double, 4> v;
      for (int j = 0; j < 4; ++j) {
        v.v[j] = start + static_cast<double>(4 * i + j) * step;
      }
      cuda::StoreElementsAs(dtype, out, 4 * i, n, v);
    } else {
      cuda::Elements<uint64_t, 4> v;
      for (int j = 0; j < 4; ++j) v.v[j] = first + static_cast<uint64_t>(4 * i + j) * stride;
      cuda::StoreElementsAs(dtype, out, 4 * i, n, v);
    }
  }
};

absl::Status RunArange(KernelContext& k) {
  const ArangeAttrs& a = k.attrs<ArangeAttrs>();
  const DType dtype = k.out_spec().dtype;
  const ArangeBody body = {k.out<void>(),
                           dtype,
                           IsFloating(dtype),
                           a.size,
                           a.start,
                           a.step,
                           static_cast<uint64_t>(a.first),
                           static_cast<uint64_t>(a.stride)};
  return cuda::ForEach(k, (a.size + 3) / 4, body);
}

FIRN_REGISTER_KERNELS(arange) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunArange}};
}

struct LinspaceBody {
  void* out;
  DType dtype;
  int64_t n;
  double start, end, step;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    cuda::Elements<double, 4> v;
    for (int j = 0; j < 4; ++j) {
      const int64_t at = 4 * i + j, rest = n - 1 - at;
      v.v[j] = at <= (n - 1) / 2 ? start + static_cast<double>(at) * step
                                 : end - static_cast<double>(rest) * step;
    }
    cuda::StoreElementsAs(dtype, out, 4 * i, n, v);
  }
};

absl::Status RunLinspace(KernelContext& k) {
  const LinspaceAttrs& a = k.attrs<LinspaceAttrs>();
  const int64_t last = a.steps - 1;
  const double step = last > 0 ? (a.end - a.start) / static_cast<double>(last) : 0;
  const LinspaceBody body = {k.out<void>(), k.out_spec().dtype, a.steps, a.start, a.end, step};
  return cuda::ForEach(k, (a.steps + 3) / 4, body);
}

FIRN_REGISTER_KERNELS(linspace) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunLinspace}};
}

}  // namespace
}  // namespace firn::range_cuda
