// randint: two elements a counter, made as i64 and written as what the call asks for.
#include "tensor/kernels/cuda/random.cuh"
#include "tensor/ops/randint.h"

namespace firn::randint_cuda {
namespace {

struct RandintBody {
  const int64_t* state;
  void* out;
  DType dtype;
  int64_t n;
  uint64_t low, range;

  FIRN_HOST_DEVICE void operator()(int64_t c) const {
    const PhiloxResult words = PhiloxAt(cuda::StateAt(state), static_cast<uint64_t>(c));
    cuda::Elements<int64_t, 2> y;
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const uint64_t below = cpu::BelowFrom(range, words.v[2 * j], words.v[2 * j + 1]);
      y.v[j] = static_cast<int64_t>(low + below);
    }
    cuda::StoreElementsAs(dtype, out, 2 * c, n, y);
  }
};

absl::Status Run(KernelContext& k) {
  const RandintAttrs& a = k.attrs<RandintAttrs>();
  const int64_t n = k.out_spec().num_elements(), counters = cpu::CeilDiv(n, 2);
  RandintBody body = {k.in<int64_t>(0), k.out<void>(), a.dtype, n};
  body.low = static_cast<uint64_t>(a.low);
  body.range = static_cast<uint64_t>(a.high) - body.low;
  FIRN_RETURN_IF_ERROR(cuda::ForEach(k, counters, body));
  return cuda::TakeCounters(k, 0, counters);
}

FIRN_REGISTER_KERNELS(randint) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}};
}

}  // namespace
}  // namespace firn::randint_cuda
