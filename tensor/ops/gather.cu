// gather on CUDA: a thread an index. An index outside x's dimension gives 0 and is noted.
#include "tensor/kernels/cpu/index.h"
#include "tensor/kernels/cuda/for_each.cuh"
#include "tensor/kernels/cuda/index.cuh"
#include "tensor/kernels/cuda/index_range.cuh"
#include "tensor/ops/gather.h"

namespace firn::gather_cuda {
namespace {

constexpr cuda::IndexSite kSite = {"gather", "indices"};

template <class W, class I>
struct GatherBody {
  const W* x;
  const I* indices;
  W* y;
  cuda::Steps in_x;  // of an element of the result, at index 0
  int64_t step;      // of the indexed dimension
  cuda::IndexRange range;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t place = range(indices[i]);
    y[i] = place < 0 ? W{0} : x[in_x(i) + place * step];
  }
};

absl::Status Run(KernelContext& k) {
  const Shape &x = k.in_spec(0).shape, &region = k.in_spec(1).shape;
  const int dim = *NormalizeDim(k.attrs<DimAttrs>().dim, region);
  const Dims strides = ContiguousStrides(x);
  cuda::Steps in_x;
  for (int d = 0; d < region.rank(); ++d) in_x.Add(region[d], d == dim ? 0 : strides[d]);
  const cuda::IndexRange range = {cuda::IndexFaults(k, kSite), -x[dim], x[dim]};
  return cpu::VisitWidth(k.in_spec(0).dtype, [&]<class W>(TypeTag<W>) {
    return VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
      return cuda::ForEach(
          k, region.num_elements(),
          GatherBody<W, I>{k.in<W>(0), k.in<I>(1), k.out<W>(), in_x, strides[dim], range});
    });
  });
}

FIRN_REGISTER_KERNELS(gather) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}};
}

}  // namespace
}  // namespace firn::gather_cuda
