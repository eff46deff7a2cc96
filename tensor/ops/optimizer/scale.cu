// unscale_gradients on CUDA: a launch that clears the flag, then all elements in chunks; all
// threads that find an infinity or NaN write the same value into the flag.
//
// update_loss_scale on CUDA: one thread.

#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/multi_tensor.cuh"
#include "firn/tensor/kernels/functor.h"
#include "firn/tensor/ops/optimizer/scale_fn.h"

namespace firn::scale_cuda {
namespace {

enum Input { kScale, kGrads };

using Table = cuda::TensorTable<1>;

struct ClearBody {
  bool* found;
  FIRN_HOST_DEVICE void operator()(int64_t) const { *found = false; }
};

template <class T>
struct UnscaleBody {
  Table table;
  const void* scale;
  DType scale_dtype;
  bool* found;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t chunk) const {
    using C = ComputeOf<T>;
    const cuda::Piece piece = table.PieceOf(chunk);
    T* const x = static_cast<T*>(table.arrays[piece.entry][0]);
    const C by = static_cast<C>(1 / cuda::ScalarAt(scale, scale_dtype));
    bool any = false;
    for (int64_t i = piece.begin + team.rank(); i < piece.end; i += team.size()) {
      const C v = static_cast<C>(x[i]);
      any |= IsNotFinite(v);
      x[i] = static_cast<T>(v * by);
    }
    if (any) *found = true;
  }
};

absl::Status RunUnscaleGradients(KernelContext& k) {
  bool* const found = k.out<bool>();
  FIRN_RETURN_IF_ERROR(cuda::ForEach(k, 1, ClearBody{found}));
  return cuda::VisitTables<1>(k, kGrads, 1, {0}, [&]<class T>(TypeTag<T>, const Table& table) {
    return cuda::ForEachChunk(
        k, table, UnscaleBody<T>{table, k.in<void>(kScale), k.in_spec(kScale).dtype, found});
  });
}

FIRN_REGISTER_KERNELS(unscale_gradients) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunUnscaleGradients}};
}

absl::Status RunUpdateLossScale(KernelContext& k) {
  return cuda::ForEach(k, 1,
                       UpdateLossScaleFn{k.attrs<UpdateLossScaleAttrs>(), k.inout<float>(0),
                                         k.inout<int64_t>(1), k.inout<bool>(2), k.in<bool>(3)});
}

FIRN_REGISTER_KERNELS(update_loss_scale) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunUpdateLossScale}};
}

}  // namespace
}  // namespace firn::scale_cuda
