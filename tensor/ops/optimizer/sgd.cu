// sgd_step on CUDA: the coefficients of every parameter, then all elements in chunks.

#include "tensor/kernels/cuda/multi_tensor.cuh"
#include "tensor/kernels/functor.h"
#include "tensor/ops/optimizer/sgd_fn.h"

namespace firn::sgd_cuda {
namespace {

// For each parameter, see kernels/optimizer_inputs.h:
enum Input { kParam, kGrad, kVelocity, kStep, kCycle };

struct ScalarsFn {
  SgdStepAttrs a;
  FIRN_HOST_DEVICE SgdCoefficients operator()(double lr, int64_t taken) const {
    if (a.momentum == 0) return {a.weight_decay, 0, 1, lr, 0};
    return SgdCoefficientsOf(a, lr, taken == 0);
  }
};

template <class T>
struct SgdBody {
  cuda::TensorTable<3> table;  // parameters, gradients, velocities
  const SgdCoefficients* scalars;
  const bool* skip;  // may be null
  bool plain;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t chunk) const {
    using C = ComputeOf<T>;
    if (skip != nullptr && *skip) return;
    const cuda::Piece piece = table.PieceOf(chunk);
    T* const p = static_cast<T*>(table.arrays[piece.entry][0]);
    const T* const g = static_cast<const T*>(table.arrays[piece.entry][1]);
    T* const v = static_cast<T*>(table.arrays[piece.entry][2]);
    const SgdCoefficients& c = scalars[table.id[piece.entry]];
    const SgdVelocityFn<C> with_velocity(c);
    const SgdPlainFn<C> without = {with_velocity.by_v, with_velocity.l2};
    for (int64_t i = piece.begin + team.rank(); i < piece.end; i += team.size()) {
      const C x = static_cast<C>(p[i]), slope = static_cast<C>(g[i]);
      if (plain) {
        p[i] = static_cast<T>(without(x, slope));
        continue;
      }
      C velocity = static_cast<C>(v[i]);
      p[i] = static_cast<T>(with_velocity(x, slope, velocity));
      v[i] = static_cast<T>(velocity);
    }
  }
};

size_t Workspace(const KernelQuery& q) {
  return static_cast<size_t>(q.num_inputs() / kCycle) * sizeof(SgdCoefficients);
}

absl::Status Run(KernelContext& k) {
  const SgdStepAttrs& a = k.attrs<SgdStepAttrs>();
  FIRN_RETURN_IF_ERROR(cuda::MakeStepScalars(k, kCycle, kStep, ScalarsFn{a}));
  return cuda::VisitTables<3>(
      k, kFirstParam, kCycle, {kParam, kGrad, kVelocity},
      [&]<class T>(TypeTag<T>, const auto& table) {
        return cuda::ForEachChunk(
            k, table,
            SgdBody<T>{table, k.workspace<SgdCoefficients>(), k.in<bool>(kSkip), a.momentum == 0});
      });
}

FIRN_REGISTER_KERNELS(sgd_step) {
  return {{.name = "loop", .device = DeviceType::kCuda, .workspace = Workspace, .run = Run}};
}

}  // namespace
}  // namespace firn::sgd_cuda
