// pad_grad: each element of the result adds up its copies.
#include "tensor/kernels/cuda/divide.cuh"
#include "tensor/kernels/cuda/for_each.cuh"
#include "tensor/padding.h"

namespace firn::pad_grad_cuda {
namespace {

template <class T>
struct UnpadBody {
  using Acc = AccumulatorOf<T>;
  const T* dy;
  T* dx;
  int rank;
  PadDim dims[kMaxRank];

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    PadDim::Ranges copies[kMaxRank];
    int64_t rest = i, combinations = 1;
    for (int d = rank - 1; d >= 0; --d) {
      copies[d] = dims[d].CopiesOf(cuda::TakeDigit(rest, dims[d].size));
      combinations *= copies[d].count();
    }
    Acc sum = 0;
    for (int64_t c = 0; c < combinations; ++c) {
      int64_t which = c, from = 0, stride = 1;
      for (int d = rank - 1; d >= 0; --d) {
        from += copies[d][cuda::TakeDigit(which, copies[d].count())] * stride;
        stride *= dims[d].padded();
      }
      sum += static_cast<Acc>(dy[from]);
    }
    dx[i] = static_cast<T>(sum);
  }
};

absl::Status Run(KernelContext& k) {
  FIRN_ASSIGN_OR_RETURN(const PadDims dims,
                        ResolveUnpadding(k.in_spec(0).shape, k.attrs<PadAttrs>()));
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    UnpadBody<T> body = {.dy = k.in<T>(0), .dx = k.out<T>(), .rank = static_cast<int>(dims.size())};
    std::copy(dims.begin(), dims.end(), body.dims);
    return cuda::ForEach(k, k.out_spec().num_elements(), body);
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(pad_grad) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}};
}

}  // namespace firn::pad_grad_cuda
