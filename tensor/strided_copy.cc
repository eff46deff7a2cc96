// A copy is rows along the dimension that is innermost in the destination. Where that dimension is
// far apart in the source and another one lies side by side there, the two make a matrix to be
// transposed: in blocks of a few cache lines and pages, and these in squares that fit the vector
// registers, so that both sides are read and written by whole lines.

#include "firn/tensor/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "firn/device/macros.h"
#include "firn/device/non_temporal_copy.h"
#include "firn/device/own_flags.h"
#include "firn/device/parallel.h"
#include "firn/device/simd.h"
#include "firn/device/simd_transpose.h"
#include "firn/tensor/internal/kernel_functions.h"
#include "firn/tensor/internal/row_copies.h"

namespace firn::inner::internal {
namespace {

// A complex number of two doubles: the largest element.
struct Two64 {
  uint64_t first, second;
};
template <class T>
constexpr bool kFitsRegisters = sizeof(T) <= 8;  // so that squares of them are turned over there

constexpr int64_t kGrain = 16384;  // elements worth a thread
constexpr size_t kMostDims = 16;

// Rows of a square that is turned over in registers: as many as elements fill one, at most kMost.
constexpr int kUsualSide = 16, kSmallSide = 8;
template <class T, int kMost>
constexpr int kSideOf = kSimdLanes<T> < kMost ? static_cast<int>(kSimdLanes<T>) : kMost;

// What is left beside the squares.
template <class T>
FIRN_ONE_COPY void TransposeEdge(int64_t rows, int64_t cols, const T* from, int64_t from_step,
                                 T* to, int64_t to_step) {
  for (int64_t c = 0; c < cols; ++c) {
    for (int64_t r = 0; r < rows; ++r) to[c * to_step + r] = from[r * from_step + c];
  }
}

template <int kSide, class T>
void TransposeBySquares(int64_t rows, int64_t cols, const T* from, int64_t from_step, T* to,
                        int64_t to_step) {
  const int64_t down = rows / kSide * kSide, along = cols / kSide * kSide;
  for (int64_t r = 0; r < down; r += kSide) {
    for (int64_t c = 0; c < along; c += kSide) {
      const T* const row = from + r * from_step + c;
      T* const column = to + c * to_step + r;
      TransposeSquare<T, kSide>([=](int i) { return row + i * from_step; },
                                [=](int i) { return column + i * to_step; });
    }
  }
  TransposeEdge(down, cols - along, from + along, from_step, to + along * to_step, to_step);
  TransposeEdge(rows - down, cols, from + down * from_step, from_step, to + down, to_step);
}

template <int kMost = kUsualSide, class T>
void Transpose(int64_t rows, int64_t cols, const T* from, int64_t from_step, T* to,
               int64_t to_step) {
  if constexpr (!kFitsRegisters<T>) {
    return TransposeEdge(rows, cols, from, from_step, to, to_step);
  } else {
    TransposeBySquares<kSideOf<T, kMost>>(rows, cols, from, from_step, to, to_step);
  }
}

// Whether a result is written past the caches: it is large, and its rows are several lines long.
template <class T>
bool IsPastCaches(int64_t elements, int64_t row) {
  constexpr int64_t kSize = sizeof(T), kLeastLines = 8;
  return elements * kSize >= kNonTemporalBytes && row * kSize >= kLeastLines * kCacheLineBytes;
}

template <class T>
constexpr int64_t kStrip = 4096 / sizeof(T);  // elements that are made before they are written

// Writes n elements past the caches; make(i, count, strip) makes at most kMost from the i-th on.
template <int64_t kMost, class T, class F>
void WritePastCaches(int64_t n, T* to, const F& make) {
  alignas(kCacheLineBytes) T strip[kMost];
  for (int64_t i = 0; i < n; i += kMost) {
    const int64_t count = std::min(kMost, n - i);
    make(i, count, strip);
    NonTemporalCopy(to + i, strip, count * static_cast<int64_t>(sizeof(T)));
  }
}

template <class T>
void CopyReversed(int64_t n, const T* src, T* dst, bool non_temporal) {
  if constexpr (!kFitsRegisters<T>) {
    for (int64_t i = 0; i < n; ++i) dst[i] = src[-i];
  } else if (non_temporal) {
    WritePastCaches<kStrip<T>>(
        n, dst, [=](int64_t i, int64_t count, T* to) { ReverseRow(count, src - i, to); });
  } else {
    ReverseRow(n, src, dst);
  }
}

template <class T>
void CopyRow(const CopyDim& d, bool non_temporal, const T* src, T* dst) {
  const int64_t n = d.size;
  if (d.dst != 1) {
    for (int64_t i = 0; i < n; ++i) dst[i * d.dst] = src[i * d.src];
  } else if (d.src == 1) {
    std::memcpy(dst, src, static_cast<size_t>(n) * sizeof(T));
  } else if (d.src == 0) {
    std::fill(dst, dst + n, *src);
  } else if (d.src == -1) {
    CopyReversed(n, src, dst, non_temporal);
  } else if (d.src == 2) {
    FIRN_INDEPENDENT_STEPS
    for (int64_t i = 0; i < n; ++i) dst[i] = src[2 * i];
  } else {
    for (int64_t i = 0; i < n; ++i) dst[i] = src[i * d.src];
  }
}

// Calls f(source, destination) for the elements [begin, end) of `dims`, counted row-major.
template <class T, class F>
void ForEachPlace(absl::Span<const CopyDim> dims, int64_t begin, int64_t end, const T* src, T* dst,
                  const F& f) {
  int64_t at[kMostDims] = {}, rest = begin;
  for (size_t i = dims.size(); i-- > 0;) {
    at[i] = rest % dims[i].size;
    rest /= dims[i].size;
    src += at[i] * dims[i].src;
    dst += at[i] * dims[i].dst;
  }
  for (int64_t n = begin; n < end; ++n) {
    f(src, dst);
    for (size_t i = dims.size(); i-- > 0;) {  // the odometer
      src += dims[i].src;
      dst += dims[i].dst;
      if (++at[i] < dims[i].size) break;
      src -= at[i] * dims[i].src;
      dst -= at[i] * dims[i].dst;
      at[i] = 0;
    }
  }
}

int64_t Volume(absl::Span<const CopyDim> dims) {
  int64_t n = 1;
  for (const CopyDim& d : dims) n *= d.size;
  return n;
}

bool RepeatsEach(const CopyDim& each, const CopyDim& copies) {
  return copies.src == 0 && copies.dst == 1 && each.src == 1 && each.dst == copies.size;
}

template <class T>
void CopyRows(absl::Span<const CopyDim> dims, const T* src, T* dst) {
  const CopyDim inner = dims.back();
  if (dims.size() == 2 && dims[0].size > 1 && RepeatsEach(dims[0], inner)) {
    return ParallelFor(dims[0].size, std::max<int64_t>(1, kGrain / inner.size),
                       [&](int64_t begin, int64_t end) {
                         RepeatEach(end - begin, inner.size, src + begin, dst + begin * inner.size);
                       });
  }
  const absl::Span<const CopyDim> outer = dims.first(dims.size() - 1);
  const int64_t rows = Volume(outer);
  const bool non_temporal = inner.src == -1 && inner.dst == 1 && inner.size <= kStrip<T> &&
                            IsPastCaches<T>(rows * inner.size, inner.size);
  if (rows == 1) {
    return ParallelFor(inner.size, kGrain, [&](int64_t begin, int64_t end) {
      const CopyDim part = {end - begin, inner.src, inner.dst};
      CopyRow(part, non_temporal, src + begin * inner.src, dst + begin * inner.dst);
      if (non_temporal) FinishNonTemporal();
    });
  }
  ParallelFor(rows, std::max<int64_t>(1, kGrain / inner.size), [&](int64_t begin, int64_t end) {
    ForEachPlace(outer, begin, end, src, dst,
                 [&](const T* from, T* to) { CopyRow(inner, non_temporal, from, to); });
    if (non_temporal) FinishNonTemporal();
  });
}

// A block of a matrix touches so many lines, and pages, of either side.
template <class T>
constexpr int64_t kBlock = sizeof(T) > 8 ? 32 : 64;

// Through a block of its own, which is then written line by line: where the rows of `to` are powers
// of two apart, their lines have few places in a cache, and a part of one would not stay there
// until the rest comes. The block beside it in `from` is most likely the next one.
template <class T>
void TransposeBlock(int64_t rows, int64_t cols, const T* from, int64_t from_step, T* to,
                    int64_t to_step, bool non_temporal) {
  constexpr int64_t kSize = sizeof(T);
  alignas(64) T block[kBlock<T> * kBlock<T>];
  PrefetchRows(reinterpret_cast<const char*>(from + cols), from_step * kSize, rows, cols * kSize);
  Transpose(rows, cols, from, from_step, block, kBlock<T>);
  for (int64_t c = 0; c < cols; ++c) {
    T* const row = to + c * to_step;
    if (non_temporal) {
      NonTemporalCopy(row, block + c * kBlock<T>, rows * kSize);
    } else {
      std::memcpy(row, block + c * kBlock<T>, static_cast<size_t>(rows * kSize));
    }
  }
}

// A matrix of a single block is small enough to be written where it goes.
template <class T>
void CopySmallMatrices(absl::Span<const CopyDim> outer, const CopyDim& r, const CopyDim& c,
                       const T* src, T* dst) {
  const auto each = [&](const T* from, T* to) {
    constexpr int kSide = kSideOf<T, kUsualSide>;
    if (r.size < kSide || c.size < kSide) {
      Transpose<kSmallSide>(r.size, c.size, from, r.src, to, c.dst);
    } else {
      Transpose(r.size, c.size, from, r.src, to, c.dst);
    }
  };
  ParallelFor(Volume(outer), std::max<int64_t>(1, kGrain / (r.size * c.size)),
              [&](int64_t begin, int64_t end) { ForEachPlace(outer, begin, end, src, dst, each); });
}

// `across`: the dimension that lies side by side in the source.
template <class T>
void CopyMatrices(absl::Span<const CopyDim> dims, size_t across, const T* src, T* dst) {
  const CopyDim r = dims.back(), c = dims[across];
  constexpr int64_t kSide = kBlock<T>;
  const int64_t down = (r.size - 1) / kSide + 1, along = (c.size - 1) / kSide + 1;
  CopyDim blocks[kMostDims];  // the other dimensions, and then blocks of the matrix
  size_t rank = 0;
  for (size_t i = 0; i + 1 < dims.size(); ++i) {
    if (i != across) blocks[rank++] = dims[i];
  }
  const absl::Span<const CopyDim> outer(blocks, rank);
  if (r.size < kSide && c.size < kSide) return CopySmallMatrices(outer, r, c, src, dst);
  const int64_t each = down * along;
  const int64_t work = std::min(kSide, r.size) * std::min(kSide, c.size);
  const bool non_temporal = Volume(dims) * static_cast<int64_t>(sizeof(T)) >= kNonTemporalBytes;
  ParallelFor(
      Volume(outer) * each, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
        for (int64_t at = begin; at < end;) {
          const int64_t matrix = at / each, until = std::min(end, (matrix + 1) * each);
          ForEachPlace(outer, matrix, matrix + 1, src, dst, [&](const T* from, T* to) {
            for (; at < until; ++at) {
              const int64_t block = at - matrix * each;
              const int64_t i = block / along * kSide, j = block % along * kSide;
              TransposeBlock(std::min(kSide, r.size - i), std::min(kSide, c.size - j),
                             from + i * r.src + j, r.src, to + j * c.dst + i, c.dst, non_temporal);
            }
          });
        }
        if (non_temporal) FinishNonTemporal();
      });
}

// Whether the elements of `row` and those that lie side by side of others take turns.
template <class T>
bool DealsRows(const CopyDim& row, const CopyDim& rows) {
  return kFitsRegisters<T> && rows.size >= 2 && rows.size <= 4 && rows.dst == 1 && row.src == 1 &&
         row.dst == rows.size && row.size > 1;
}

template <int kRows, class T>
void Deal(int64_t n, const T* src, int64_t src_step, T* dst, bool non_temporal) {
  if (!non_temporal) return DealRows<kRows>(n, src, src_step, dst);
  constexpr int64_t kColumns = kStrip<T> / kRows;
  WritePastCaches<kColumns * kRows>(n * kRows, dst, [=](int64_t i, int64_t count, T* to) {
    DealRows<kRows>(count / kRows, src + i / kRows, src_step, to);
  });
}

// `along`: the dimension of the rows' elements; the last one is that of the rows.
template <class T>
void DealAllRows(absl::Span<const CopyDim> dims, size_t along, const T* src, T* dst) {
  const CopyDim rows = dims.back(), row = dims[along];
  const int64_t piece = std::min(row.size, kGrain), pieces = (row.size - 1) / piece + 1;
  CopyDim places[kMostDims];  // the other dimensions, and then pieces of the rows
  size_t rank = 0;
  for (size_t i = 0; i + 1 < dims.size(); ++i) {
    if (i != along) places[rank++] = dims[i];
  }
  places[rank++] = {pieces, piece, piece * rows.size};
  const absl::Span<const CopyDim> all(places, rank);
  const bool non_temporal = IsPastCaches<T>(Volume(dims), row.size * rows.size);
  ParallelFor(Volume(all), std::max<int64_t>(1, kGrain / (piece * rows.size)),
              [&](int64_t begin, int64_t end) {
                int64_t at = begin;
                ForEachPlace(all, begin, end, src, dst, [&](const T* from, T* to) {
                  const int64_t n = std::min(piece, row.size - at++ % pieces * piece);
                  if (rows.size == 2) return Deal<2>(n, from, rows.src, to, non_temporal);
                  if (rows.size == 3) return Deal<3>(n, from, rows.src, to, non_temporal);
                  Deal<4>(n, from, rows.src, to, non_temporal);
                });
                if (non_temporal) FinishNonTemporal();
              });
}

template <class T>
void CopyAs(absl::Span<const CopyDim> dims, const T* src, T* dst) {
  if constexpr (kFitsRegisters<T>) {
    for (size_t i = 0; i + 1 < dims.size(); ++i) {
      if (DealsRows<T>(dims[i], dims.back())) return DealAllRows(dims, i, src, dst);
    }
  }
  const CopyDim inner = dims.back();
  const bool apart = inner.src != 0 && inner.src != 1 && inner.src != -1;
  constexpr int64_t kLeast = kSideOf<T, kSmallSide>;
  if (inner.dst != 1 || !apart || inner.size < kLeast) return CopyRows(dims, src, dst);
  for (size_t i = 0; i + 1 < dims.size(); ++i) {
    const CopyDim d = dims[i];
    if ((d.src != 1 && d.src != -1) || d.size < kLeast) continue;
    if (d.src == 1) return CopyMatrices(dims, i, src, dst);
    CopyDim turned[kMostDims];  // the same walked from its other end
    std::copy(dims.begin(), dims.end(), turned);
    turned[i] = {d.size, 1, -d.dst};
    return CopyMatrices({turned, dims.size()}, i, src - (d.size - 1), dst + (d.size - 1) * d.dst);
  }
  CopyRows(dims, src, dst);
}

void CopyElements(absl::Span<const CopyDim> dims, int64_t width, const void* src, void* dst) {
  const auto as = [&]<class T>(T* to) { CopyAs(dims, static_cast<const T*>(src), to); };
  switch (width) {
    case 1:
      return as(static_cast<uint8_t*>(dst));
    case 2:
      return as(static_cast<uint16_t*>(dst));
    case 4:
      return as(static_cast<uint32_t*>(dst));
    case 8:
      return as(static_cast<uint64_t*>(dst));
    default:
      return as(static_cast<Two64*>(dst));
  }
}

// Whether the innermost dimension's elements are one of a larger width: there are 2 of them, side
// by side, and all places are multiples of that.
bool ArePairs(absl::Span<const CopyDim> dims, int64_t width, const void* src, void* dst) {
  const CopyDim inner = dims.back();
  if (dims.size() == 1 || inner.size != 2 || inner.src != 1 || inner.dst != 1) return false;
  const auto align = static_cast<uintptr_t>(std::min<int64_t>(2 * width, 8));
  if ((reinterpret_cast<uintptr_t>(src) | reinterpret_cast<uintptr_t>(dst)) % align != 0) {
    return false;
  }
  return std::all_of(dims.begin(), dims.end() - 1,
                     [](const CopyDim& d) { return d.src % 2 == 0 && d.dst % 2 == 0; });
}

}  // namespace

void CopyStrided(absl::Span<const CopyDim> dims, int64_t width, const void* src, void* dst) {
  if (!ArePairs(dims, width, src, dst)) return CopyElements(dims, width, src, dst);
  CopyDim of_pairs[kMostDims];
  std::transform(dims.begin(), dims.end() - 1, of_pairs, [](const CopyDim& d) {
    return CopyDim{d.size, d.src / 2, d.dst / 2};
  });
  CopyElements({of_pairs, dims.size() - 1}, 2 * width, src, dst);
}

void CopyTransposed(int64_t rows, int64_t cols, int64_t width, const void* from, int64_t from_step,
                    void* to, int64_t to_step) {
  const auto as = [&]<class T>(T*) {
    Transpose(rows, cols, static_cast<const T*>(from), from_step, static_cast<T*>(to), to_step);
  };
  switch (width) {
    case 1:
      return as(static_cast<uint8_t*>(nullptr));
    case 2:
      return as(static_cast<uint16_t*>(nullptr));
    case 4:
      return as(static_cast<uint32_t*>(nullptr));
    default:
      return as(static_cast<uint64_t*>(nullptr));
  }
}

FIRN_OF_THIS_LEVEL(copy_strided, CopyStrided);

}  // namespace firn::inner::internal
