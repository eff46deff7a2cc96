#ifndef FIRN_TENSOR_KERNELS_CPU_GEMM_PIECES_H_
#define FIRN_TENSOR_KERNELS_CPU_GEMM_PIECES_H_

// Which piece of a product each thread computes.

#include <algorithm>
#include <cstdint>

#include "firn/device/parallel.h"
#include "firn/tensor/kernels/matmul_plan.h"

namespace firn::cpu {

// Products below this run on the calling thread: 20 us of one core.
inline constexpr double kParallelFlops = 2e6;

// How many pieces C is cut into, down and across: as many as there are threads, with the least to
// read in all, and none thinner than what the inner kernels work on at once.
struct Grid {
  int64_t down = 1, across = 1, row_unit = 8, col_unit = 16;
};

inline Grid PlanGrid(const GemmShape& s) {
  Grid best;
  if (s.n >= 384) best.col_unit = 48;
  const int64_t threads = s.flops() < kParallelFlops ? 1 : NumChunks(NumThreads(), 1);
  const int64_t rows = (s.m - 1) / best.row_unit + 1, cols = (s.n - 1) / best.col_unit + 1;
  int64_t best_pieces = 0, least = 0;
  for (int64_t down = 1; down <= std::min(threads, rows); ++down) {
    const int64_t across = std::min(threads / down, cols);
    const int64_t reads = across * s.m + down * s.n;
    if (down * across > best_pieces || (down * across == best_pieces && reads < least)) {
      best.down = down;
      best.across = across;
      best_pieces = down * across;
      least = reads;
    }
  }
  return best;
}

// Where piece `i` of `pieces` begins along a direction of `size`, in whole units.
inline int64_t PieceBegin(int64_t i, int64_t pieces, int64_t size, int64_t unit) {
  const int64_t units = (size - 1) / unit + 1;
  return std::min(size, units * i / pieces * unit);
}

// Pieces of whole rows, if C has enough rows for all threads; else as above.
inline Grid PlanRows(const GemmShape& s, int64_t least_rows) {
  Grid g = PlanGrid(s);
  if (g.down * g.across * least_rows <= s.m) g = {g.down * g.across, 1, g.row_unit, g.col_unit};
  return g;
}

// Calls f(part, i, j) for the pieces of C, which begin at row i and column j, side by side.
template <class F>
void ForEachPiece(const GemmShape& s, const Grid& g, const F& f) {
  ParallelFor(g.down * g.across, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t down = piece / g.across, across = piece % g.across;
      const int64_t i = PieceBegin(down, g.down, s.m, g.row_unit);
      const int64_t j = PieceBegin(across, g.across, s.n, g.col_unit);
      GemmShape part = s;
      part.m = PieceBegin(down + 1, g.down, s.m, g.row_unit) - i;
      part.n = PieceBegin(across + 1, g.across, s.n, g.col_unit) - j;
      if (part.m > 0 && part.n > 0) f(part, i, j);
    }
  });
}
template <class F>
void ForEachPiece(const GemmShape& s, const F& f) {
  ForEachPiece(s, PlanGrid(s), f);
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_GEMM_PIECES_H_
