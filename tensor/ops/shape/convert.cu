// cast: a kernel for each dtype that is read. What it is converted to is a number of the call, the
// same for all threads.

#include "firn/tensor/kernels/cuda/elements.cuh"
#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/functor.h"
#include "firn/tensor/kernels/loop_plan.h"
#include "firn/tensor/op.h"

namespace firn::convert_cuda {
namespace {

// Four elements a thread.
template <class T>
struct CastBody {
  const T* x;
  void* y;
  DType to;
  bool dense;
  int64_t n;
  int rank;  // not dense: as the plan
  int64_t sizes[kMaxRank], strides[kMaxRank];

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t at = 4 * i;
    cuda::Elements<T, 4> read = {};
    if (dense) {
      read = cuda::LoadElements<4>(x, at, n);
    } else {
      for (int j = 0; j < 4; ++j) {
        if (at + j < n) read.v[j] = x[Offset(at + j)];
      }
    }
    cuda::Elements<ComputeOf<T>, 4> v;
#pragma unroll
    for (int j = 0; j < 4; ++j) v.v[j] = static_cast<ComputeOf<T>>(read.v[j]);
    cuda::StoreElementsAs(to, y, at, n, v);
  }

  FIRN_HOST_DEVICE int64_t Offset(int64_t element) const {
    int64_t offset = 0;
    for (int d = rank - 1; d > 0; --d) offset += TakeDigit(element, sizes[d]) * strides[d];
    return offset + element * strides[0];
  }
};

absl::Status Run(KernelContext& k) {
  const TensorSpec* specs[] = {&k.out_spec(), &k.in_spec(0)};
  const LoopPlan p = PlanLoop(k.out_spec().shape, specs);
  return VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    CastBody<T> body = {k.in<T>(0), k.out<void>(), k.out_spec().dtype};
    body.dense = p.rank == 1 && p.strides[1][0] == 1;
    body.n = k.out_spec().num_elements();
    body.rank = p.rank;
    for (int d = 0; d < p.rank; ++d) {
      body.sizes[d] = p.sizes[d];
      body.strides[d] = p.strides[1][d];
    }
    return cuda::ForEach(k, (body.n + 3) / 4, body);
  });
}

FIRN_REGISTER_KERNELS(cast) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run, .takes = Takes::kElementwise}};
}

}  // namespace
}  // namespace firn::convert_cuda
