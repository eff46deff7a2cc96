#ifndef FIRN_TENSOR_KERNELS_CUDA_MMA_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_MMA_CUH_

// A warp's products on tensor cores, for kernels by phases: two by two of
// mma.sync.aligned.m16n8k16, whose operands' places among the lanes are those of NVIDIA's "Parallel
// Thread Execution ISA", "Matrix Fragments for mma.m16n8k16 with floating point type". The stand-in
// for the device computes the same with the same places.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/cuda/phases.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "m16n8k16 of tensor cores is there from sm_80 on"
#endif

namespace firn::cuda {

inline constexpr int kMmaLanes = 32, kMmaDepth = 16;

// Pairs of numbers of a half type: of two matrices A of 16 rows, and of two matrices B of 8
// columns.
struct MmaFactors {
  uint32_t a[2][4], b[2][2];
};

namespace internal {

template <class T>
__device__ inline void Mma(const uint32_t (&a)[4], const uint32_t (&b)[2], float& c0, float& c1,
                           float& c2, float& c3) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
        : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
        : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}

template <class T>
FIRN_HOST_DEVICE float OneOf(uint32_t pair, int i) {
  const auto word = static_cast<uint16_t>(i == 0 ? pair : pair >> 16);
  T x;
  memcpy(static_cast<void*>(&x), &word, sizeof(word));
  return static_cast<float>(x);
}

}  // namespace internal

// Adds to to(own), rows of four floats: results c0 and c1 of matrices m and n are elements 2 n and
// 2 n + 1 of row 2 m, and c2 and c3 those of row 2 m + 1. Own::factors are the operands.
template <class T, class Body, class To>
__device__ void MultiplyMatrices(const DeviceBlock<Body>& block, const To& to) {
  auto& sums = to(block.own);
  const MmaFactors& f = block.own.factors;
#pragma unroll
  for (int m = 0; m < 2; ++m) {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      auto &top = sums.row[2 * m].v, &low = sums.row[2 * m + 1].v;
      internal::Mma<T>(f.a[m], f.b[n], top[2 * n], top[2 * n + 1], low[2 * n], low[2 * n + 1]);
    }
  }
}
template <class T, class Body, class To>
FIRN_HOST_DEVICE void MultiplyMatrices(const HostBlock<Body>& block, const To& to) {
  for (int warp = 0; warp < Body::kThreads; warp += kMmaLanes) {
    typename Body::Own* const lanes = block.members + warp;
    for (int m = 0; m < 2; ++m) {
      for (int n = 0; n < 2; ++n) {
        float a[16][kMmaDepth], b[kMmaDepth][8];
        for (int lane = 0; lane < kMmaLanes; ++lane) {
          const int group = lane / 4, in_group = lane % 4;
          for (int i = 0; i < 8; ++i) {  // elements a0 to a7, two in each register
            a[group + (i / 2 % 2 == 0 ? 0 : 8)][in_group * 2 + i % 2 + (i < 4 ? 0 : 8)] =
                internal::OneOf<T>(lanes[lane].factors.a[m][i / 2], i % 2);
          }
          for (int i = 0; i < 4; ++i) {
            b[in_group * 2 + i % 2 + (i < 2 ? 0 : 8)][group] =
                internal::OneOf<T>(lanes[lane].factors.b[n][i / 2], i % 2);
          }
        }
        for (int lane = 0; lane < kMmaLanes; ++lane) {
          for (int i = 0; i < 4; ++i) {
            const int row = lane / 4 + (i < 2 ? 0 : 8), column = lane % 4 * 2 + i % 2;
            float& sum = to(lanes[lane]).row[2 * m + i / 2].v[2 * n + i % 2];
            for (int k = 0; k < kMmaDepth; ++k) sum += a[row][k] * b[k][column];
          }
        }
      }
    }
  }
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_MMA_CUH_
