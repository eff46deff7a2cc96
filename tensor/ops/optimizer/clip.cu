// clip_grad_norm on CUDA: a partial norm for every chunk of elements, their total in the order of
// the chunks, and a launch for the scaling that finds in memory whether there is anything to do.
//
// clip_grad_value: all elements in chunks.

#include "firn/tensor/kernels/cuda/multi_tensor.cuh"
#include "firn/tensor/kernels/functor.h"
#include "firn/tensor/ops/optimizer/clip.h"
#include "firn/tensor/ops/optimizer/clip_fn.h"

namespace firn::clip_cuda {
namespace {

using TableClipGradNorm = cuda::TensorTable<1>;

template <class T>
struct PartialBody {
  TableClipGradNorm table;
  PartialNormFn norm;
  double* partial;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t chunk) const {
    const cuda::Piece piece = table.PieceOf(chunk);
    const T* const x = static_cast<const T*>(table.arrays[piece.entry][0]);
    double sum = 0;
    for (int64_t i = piece.begin + team.rank(); i < piece.end; i += team.size()) {
      sum = norm(sum, norm.Of(static_cast<double>(static_cast<ComputeOf<T>>(x[i]))));
    }
    sum = team.Reduce(sum, norm);
    if (team.rank() == 0) partial[table.past + chunk] = sum;
  }
};

struct TotalBody {
  const double* partial;
  int64_t count;
  PartialNormFn norm;
  double max_norm;
  double* factor;
  float* out;
  double* out64;  // in place of `out`, if not null

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t) const {
    double total = 0;
    for (int64_t i = team.rank(); i < count; i += team.size()) total = norm(total, partial[i]);
    total = norm.Root(team.Reduce(total, norm));
    if (team.rank() != 0) return;
    *factor = ClipFactor(max_norm, total);
    if (out64 != nullptr) {
      *out64 = total;
    } else {
      *out = static_cast<float>(total);
    }
  }
};

template <class T>
struct ScaleBody {
  TableClipGradNorm table;
  const double* factor;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t chunk) const {
    using C = ComputeOf<T>;
    if (*factor >= 1) return;  // not for NaN, which turns all elements into NaN
    const cuda::Piece piece = table.PieceOf(chunk);
    T* const x = static_cast<T*>(table.arrays[piece.entry][0]);
    const C scale = static_cast<C>(*factor);
    for (int64_t i = piece.begin + team.rank(); i < piece.end; i += team.size()) {
      x[i] = static_cast<T>(static_cast<C>(x[i]) * scale);
    }
  }
};

// The factor, and a partial norm for each chunk.
size_t Workspace(const KernelQuery& q) {
  int64_t chunks = 0;
  for (int i = 0; i < q.num_inputs(); ++i) chunks += cuda::NumChunks(q.in(i).num_elements());
  return static_cast<size_t>(1 + chunks) * sizeof(double);
}

absl::Status RunClipGradNorm(KernelContext& k) {
  const ClipGradNormAttrs& a = k.attrs<ClipGradNormAttrs>();
  double* const factor = k.workspace<double>();
  double* const partial = factor + 1;
  int64_t chunks = 0;
  FIRN_RETURN_IF_ERROR(
      cuda::VisitTables<1>(k, 0, 1, {0}, [&]<class T>(TypeTag<T>, const TableClipGradNorm& table) {
        chunks += table.chunks;
        return cuda::ForEachChunk(k, table, PartialBody<T>{table, {a.p}, partial});
      }));
  const bool wide = k.out_spec().dtype == DType::kF64;
  FIRN_RETURN_IF_ERROR(cuda::ForEachLine(k, 1, chunks,
                                         TotalBody{partial,
                                                   chunks,
                                                   {a.p},
                                                   a.max_norm,
                                                   factor,
                                                   k.out<float>(),
                                                   wide ? k.out<double>() : nullptr}));
  return cuda::VisitTables<1>(k, 0, 1, {0},
                              [&]<class T>(TypeTag<T>, const TableClipGradNorm& table) {
                                return cuda::ForEachChunk(k, table, ScaleBody<T>{table, factor});
                              });
}

FIRN_REGISTER_KERNELS(clip_grad_norm) {
  return {{.name = "loop",
           .device = DeviceType::kCuda,
           .workspace = Workspace,
           .run = RunClipGradNorm}};
}

using TableClipGradValue = cuda::TensorTable<1>;

template <class T>
struct ClipBody {
  TableClipGradValue table;
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

absl::Status RunClipGradValue(KernelContext& k) {
  const double limit = k.attrs<ClipGradValueAttrs>().limit;
  return cuda::VisitTables<1>(
      k, 0, 1, {0}, [&]<class T>(TypeTag<T>, const TableClipGradValue& table) {
        return cuda::ForEachChunk(k, table, ClipBody<T>{table, static_cast<ComputeOf<T>>(limit)});
      });
}

FIRN_REGISTER_KERNELS(clip_grad_value) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunClipGradValue}};
}

}  // namespace
}  // namespace firn::clip_cuda
