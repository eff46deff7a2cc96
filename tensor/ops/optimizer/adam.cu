// adam_step on CUDA: the scalars of every parameter, then all elements in chunks.

#include "tensor/kernels/cuda/multi_tensor.cuh"
#include "tensor/kernels/functor.h"
#include "tensor/ops/optimizer/adam_fn.h"

namespace firn::adam_cuda {
namespace {

// For each parameter, see kernels/optimizer_inputs.h:
enum Input { kParam, kGrad, kMean, kVar, kMaxVar, kStep, kCycle };

struct ScalarsFn {
  AdamStepAttrs a;
  FIRN_HOST_DEVICE AdamScalars operator()(double lr, int64_t taken) const {
    return AdamScalarsOf(a, lr, taken + 1);
  }
};

template <class T>
struct AdamBody {
  cuda::TensorTable<5> table;  // parameters, gradients, moments, maxima (may be null)
  const AdamScalars* scalars;
  const bool* skip;  // may be null

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t chunk) const {
    using C = ComputeOf<T>;
    if (skip != nullptr && *skip) return;
    const cuda::Piece piece = table.PieceOf(chunk);
    T* const p = static_cast<T*>(table.arrays[piece.entry][0]);
    const T* const g = static_cast<const T*>(table.arrays[piece.entry][1]);
    T* const m = static_cast<T*>(table.arrays[piece.entry][2]);
    T* const v = static_cast<T*>(table.arrays[piece.entry][3]);
    T* const max_v = static_cast<T*>(table.arrays[piece.entry][4]);
    const AdamFn<C> f(scalars[table.id[piece.entry]]);
    for (int64_t i = piece.begin + team.rank(); i < piece.end; i += team.size()) {
      const C x = static_cast<C>(p[i]);
      C mean = static_cast<C>(m[i]), var = static_cast<C>(v[i]);
      f.Moments(x, static_cast<C>(g[i]), mean, var);
      C u = var;
      if (max_v != nullptr) {
        const C top = static_cast<C>(max_v[i]);
        u = top > var ? top : var;
        max_v[i] = static_cast<T>(u);
      }
      m[i] = static_cast<T>(mean);
      v[i] = static_cast<T>(var);
      p[i] = static_cast<T>(f.Param(x, mean, u));
    }
  }
};

size_t Workspace(const KernelQuery& q) {
  return static_cast<size_t>(q.num_inputs() / kCycle) * sizeof(AdamScalars);
}

absl::Status Run(KernelContext& k) {
  FIRN_RETURN_IF_ERROR(
      cuda::MakeStepScalars(k, kCycle, kStep, ScalarsFn{k.attrs<AdamStepAttrs>()}));
  return cuda::VisitTables<5>(
      k, kFirstParam, kCycle, {kParam, kGrad, kMean, kVar, kMaxVar},
      [&]<class T>(TypeTag<T>, const auto& table) {
        return cuda::ForEachChunk(
            k, table, AdamBody<T>{table, k.workspace<AdamScalars>(), k.in<bool>(kSkip)});
      });
}

FIRN_REGISTER_KERNELS(adam_step) {
  return {{.name = "loop", .device = DeviceType::kCuda, .workspace = Workspace, .run = Run}};
}

}  // namespace
}  // namespace firn::adam_cuda
