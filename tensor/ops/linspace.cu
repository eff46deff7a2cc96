// linspace: the first half from the start and the second from the end, as on the CPU.
#include "tensor/kernels/cuda/elements.cuh"
#include "tensor/kernels/cuda/for_each.cuh"
#include "tensor/op.h"
#include "tensor/ops/linspace.h"

namespace firn::linspace_cuda {
namespace {

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

absl::Status Run(KernelContext& k) {
  const LinspaceAttrs& a = k.attrs<LinspaceAttrs>();
  const int64_t last = a.steps - 1;
  const double step = last > 0 ? (a.end - a.start) / static_cast<double>(last) : 0;
  const LinspaceBody body = {k.out<void>(), k.out_spec().dtype, a.steps, a.start, a.end, step};
  return cuda::ForEach(k, (a.steps + 3) / 4, body);
}

FIRN_REGISTER_KERNELS(linspace) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}};
}

}  // namespace
}  // namespace firn::linspace_cuda
