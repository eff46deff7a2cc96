// one_hot on CUDA: a thread an element of the result. A row whose index is outside stays 0,
// and that is noted.
#include <cstring>

#include "tensor/kernels/cpu/index.h"
#include "tensor/kernels/cuda/divide.cuh"
#include "tensor/kernels/cuda/for_each.cuh"
#include "tensor/kernels/cuda/index_range.cuh"
#include "tensor/ops/one_hot.h"

namespace firn::one_hot_cuda {
namespace {

constexpr cuda::IndexSite kSite = {"one_hot", "indices"};

template <class W, class I>
struct OneHotBody {
  const I* indices;
  W* y;
  cuda::IndexRange classes;
  W one;  // the bits of a 1

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t row = i;
    const int64_t label = cuda::TakeDigit(row, classes.high);
    y[i] = classes(indices[row]) == label ? one : W{0};
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
  const cuda::IndexRange classes = {cuda::IndexFaults(k, kSite), 0,
                                    k.attrs<OneHotAttrs>().num_classes};
  return cpu::VisitWidth(d, [&]<class W>(TypeTag<W>) {
    return VisitIndex(k.in_spec(0).dtype, [&]<class I>(TypeTag<I>) {
      return cuda::ForEach(k, k.out_spec().num_elements(),
                           OneHotBody<W, I>{k.in<I>(0), k.out<W>(), classes, BitsOfOne<W>(d)});
    });
  });
}

FIRN_REGISTER_KERNELS(one_hot) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}};
}

}  // namespace
}  // namespace firn::one_hot_cuda
