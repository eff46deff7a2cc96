// Tables of offsets for gather and scatter_add.

#include "firn/tensor/kernels/cpu/index.h"

namespace firn::cpu {

void FillOffsets(const Dims& sizes, const Dims& strides, int64_t* out) {
  int64_t filled = 1;
  out[0] = 0;
  for (int d = 0; d < sizes.rank; ++d) {
    // Each offset so far becomes sizes[d] of them; from the back, so that none is overwritten
    // early.
    const int64_t n = sizes[d];
    for (int64_t i = filled; i-- > 0;) {
      for (int64_t j = n; j-- > 0;) out[i * n + j] = out[i] + j * strides[d];
    }
    filled *= n;
  }
}

Region::Region(const Shape& shape, int dim) {
  for (int d = 0; d < shape.rank(); ++d) {
    (d < dim ? lines : d == dim ? count : columns) *= shape[d];
  }
}

Places::Places(const Shape& region, const Shape& whole, int dim, int64_t* memory) {
  const Region r(region, dim);
  const Dims strides = ContiguousStrides(whole);
  if (region.num_elements() != 0) {
    Dims sizes[2], steps[2];
    for (int d = 0; d < region.rank(); ++d) {
      if (d == dim) continue;
      sizes[d > dim].push_back(region[d]);
      steps[d > dim].push_back(strides[d]);
    }
    FillOffsets(sizes[0], steps[0], memory);
    FillOffsets(sizes[1], steps[1], memory + r.lines);
  }
  // Places ascend, so the last one is the largest.
  side_by_side = region.num_elements() == 0 || memory[r.lines + r.columns - 1] == r.columns - 1;
  line = memory;
  column = memory + r.lines;
  step = strides[dim];
}

}  // namespace firn::cpu
