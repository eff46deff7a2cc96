// cuDNN comes first; tiles take every call; the portable kernels, with a thread for each query and
// some columns, stay for comparison.

#include <type_traits>

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/attention.cuh"
#include "firn/tensor/kernels/cuda/attention_grad.cuh"
#include "firn/tensor/kernels/cuda/half_tiles.cuh"
#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/ops/attention/attention_body.h"
#include "firn/tensor/ops/attention/attention_cuda.h"

namespace firn {
namespace attention_cuda {
namespace {

using In = AttentionIn;
using GradIn = AttentionGradIn;

// f(TypeTag<Tiles>, squares): with the tiles of a dtype, and one or two squares of sums, as many as
// a block needs for rows of that width. Gradients of scores may exceed f16's largest number even
// where inputs and results do not, so those of f16 are multiplied as floats.
template <bool kGrad, class F>
absl::Status VisitTiles(DType dtype, int64_t columns, const F& f) {
  const auto with = [&]<class Tiles>(TypeTag<Tiles> tag) -> absl::Status {
    if (columns <= Tiles::kRows) return f(tag, std::integral_constant<int, 1>());
    return f(tag, std::integral_constant<int, 2>());
  };
  if (dtype == DType::kF64) return with(TypeTag<cuda::PlainTiles<double>>());
  if (dtype == DType::kF32) return with(TypeTag<cuda::PlainTiles<float>>());
  if (dtype == DType::kBF16) return with(TypeTag<cuda::HalfTiles<BFloat16>>());
  if constexpr (kGrad) {
    return with(TypeTag<cuda::PlainTiles<float>>());
  } else {
    return with(TypeTag<cuda::HalfTiles<Half>>());
  }
}

template <class Tiles>
cuda::TiledAttention<Tiles> TiledOf(const KernelContext& k) {
  cuda::TiledAttention<Tiles> a{AttentionOf(k), k.in_spec(In::kQ).dtype, k.in<void>(In::kQ),
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
    a.kept = static_cast<typename Tiles::Acc>(1 / (1 - a.p.dropout));
  }
  return a;
}

absl::Status Run(KernelContext& k) {
  const TensorSpec& y = k.out_spec(0);
  return VisitTiles<false>(
      y.dtype, y.shape[3],
      [&]<class Tiles, int kN>(TypeTag<Tiles>, std::integral_constant<int, kN>) {
        const cuda::AttentionForward<Tiles, kN> body{TiledOf<Tiles>(k), k.out<void>(0),
                                                     k.out<typename Tiles::Acc>(1)};
        return cuda::ForEachBlock(k, body.count(), body);
      });
}

size_t GradWorkspace(const KernelQuery& q) {
  const Shape& logs = q.in(GradIn::kLogsumexp).shape;
  return static_cast<size_t>(logs.num_elements() * SizeOf(q.in(GradIn::kLogsumexp).dtype));
}

absl::Status RunGrad(KernelContext& k) {
  const int64_t columns = std::max(k.in_spec(In::kQ).shape[3], k.in_spec(In::kV).shape[3]);
  return VisitTiles<true>(
      k.in_spec(In::kQ).dtype, columns,
      [&]<class Tiles, int kN>(TypeTag<Tiles>, std::integral_constant<int, kN>) -> absl::Status {
        using Acc = typename Tiles::Acc;
        const Dims logs = StridesOf(k.in_spec(GradIn::kLogsumexp));
        const cuda::TiledSlopes<Tiles> s{TiledOf<Tiles>(k),
                                         k.in<void>(GradIn::kDy),
                                         k.in<void>(GradIn::kY),
                                         k.in<Acc>(GradIn::kLogsumexp),
                                         StridesByRows(k.in_spec(GradIn::kDy)),
                                         StridesByRows(k.in_spec(GradIn::kY)),
                                         {logs[0], logs[1], logs[2], 0},
                                         k.workspace<Acc>()};
        const cuda::AttentionQueryGrad<Tiles, kN> of_queries{s, k.out<void>(0)};
        FIRN_RETURN_IF_ERROR(cuda::ForEachBlock(k, of_queries.count(), of_queries));
        const cuda::AttentionKeyGrad<Tiles, kN> of_keys{s, k.out<void>(1), k.out<void>(2)};
        return cuda::ForEachBlock(k, of_keys.count(), of_keys);
      });
}

Kernel ByTiles(absl::Status (*run)(KernelContext&)) {
  return {.name = "by_tiles", .device = DeviceType::kCuda, .run = run, .takes = Takes::kStrided};
}

}  // namespace
}  // namespace attention_cuda

absl::Status RunAttentionTiles(KernelContext& k) { return attention_cuda::Run(k); }
absl::Status RunAttentionGradTiles(KernelContext& k) { return attention_cuda::RunGrad(k); }

FIRN_REGISTER_KERNELS(scaled_dot_product_attention) {
  return cuda::Portable<AttentionKernel>(
      {.name = "loop"}, {AttentionByCudnn(false), attention_cuda::ByTiles(attention_cuda::Run)});
}
FIRN_REGISTER_KERNELS(scaled_dot_product_attention_grad) {
  Kernel by_tiles = attention_cuda::ByTiles(attention_cuda::RunGrad);
  by_tiles.workspace = attention_cuda::GradWorkspace;
  return cuda::Portable<AttentionGradKernel>({.name = "loop"}, {AttentionByCudnn(true), by_tiles});
}

}  // namespace firn
