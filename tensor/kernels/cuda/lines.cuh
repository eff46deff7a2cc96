#ifndef FIRN_TENSOR_KERNELS_CUDA_LINES_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_LINES_CUH_

// Work on lines along one dimension of a row-major tensor. A body has two operators: (team, line)
// and, for a thread of its own, (line).

#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/lines.h"

namespace firn::cuda {

// A thread takes a line where lines are short, or lie side by side and are many.
template <class Body>
absl::Status ForEachLineAlong(const Queue& queue, const Lines& l, const Body& body) {
  const int64_t lines = l.outer * l.inner;
  const bool alone =
      l.inner == 1 ? l.length <= 16 : l.length <= 32 || (l.inner >= 16 && lines >= 4096);
  return alone ? ForEach(queue, lines, body) : ForEachLine(queue, lines, l.length, body);
}

namespace internal {

template <class Body>
void LinesOnHost(const void* argument) {
  const auto& loop = *static_cast<const Loop<Body>*>(argument);
  for (int64_t line = 0; line < loop.n; ++line) loop.body(HostTeam(), line);
}

}  // namespace internal

// Like ForEachLine with a team of that size: a warp's is one of 32 threads, a block's of up to
// 1024.
template <class Body>
absl::Status ForEachWarp(const Queue& queue, int64_t lines, const Body& body) {
  if (lines <= 0) return absl::OkStatus();
  constexpr int64_t kLines = kThreads / kWarp;
  return LaunchWith<Loop<Body>>(queue, typeid(Body).name(), WarpLinesKernel<Body>,
                                internal::LinesOnHost<Body>, (lines + kLines - 1) / kLines,
                                kThreads, {body, lines});
}
template <class Body>
absl::Status ForEachBlock(const Queue& queue, int64_t lines, unsigned threads, const Body& body) {
  if (lines <= 0) return absl::OkStatus();
  return LaunchWith<Loop<Body>>(queue, typeid(Body).name(), BlockLinesKernel<Body>,
                                internal::LinesOnHost<Body>, lines, threads, {body, lines});
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_LINES_CUH_
