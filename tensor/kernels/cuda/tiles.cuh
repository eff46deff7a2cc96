#ifndef FIRN_TENSOR_KERNELS_CUDA_TILES_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_TILES_CUH_

// A third shape of kernels, for work whose reading and writing go in different orders:
//
//   ForEachTile(k, n, body)   body.Load(team, tile, i), and when all members have,
//   body.Store(same),
//                             for every i < n; Body::Tile is in memory that the team shares
//
// A team is a block of kThreads.

#include "firn/tensor/kernels/cuda/for_each.cuh"

namespace firn::cuda {

template <class Body>
__global__ void __launch_bounds__(kThreads) TilesKernel(Loop<Body> loop) {
  __shared__ typename Body::Tile tile;
  const BlockTeam team = {nullptr};  // without scratch: it must not reduce
  for (int64_t i = blockIdx.x; i < loop.n; i += gridDim.x) {
    loop.body.Load(team, tile, i);
    team.Sync();
    loop.body.Store(team, tile, i);
    team.Sync();
  }
}

template <class Body>
absl::Status ForEachTile(const Queue& queue, int64_t n, const Body& body) {
  if (n <= 0) return absl::OkStatus();
  const auto on_host = [](const void* argument) {
    const auto& loop = *static_cast<const Loop<Body>*>(argument);
    typename Body::Tile tile;
    for (int64_t i = 0; i < loop.n; ++i) {
      loop.body.Load(HostTeam(), tile, i);
      loop.body.Store(HostTeam(), tile, i);
    }
  };
  return LaunchWith<Loop<Body>>(queue, typeid(Body).name(), TilesKernel<Body>, on_host, n, kThreads,
                                {body, n});
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_TILES_CUH_
