// clip_grad_value: all elements in chunks.
#include "tensor/kernels/cuda/multi_tensor.cuh"
#include "tensor/kernels/functor.h"
#include "tensor/ops/clip_grad_value.h"

namespace firn::clip_grad_value_cuda {
namespace {

using Table = cuda::TensorTable<1>;

template <class T>
struct ClipBody {
  Table table;
  ComputeOf<T> limit;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t chunk) const {
    const cuda::Piece piece = table.PieceOf(chunk);
    T* const x = static_cast<T*>(table.arrays[piece.entry][0]);
    for (int64_t i = piece.begin + team.rank(); i < piece.end; i += team.size()) {
      const ComputeOf<T> v = static_cast<ComputeOf<T>>(x[i]);
      const ComputeOf<T> above = v > limit ? limit : v;
      x[i] = static_cast<T>(above < -limit ? -limit : above);
    }
  }
};

absl::Status Run(KernelContext& k) {
  const double limit = k.attrs<ClipGradValueAttrs>().limit;
  return cuda::VisitTables<1>(k, 0, 1, {0}, [&]<class T>(TypeTag<T>, const Table& table) {
    return cuda::ForEachChunk(k, table, ClipBody<T>{table, static_cast<ComputeOf<T>>(limit)});
  });
}

FIRN_REGISTER_KERNELS(clip_grad_value) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = Run}};
}

}  // namespace
}  // namespace firn::clip_grad_value_cuda
