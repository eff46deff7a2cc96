// pad: each element of the result finds where it comes from. Elements move as words of their size.
//
// pad_grad: each element of the result adds up its copies.

#include <cstring>

#include "tensor/kernels/convert.h"
#include "tensor/kernels/cuda/divide.cuh"
#include "tensor/kernels/cuda/for_each.cuh"
#include "tensor/kernels/width.h"
#include "tensor/ops/shape/padding.h"

namespace firn::pad_cuda {
namespace {

template <class Word>
struct PadBody {
  const Word* x;
  Word* y;
  Word value;
  int rank;
  PadDim dims[kMaxRank];
  int64_t strides[kMaxRank];

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t rest = i, from = 0;
    bool constant = false;
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t source = dims[d].Source(cuda::TakeDigit(rest, dims[d].padded()));
      constant |= source < 0;
      from += source * strides[d];
    }
    y[i] = constant ? value : x[from];
  }
};

absl::Status RunPad(KernelContext& k) {
  const TensorSpec& x = k.in_spec(0);
  const PadAttrs& a = k.attrs<PadAttrs>();
  FIRN_ASSIGN_OR_RETURN(const PadDims dims, ResolvePadding(x.shape, a));
  uint64_t bits = 0;  // of the constant
  VisitDType(x.dtype, [&]<class T>(TypeTag<T>) {
    const T value = ConvertTo<T>(a.value);
    std::memcpy(&bits, &value, sizeof(T));
  });
  return VisitWidth(x.dtype, [&]<class Word>(TypeTag<Word>) {
    PadBody<Word> body = {.x = k.in<Word>(0),
                          .y = k.out<Word>(),
                          .value = static_cast<Word>(bits),
                          .rank = static_cast<int>(dims.size())};
    std::copy(dims.begin(), dims.end(), body.dims);
    for (int d = 0; d < body.rank; ++d) body.strides[d] = x.layout.strides[d];
    return cuda::ForEach(k, k.out_spec().num_elements(), body);
  });
}

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

absl::Status RunPadGrad(KernelContext& k) {
  FIRN_ASSIGN_OR_RETURN(const PadDims dims,
                        ResolveUnpadding(k.in_spec(0).shape, k.attrs<PadAttrs>()));
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    UnpadBody<T> body = {.dy = k.in<T>(0), .dx = k.out<T>(), .rank = static_cast<int>(dims.size())};
    std::copy(dims.begin(), dims.end(), body.dims);
    return cuda::ForEach(k, k.out_spec().num_elements(), body);
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(pad) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunPad, .takes = Takes::kStrided}};
}

FIRN_REGISTER_KERNELS(pad_grad) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunPadGrad}};
}

}  // namespace firn::pad_cuda
