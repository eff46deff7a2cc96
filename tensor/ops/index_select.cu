// index_select on CUDA: a thread for as many bytes of a run as it can copy at once, up to 16. An
// index outside x's dimension gives zeros and is noted.
#include "tensor/index_rules.h"
#include "tensor/kernels/cuda/divide.cuh"
#include "tensor/kernels/cuda/for_each.cuh"
#include "tensor/kernels/cuda/index_range.cuh"
#include "tensor/ops/index_select.h"

namespace firn::index_select_cuda {
namespace {

constexpr cuda::IndexSite kSite = {"index_select", "indices"};

struct alignas(16) Bytes16 {
  uint64_t v[2];
};

// y[b, o, k, :] = x[b, o, indices[b, k], :]
template <class W, class I>
struct SelectBody {
  const W* x;
  const I* indices;
  W* y;
  int64_t outer, n, count, inner;
  cuda::IndexRange range;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t line = i;
    const int64_t at = cuda::TakeDigit(line, inner), position = cuda::TakeDigit(line, count);
    int64_t batch = line;
    cuda::TakeDigit(batch, outer);
    const int64_t place = range(indices[batch * count + position]);
    y[i] = place < 0 ? W{} : x[(line * n + place) * inner + at];
  }
};

template <class W>
absl::Status Select(KernelContext& k, const IndexPlan& p, int64_t inner) {
  return VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
    return cuda::ForEach(k, p.batch * p.outer * p.count * inner,
                         SelectBody<W, I>{k.in<W>(0),
                                          k.in<I>(1),
                                          k.out<W>(),
                                          p.outer,
                                          p.n,
                                          p.count,
                                          inner,
                                          {cuda::IndexFaults(k, kSite), -p.n, p.n, p.ignored}});
  });
}

absl::Status Run(KernelContext& k) {
  FIRN_ASSIGN_OR_RETURN(const IndexPlan p, PlanIndex(k.in_spec(0).shape, k.in_spec(1).shape,
                                                     k.attrs<IndexSelectAttrs>()));
  const int64_t bytes = p.inner * SizeOf(k.in_spec(0).dtype);
  const auto whole = [&](int64_t size) {
    return (static_cast<uint64_t>(bytes) | reinterpret_cast<uintptr_t>(k.in<void>(0)) |
            reinterpret_cast<uintptr_t>(k.out<void>())) %
               static_cast<uint64_t>(size) ==
           0;
  };
  if (whole(16)) return Select<Bytes16>(k, p, bytes / 16);
  if (whole(8)) return Select<uint64_t>(k, p, bytes / 8);
  if (whole(4)) return Select<uint32_t>(k, p, bytes / 4);
  if (whole(2)) return Select<uint16_t>(k, p, bytes / 2);
  return Select<uint8_t>(k, p, bytes);
}

FIRN_REGISTER_KERNELS(index_select) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}};
}

}  // namespace
}  // namespace firn::index_select_cuda
