// Tables of offsets for advanced indexing: one a group of dimensions, added up by the loops.

#include "firn/tensor/kernels/cpu/advanced_index.h"

#include "firn/tensor/kernels/cpu/index.h"

namespace firn::cpu {
namespace {

// The size of the table of `dims` of x without the last `skip`.
int64_t Count(const Shape& x, const Dims& dims, int skip = 0) {
  int64_t count = 1;
  for (int i = 0; i < dims.rank - skip; ++i) count *= x[static_cast<int>(dims[i])];
  return count;
}

const int64_t* FillTable(const TensorSpec& x, const Dims& dims, int skip, int64_t* memory) {
  Dims sizes, strides;
  for (int i = 0; i < dims.rank - skip; ++i) {
    sizes.push_back(x.shape[static_cast<int>(dims[i])]);
    strides.push_back(x.layout.strides[static_cast<int>(dims[i])]);
  }
  FillOffsets(sizes, strides, memory);
  return memory;
}

// out[p] += the index for position p, times stride.
template <class I>
void AddIndices(const I* index, const Shape& shape, const Shape& positions, int64_t n,
                int64_t stride, int64_t* out) {
  if (shape == positions) {
    const int64_t count = positions.num_elements();
    for (int64_t p = 0; p < count; ++p) out[p] += Wrapped(index[p], n) * stride;
    return;
  }
  const int lead = positions.rank() - shape.rank();
  const Dims own = ContiguousStrides(shape);
  Dims steps(positions.rank());
  for (int d = lead; d < positions.rank(); ++d) steps[d] = shape[d - lead] == 1 ? 0 : own[d - lead];
  Dims at(positions.rank());
  int64_t from = 0;
  for (int64_t p = 0; p < positions.num_elements(); ++p) {
    out[p] += Wrapped(index[from], n) * stride;
    for (int d = positions.rank() - 1; d >= 0; --d) {
      from += steps[d];
      if (++at[d] < positions[d]) break;
      from -= steps[d] * positions[d];
      at[d] = 0;
    }
  }
}

}  // namespace

int64_t IndexedRunsSize(const AdvancedIndex& a, const Shape& x) {
  return Count(x, a.before) + a.positions.num_elements() + Count(x, a.after);
}

IndexedRuns MakeIndexedRuns(const AdvancedIndex& a, const TensorSpec& x, const KernelContext& k,
                            int first, int64_t* memory) {
  IndexedRuns r;
  int joined = 0;  // how many of the last dimensions behind go into the inner run
  for (; joined < a.after.rank; ++joined) {
    const int d = static_cast<int>(a.after[a.after.rank - 1 - joined]);
    if (joined == 0) {
      r.step = x.layout.strides[d];
    } else if (x.layout.strides[d] != r.step * r.inner) {
      break;
    }
    r.inner *= x.shape[d];
  }
  r.num_before = Count(x.shape, a.before);
  r.num_positions = a.positions.num_elements();
  r.num_after = Count(x.shape, a.after, joined);
  if (r.num_before * r.num_positions * r.num_after * r.inner == 0) return r;
  r.before = FillTable(x, a.before, 0, memory);
  memory += r.num_before;
  r.after = FillTable(x, a.after, joined, memory);
  memory += r.num_after;
  std::fill(memory, memory + r.num_positions, int64_t{0});
  for (int i = 0; i < a.dims.rank; ++i) {
    const int d = static_cast<int>(a.dims[i]);
    const TensorSpec& index = k.in_spec(first + i);
    VisitIndex(index.dtype, [&]<class I>(TypeTag<I>) {
      AddIndices(k.in<I>(first + i), index.shape, a.positions, x.shape[d], x.layout.strides[d],
                 memory);
    });
  }
  r.position = memory;
  return r;
}

}  // namespace firn::cpu
