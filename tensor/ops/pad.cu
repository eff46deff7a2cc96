// pad: each element of the result finds where it comes from. Elements move as words of their size.
#include <cstring>

#include "tensor/kernels/cpu/convert.h"
#include "tensor/kernels/cpu/index.h"
#include "tensor/kernels/cuda/divide.cuh"
#include "tensor/kernels/cuda/for_each.cuh"
#include "tensor/padding.h"

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

absl::Status Run(KernelContext& k) {
  const TensorSpec& x = k.in_spec(0);
  const PadAttrs& a = k.attrs<PadAttrs>();
  FIRN_ASSIGN_OR_RETURN(const PadDims dims, ResolvePadding(x.shape, a));
  uint64_t bits = 0;  // of the constant
  VisitDType(x.dtype, [&]<class T>(TypeTag<T>) {
    const T value = cpu::ConvertTo<T>(a.value);
    std::memcpy(&bits, &value, sizeof(T));
  });
  return cpu::VisitWidth(x.dtype, [&]<class Word>(TypeTag<Word>) {
    PadBody<Word> body = {.x = k.in<Word>(0),
                          .y = k.out<Word>(),
                          .value = static_cast<Word>(bits),
                          .rank = static_cast<int>(dims.size())};
    std::copy(dims.begin(), dims.end(), body.dims);
    for (int d = 0; d < body.rank; ++d) body.strides[d] = x.layout.strides[d];
    return cuda::ForEach(k, k.out_spec().num_elements(), body);
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(pad) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run, .takes = Takes::kStrided}};
}

}  // namespace firn::pad_cuda
