// Tiles take every call; the portable kernels, a thread for each query and some columns, stay as
// what they are compared with.

#include <type_traits>

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/attention.cuh"
#include "firn/tensor/kernels/cuda/attention_grad.cuh"
#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/attention/attention_body.h"

namespace firn {
namespace attention_cuda {
namespace {

using In = AttentionIn;
using GradIn = AttentionGradIn;

// f(TypeTag<Acc>, squares): with the type that is computed in, and as many squares of sums as a
// block of rows so wide needs, one or two.
template <class F>
absl::Status VisitTiles(DType dtype, int64_t columns, const F& f) {
  const auto with = [&]<class Acc>(TypeTag<Acc> tag) -> absl::Status {
    if (columns <= cuda::kTileRows<Acc>) return f(tag, std::integral_constant<int, 1>());
    return f(tag, std::integral_constant<int, 2>());
  };
  return dtype == DType::kF64 ? with(TypeTag<double>()) : with(TypeTag<float>());
}

template <class Acc>
cuda::TiledAttention<Acc> TiledOf(const KernelContext& k) {
  cuda::TiledAttention<Acc> a{AttentionOf(k), k.in_spec(In::kQ).dtype, k.in<void>(In::kQ),
                              k.in<void>(In::kK), k.in<void>(In::kV)};
  if (k.has(In::kMask)) {
    if (k.in_spec(In::kMask).dtype == DType::kBool) {
      a.seen = k.in<bool>(In::kMask);
    } else {
      a.added = k.in<void>(In::kMask);
    }
  }
  if (a.p.dropout > 0) {
    a.position = k.in<int64_t>(In::kPosition);
    a.position_step = StridesOf(k.in_spec(In::kPosition))[0];
  }
  if (a.p.dropout < 1) {
    a.first_kept = static_cast<uint32_t>(a.p.dropout * 0x1p32);
    a.kept = static_cast<Acc>(1 / (1 - a.p.dropout));
  }
  return a;
}

absl::Status Run(KernelContext& k) {
  const TensorSpec& y = k.out_spec(0);
  return VisitTiles(
      y.dtype, y.shape[3], [&]<class Acc, int kN>(TypeTag<Acc>, std::integral_constant<int, kN>) {
        const cuda::AttentionForward<Acc, kN> body{TiledOf<Acc>(k), k.out<void>(0), k.out<Acc>(1)};
        return cuda::ForEachBlock(k, body.count(), body);
      });
}

size_t GradWorkspace(const KernelQuery& q) {
  const Shape& logs = q.in(GradIn::kLogsumexp).shape;
  return static_cast<size_t>(logs.num_elements() * SizeOf(q.in(GradIn::kLogsumexp).dtype));
}

absl::Status RunGrad(KernelContext& k) {
  const int64_t columns = std::max(k.in_spec(In::kQ).shape[3], k.in_spec(In::kV).shape[3]);
  return VisitTiles(
      k.in_spec(In::kQ).dtype, columns,
      [&]<class Acc, int kN>(TypeTag<Acc>, std::integral_constant<int, kN>) -> absl::Status {
        const Dims logs = StridesOf(k.in_spec(GradIn::kLogsumexp));
        const cuda::TiledSlopes<Acc> s{TiledOf<Acc>(k),
                                       k.in<void>(GradIn::kDy),
                                       k.in<void>(GradIn::kY),
                                       k.in<Acc>(GradIn::kLogsumexp),
                                       StridesByRows(k.in_spec(GradIn::kDy)),
                                       StridesByRows(k.in_spec(GradIn::kY)),
                                       {logs[0], logs[1], logs[2], 0},
                                       k.workspace<Acc>()};
        const cuda::AttentionQueryGrad<Acc, kN> of_queries{s, k.out<void>(0)};
        FIRN_RETURN_IF_ERROR(cuda::ForEachBlock(k, of_queries.count(), of_queries));
        const cuda::AttentionKeyGrad<Acc, kN> of_keys{s, k.out<void>(1), k.out<void>(2)};
        return cuda::ForEachBlock(k, of_keys.count(), of_keys);
      });
}

Kernel ByTiles(absl::Status (*run)(KernelContext&)) {
  return {.name = "by_tiles", .device = DeviceType::kCuda, .run = run, .takes = Takes::kStrided};
}

}  // namespace
}  // namespace attention_cuda

FIRN_REGISTER_KERNELS(scaled_dot_product_attention) {
  return cuda::Portable<AttentionKernel>({.name = "loop"},
                                         {attention_cuda::ByTiles(attention_cuda::Run)});
}
FIRN_REGISTER_KERNELS(scaled_dot_product_attention_grad) {
  Kernel by_tiles = attention_cuda::ByTiles(attention_cuda::RunGrad);
  by_tiles.workspace = attention_cuda::GradWorkspace;
  return cuda::Portable<AttentionGradKernel>({.name = "loop"}, {by_tiles});
}

}  // namespace firn
