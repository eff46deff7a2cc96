// generator_position: a copy of the generator's state, and then the addition that moves it on.

#include "firn/tensor/kernels/cuda/random.cuh"
#include "firn/tensor/ops/random/generator_position.h"

namespace firn::generator_position_cuda {
namespace {

struct CopyPositionBody {
  const int64_t* state;
  int64_t* position;

  FIRN_HOST_DEVICE void operator()(int64_t i) const { position[i] = state[i]; }
};

absl::Status Run(KernelContext& k) {
  FIRN_RETURN_IF_ERROR(cuda::ForEach(k, 2, CopyPositionBody{k.in<int64_t>(0), k.out<int64_t>()}));
  return cuda::TakeCounters(k, 0, k.attrs<PositionAttrs>().counters);
}

FIRN_REGISTER_KERNELS(generator_position) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}};
}

}  // namespace
}  // namespace firn::generator_position_cuda
