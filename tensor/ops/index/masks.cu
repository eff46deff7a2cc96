// nonzero on CUDA: elements are counted chunk by chunk, the counts added up, and every chunk writes
// its indices from there on. Whether an element is 0 shows in its bits: all but a float's sign. If
// the number differs from the given one, the rest is left out or filled with zeros.

#include <algorithm>

#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/index.cuh"
#include "firn/tensor/kernels/width.h"
#include "firn/tensor/ops/index/masks.h"

namespace firn::masks_cuda {
namespace {

struct PlusFn {
  FIRN_HOST_DEVICE int64_t operator()(int64_t a, int64_t b) const { return a + b; }
};

// A warp's share, or more for a tensor that would have very many chunks.
int64_t ChunkSize(int64_t n) {
  constexpr int64_t kLeast = 512, kMostChunks = int64_t{1} << 16;
  return std::max(kLeast, (n + kMostChunks - 1) / kMostChunks);
}
int64_t NumChunks(int64_t n) { return (n + ChunkSize(n) - 1) / ChunkSize(n); }

template <class W>
struct Elements {
  const W* x;
  int64_t n, chunk;
  W mask;  // without a float's sign

  FIRN_HOST_DEVICE int64_t End(int64_t begin) const {
    return begin + chunk < n ? begin + chunk : n;
  }
  // 1 where element i is not zero.
  FIRN_HOST_DEVICE int64_t Counts(int64_t i, int64_t end) const {
    return i < end && (x[i] & mask) != 0 ? 1 : 0;
  }
};

template <class W>
struct CountBody {
  Elements<W> elements;
  int64_t* counts;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t chunk) const {
    const int64_t begin = chunk * elements.chunk, end = elements.End(begin);
    int64_t count = 0;
    for (int64_t i = begin + team.rank(); i < end; i += team.size()) {
      count += elements.Counts(i, end);
    }
    count = team.Reduce(count, PlusFn());
    if (team.rank() == 0) counts[chunk] = count;
  }
};

// counts[i] becomes the sum of those before it.
struct ScanBody {
  int64_t* counts;
  int64_t n;

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t) const {
    int64_t before = 0;
    for (int64_t first = 0; first < n; first += team.size()) {
      const int64_t i = first + team.rank(), own = i < n ? counts[i] : 0;
      const int64_t sum = team.Scan(own, PlusFn());
      if (i < n) counts[i] = before + sum - own;
      before += team.FromLast(sum);
    }
  }
};

template <class W>
struct WriteBody {
  Elements<W> elements;
  const int64_t* before;  // a chunk: how many elements
  int64_t* out;
  int64_t rows, rank;
  int64_t sizes[kMaxRank];

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t chunk) const {
    const int64_t begin = chunk * elements.chunk, end = elements.End(begin);
    int64_t row = before[chunk];
    for (int64_t first = begin; first < end; first += team.size()) {
      const int64_t i = first + team.rank(), own = elements.Counts(i, end);
      const int64_t sum = team.Scan(own, PlusFn());
      if (own != 0 && row + sum <= rows) WriteRow(row + sum - 1, i);
      row += team.FromLast(sum);
    }
    if (end < elements.n) return;
    for (row += team.rank(); row < rows; row += team.size()) WriteRow(row, 0);
  }

  FIRN_HOST_DEVICE void WriteRow(int64_t row, int64_t i) const {
    for (int64_t d = rank; d-- > 0;) {
      out[row * rank + d] = TakeDigit(i, sizes[d]);
    }
  }
};

size_t Workspace(const KernelQuery& q) {
  return static_cast<size_t>(NumChunks(q.in(0).num_elements())) * sizeof(int64_t);
}

absl::Status Run(KernelContext& k) {
  const TensorSpec& x = k.in_spec(0);
  const int64_t n = x.num_elements(), chunks = NumChunks(n);
  int64_t* const counts = k.workspace<int64_t>();
  return VisitWidth(x.dtype, [&]<class W>(TypeTag<W>) -> absl::Status {
    const W all = static_cast<W>(~W{0});
    const Elements<W> elements = {k.in<W>(0), n, ChunkSize(n),
                                  IsFloating(x.dtype) ? static_cast<W>(all >> 1) : all};
    FIRN_RETURN_IF_ERROR(
        cuda::ForEachLine(k, chunks, elements.chunk, CountBody<W>{elements, counts}));
    FIRN_RETURN_IF_ERROR(cuda::ForEachLine(k, 1, chunks, ScanBody{counts, chunks}));
    WriteBody<W> body = {elements, counts, k.out<int64_t>(), k.out_spec().shape[0], x.shape.rank()};
    std::copy(x.shape.begin(), x.shape.end(), body.sizes);
    return cuda::ForEachLine(k, chunks, elements.chunk, body);
  });
}

FIRN_REGISTER_KERNELS(nonzero) {
  return {{.name = "chunks", .device = DeviceType::kCuda, .workspace = Workspace, .run = Run}};
}

}  // namespace
}  // namespace firn::masks_cuda
