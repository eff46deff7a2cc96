#ifndef FIRN_TENSOR_OPS_LINALG_BATCH_BODY_H_
#define FIRN_TENSOR_OPS_LINALG_BATCH_BODY_H_

// Computes one matrix of a batch after the other on each of the CPU's threads, with scratch memory.

#include <algorithm>
#include <cstdint>

#include "firn/tensor/kernels/cpu/parts.h"

namespace firn::cpu {

struct PerMatrix {
  int64_t count;  // of matrices
  double flops;   // about, of one
  size_t bytes;   // of scratch for one

  // Number of matrices for a thread: enough work, and few enough threads that all scratch stays
  // moderate.
  int64_t grain() const {
    constexpr double kWork = 40000, kMemory = 64 << 20;
    const double most = std::max(1.0, kMemory / static_cast<double>(padded() + 1));
    const double least = std::max(kWork / (flops + 1), static_cast<double>(count) / most);
    return std::max<int64_t>(1, static_cast<int64_t>(std::min(least, 1e15)));
  }
  size_t padded() const { return (bytes + 63) / 64 * 64; }
  size_t workspace() const { return static_cast<size_t>(NumParts(count, grain())) * padded(); }
};

// The first matrix that could not be factored (-1: none), and the row where that was found.
struct Failed {
  int64_t matrix = -1, row = -1;
  bool any() const { return matrix >= 0; }
};

// Calls f(i, scratch) for every matrix i; f returns -1, or the row where the matrix failed.
template <class F>
Failed ForEachMatrix(const PerMatrix& p, void* workspace, const F& f) {
  Failed failed[kMaxParts];
  const auto run = [&](int64_t part, int64_t begin, int64_t end) {
    char* const scratch = static_cast<char*>(workspace) + static_cast<size_t>(part) * p.padded();
    for (int64_t i = begin; i < end && !failed[part].any(); ++i) {
      const int64_t row = f(i, static_cast<void*>(scratch));
      if (row >= 0) failed[part] = {i, row};
    }
  };
  ForEachPart(p.count, p.grain(), run);
  const auto* first =
      std::find_if(failed, failed + kMaxParts, [](auto& part) { return part.any(); });
  return first == failed + kMaxParts ? Failed() : *first;
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_LINALG_BATCH_BODY_H_
