// full: a thread writes sixteen bytes, filled with the value.

#include <cstring>

#include "firn/tensor/kernels/convert_number.h"
#include "firn/tensor/kernels/cuda/elements.cuh"
#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"

namespace firn::constant_cuda {
namespace {

using Bytes = cuda::Elements<uint8_t, 16>;

struct FillBody {
  uint8_t* out;
  int64_t bytes;
  Bytes value;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    cuda::StoreElements(out, 16 * i, bytes, value);
  }
};

absl::Status Run(KernelContext& k) {
  FillBody body = {k.out<uint8_t>()};
  const DType dtype = k.out_spec().dtype;
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    const T value = ConvertNumber<T>(k.attrs<FullAttrs>().value);
    for (size_t i = 0; i < sizeof(Bytes); i += sizeof(T)) {
      std::memcpy(body.value.v + i, &value, sizeof(T));
    }
  });
  body.bytes = k.out_spec().num_elements() * SizeOf(dtype);
  return cuda::ForEach(k, (body.bytes + 15) / 16, body);
}

FIRN_REGISTER_KERNELS(full) { return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}}; }

}  // namespace
}  // namespace firn::constant_cuda
