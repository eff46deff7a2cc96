// one_hot on CUDA: a thread an element of the result. A row whose index is outside stays 0.
#include <cstring>

#include "tensor/kernels/cpu/index.h"
#include "tensor/kernels/cuda/for_each.cuh"
#include "tensor/kernels/cuda/index.cuh"
#include "tensor/ops/one_hot.h"

namespace firn::one_hot_cuda {
namespace {

template <class W, class I>
struct OneHotBody {
  const I* indices;
  W* y;
  int64_t classes;
  W one;  // the bits of a 1

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t row = i;
    const int64_t label = cuda::TakeDigit(row, classes);
    y[i] = indices[row] == label ? one : W{0};
  }
};

template <class W>
W BitsOfOne(DType d) {
  W bits = 0;
  VisitDType(d, [&]<class T>(TypeTag<T>) {
    const T one = T(1);
    std::memcpy(&bits, &one, std::min(sizeof(one), sizeof(bits)));
  });
  return bits;
}

absl::Status Run(KernelContext& k) {
  const DType d = k.out_spec().dtype;
  return cpu::VisitWidth(d, [&]<class W>(TypeTag<W>) {
    return VisitIndex(k.in_spec(0).dtype, [&]<class I>(TypeTag<I>) {
      return cuda::ForEach(k, k.out_spec().num_elements(),
                           OneHotBody<W, I>{k.in<I>(0), k.out<W>(),
                                            k.attrs<OneHotAttrs>().num_classes, BitsOfOne<W>(d)});
    });
  });
}

FIRN_REGISTER_KERNELS(one_hot) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}};
}

}  // namespace
}  // namespace firn::one_hot_cuda
