#ifndef FIRN_TENSOR_KERNELS_CUDA_PHASES_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_PHASES_CUH_

// A fourth shape of kernels, for work that a block does in many steps on shared memory:
//
//   ForEachBlock(k, n, body)   body(block, i) for every i < n, Body::kThreads members each
//
// Body::Shared is the memory that members share, Body::Own what each has for itself: registers, few
// enough that a multiprocessor holds Body::kResident blocks, which wait for memory in turn. A body
// is written for the block and not for one of its members, in phases; each begins when all members
// are done with the one before:
//
//   block.All(f)                 f(member, own, shared) by every member; what it wrote into Shared
//                                is there for the next phase
//   block.Each(f)                the same for phases that write only into Own
//   block.Sync()                 ends a phase that was made of several
//   block.Combine<kGroup, &Own::x>(op)   own.x becomes op over those of the kGroup neighbours, a
//                                power of two up to a warp; op is commutative
//
// What is decided between phases depends on nothing that members computed. On the stand-in every
// phase is run for one member after the other, so that all of a kernel but its shuffles, barriers
// and caches is tested there, with the same sums in the same order.

#include <memory>
#include <vector>

#include "firn/tensor/kernels/cuda/for_each.cuh"

namespace firn::cuda {

template <class Body>
struct DeviceBlock {
  using Own = typename Body::Own;

  typename Body::Shared& shared;
  Own& own;

  template <class F>
  __device__ void Each(const F& f) const {
    f(static_cast<int>(threadIdx.x), own, shared);
  }
  template <class F>
  __device__ void All(const F& f) const {
    Each(f);
    __syncthreads();
  }
  __device__ void Sync() const { __syncthreads(); }
  template <int kGroup, auto kValue, class Op>
  __device__ void Combine(const Op& op) const {
    static_assert(kGroup <= static_cast<int>(kWarp) && (kGroup & (kGroup - 1)) == 0);
#pragma unroll
    for (int d = 1; d < kGroup; d *= 2) {
      const auto other =
          ShuffleWords(own.*kValue, [d](uint32_t w) { return __shfl_xor_sync(0xFFFFFFFFu, w, d); });
      own.*kValue = op(own.*kValue, other);
    }
  }
};

template <class Body>
struct HostBlock {
  using Own = typename Body::Own;

  typename Body::Shared& shared;
  Own* members;

  template <class F>
  FIRN_HOST_DEVICE void Each(const F& f) const {
    for (int m = 0; m < Body::kThreads; ++m) f(m, members[m], shared);
  }
  template <class F>
  FIRN_HOST_DEVICE void All(const F& f) const {
    Each(f);
  }
  FIRN_HOST_DEVICE void Sync() const {}
  template <int kGroup, auto kValue, class Op>
  FIRN_HOST_DEVICE void Combine(const Op& op) const {
    for (int d = 1; d < kGroup; d *= 2) {
      for (int m = 0; m < Body::kThreads; ++m) {
        if ((m & d) != 0) continue;
        auto &one = members[m].*kValue, &other = members[m + d].*kValue;
        const auto both = op(one, other);
        other = op(other, one);
        one = both;
      }
    }
  }
};

template <class Body>
__global__ void __launch_bounds__(Body::kThreads, Body::kResident) PhasesKernel(Loop<Body> loop) {
  __shared__ typename Body::Shared shared;
  for (int64_t i = blockIdx.x; i < loop.n; i += gridDim.x) {
    typename Body::Own own;
    loop.body(DeviceBlock<Body>{shared, own}, i);
    __syncthreads();
  }
}

template <class Body>
absl::Status ForEachBlock(const Queue& queue, int64_t n, const Body& body) {
  if (n <= 0) return absl::OkStatus();
  const auto on_host = [](const void* argument) {
    const auto& loop = *static_cast<const Loop<Body>*>(argument);
    std::vector<typename Body::Own> members(Body::kThreads);
    const auto shared = std::make_unique<typename Body::Shared>();
    for (int64_t i = 0; i < loop.n; ++i) {  // a device's shared memory begins undefined
      std::memset(static_cast<void*>(shared.get()), 0xFF, sizeof(*shared));
      std::memset(static_cast<void*>(members.data()), 0xFF, members.size() * sizeof(members[0]));
      loop.body(HostBlock<Body>{*shared, members.data()}, i);
    }
  };
  return LaunchWith<Loop<Body>>(queue, typeid(Body).name(), PhasesKernel<Body>, on_host, n,
                                Body::kThreads, {body, n});
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_PHASES_CUH_
