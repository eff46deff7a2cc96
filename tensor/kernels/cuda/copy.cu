// Strided copies on a CUDA device: CopyElements (tensor/reorder.h) calls them there.
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/tiles.cuh"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/reorder.h"

namespace firn::cuda {
namespace {

using firn::inner::internal::CopyDim;

constexpr int kDims = kMaxRank + 1;

// Some dimensions of a copy, counted in row-major order.
struct Walk {
  int rank = 0;
  int64_t count = 1;
  int64_t sizes[kDims] = {}, src_steps[kDims] = {}, dst_steps[kDims] = {};

  void Add(const CopyDim& d) {
    sizes[rank] = d.size;
    src_steps[rank] = d.src;
    dst_steps[rank++] = d.dst;
    count *= d.size;
  }
  FIRN_HOST_DEVICE void Find(int64_t i, int64_t* src, int64_t* dst) const {
    *src = *dst = 0;
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t at = d == 0 ? i : TakeDigit(i, sizes[d]);
      *src += at * src_steps[d];
      *dst += at * dst_steps[d];
    }
  }
};

// An element a thread, in the order of the destination.
template <class T>
struct CopyBody {
  const T* src;
  T* dst;
  Walk walk;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t from, to;
    walk.Find(i, &from, &to);
    dst[to] = src[from];
  }
};

// Where one dimension's elements are neighbours in the source and another's in the destination, as
// between NCHW and NHWC: copies squares, which are read along the one dimension and written along
// the other, so that both sides go through memory in runs. Rows lie in the source, columns in the
// destination.
template <class T>
struct TransposeBody {
  static constexpr int kSide = sizeof(T) <= 2 ? 64 : 32;
  // A row more than a row's length apart, so that a column's elements lie in different banks.
  struct Tile {
    T v[kSide][kSide + (sizeof(T) < 4 ? 4 / sizeof(T) : 1)];
  };

  const T* src;
  T* dst;
  Walk outer;
  int64_t row_length, column_length;
  int64_t src_step, dst_step;  // from row to row in the source, from column to column in the other
  int64_t row_tiles, column_tiles;

  template <class Team>
  FIRN_HOST_DEVICE void Load(const Team& team, Tile& tile, int64_t i) const {
    const Place p = Find(i);
    for (int64_t e = team.rank(); e < kSide * kSide; e += team.size()) {
      const int64_t r = e % kSide, c = e / kSide;
      if (p.r + r < row_length && p.c + c < column_length) {
        tile.v[c][r] = src[p.from + (p.c + c) * src_step + p.r + r];
      }
    }
  }

  template <class Team>
  FIRN_HOST_DEVICE void Store(const Team& team, const Tile& tile, int64_t i) const {
    const Place p = Find(i);
    for (int64_t e = team.rank(); e < kSide * kSide; e += team.size()) {
      const int64_t c = e % kSide, r = e / kSide;
      if (p.r + r < row_length && p.c + c < column_length) {
        dst[p.to + (p.r + r) * dst_step + p.c + c] = tile.v[c][r];
      }
    }
  }

 private:
  struct Place {
    int64_t r, c, from, to;
  };

  FIRN_HOST_DEVICE Place Find(int64_t i) const {
    Place p;
    p.c = TakeDigit(i, column_tiles) * kSide;
    p.r = TakeDigit(i, row_tiles) * kSide;
    outer.Find(i, &p.from, &p.to);
    return p;
  }
};

// The same for a dimension of only a few elements, such as the taps of a filter in row-major order,
// which on one side lies dense with the long one: in runs of kLong.
template <class T>
struct ThinBody {
  static constexpr int kLong = 64, kMostThin = 16;
  struct Tile {
    T v[kLong * kMostThin];  // as where they are dense: the thin dimension is the inner one
  };

  const T* src;
  T* dst;
  Walk outer;
  bool from_dense;
  int64_t thin, length;  // of the two dimensions
  int64_t step;          // from one of the thin dimension to the next, where they are not dense
  int64_t tiles;         // along the long one

  template <class Team>
  FIRN_HOST_DEVICE void Load(const Team& team, Tile& tile, int64_t i) const {
    const Place p = Find(i);
    for (int64_t e = team.rank(); e < (from_dense ? p.count : kLong) * thin; e += team.size()) {
      if (from_dense) {
        tile.v[e] = src[p.from + p.begin * thin + e];
      } else if (e % kLong < p.count) {
        tile.v[e % kLong * thin + e / kLong] = src[p.from + e / kLong * step + p.begin + e % kLong];
      }
    }
  }

  template <class Team>
  FIRN_HOST_DEVICE void Store(const Team& team, const Tile& tile, int64_t i) const {
    const Place p = Find(i);
    for (int64_t e = team.rank(); e < (from_dense ? kLong : p.count) * thin; e += team.size()) {
      if (!from_dense) {
        dst[p.to + p.begin * thin + e] = tile.v[e];
      } else if (e % kLong < p.count) {
        dst[p.to + e / kLong * step + p.begin + e % kLong] = tile.v[e % kLong * thin + e / kLong];
      }
    }
  }

 private:
  struct Place {
    int64_t begin, count, from, to;
  };

  FIRN_HOST_DEVICE Place Find(int64_t i) const {
    Place p;
    p.begin = TakeDigit(i, tiles) * kLong;
    p.count = length - p.begin < kLong ? length - p.begin : kLong;
    outer.Find(i, &p.from, &p.to);
    return p;
  }
};

template <class T>
absl::Status CopySingly(const Queue& queue, absl::Span<const CopyDim> dims, const void* src,
                        void* dst) {
  CopyBody<T> body = {static_cast<const T*>(src), static_cast<T*>(dst), {}};
  for (const CopyDim& d : dims) body.walk.Add(d);
  return ForEach(queue, body.walk.count, body);
}

// Sets the thin dimension and the long one of `body`, and returns whether the copy has such.
template <class T>
bool MakeThin(absl::Span<const CopyDim> dims, ThinBody<T>* body) {
  const CopyDim& last = dims.back();
  const auto is_thin = [](const CopyDim& d) { return d.size < ThinBody<T>::kMostThin; };
  for (const CopyDim& d : dims.first(dims.size() - 1)) {
    if (d.src != 1 || last.dst != 1) continue;
    const bool from_dense = is_thin(d) && last.src == d.size;
    if (!from_dense && !(is_thin(last) && d.dst == last.size)) continue;
    const CopyDim &thin = from_dense ? d : last, &wide = from_dense ? last : d;
    if (wide.size < ThinBody<T>::kLong / 2) continue;
    body->from_dense = from_dense;
    body->thin = thin.size;
    body->length = wide.size;
    body->step = from_dense ? thin.dst : thin.src;
    body->tiles = (wide.size - 1) / ThinBody<T>::kLong + 1;
    for (const CopyDim& other : dims) {
      if (&other != &d && &other != &last) body->outer.Add(other);
    }
    return true;
  }
  return false;
}

template <class T>
absl::Status Copy(const Queue& queue, absl::Span<const CopyDim> dims, const void* src, void* dst) {
  constexpr int64_t kLeast =
      16;  // squares that are mostly empty are no faster than single elements
  const CopyDim& column = dims.back();
  const CopyDim* row = nullptr;
  for (const CopyDim& d : dims.first(dims.size() - 1)) {
    if (d.src == 1 && d.size >= kLeast) row = &d;
  }
  if (row == nullptr || column.dst != 1 || column.size < kLeast) {
    ThinBody<T> thin = {static_cast<const T*>(src), static_cast<T*>(dst), {}};
    if (MakeThin(dims, &thin)) return ForEachTile(queue, thin.outer.count * thin.tiles, thin);
    return CopySingly<T>(queue, dims, src, dst);
  }
  TransposeBody<T> body = {static_cast<const T*>(src), static_cast<T*>(dst), {}};
  body.row_length = row->size;
  body.column_length = column.size;
  body.src_step = column.src;
  body.dst_step = row->dst;
  body.row_tiles = (row->size - 1) / body.kSide + 1;
  body.column_tiles = (column.size - 1) / body.kSide + 1;
  for (const CopyDim& d : dims) {
    if (&d != row && &d != &column) body.outer.Add(d);
  }
  return ForEachTile(queue, body.outer.count * body.row_tiles * body.column_tiles, body);
}

struct alignas(16) Bytes16 {
  uint64_t v[2];
};

// The copy in words of sixteen bytes, if runs that are dense on both sides consist of them.
std::optional<absl::InlinedVector<CopyDim, kDims>> InWords(absl::Span<const CopyDim> dims,
                                                           int64_t size, const void* src,
                                                           const void* dst) {
  constexpr int64_t kWord = sizeof(Bytes16);
  const CopyDim& run = dims.back();
  const auto whole = [&](int64_t elements) { return elements * size % kWord == 0; };
  const uintptr_t places = reinterpret_cast<uintptr_t>(src) | reinterpret_cast<uintptr_t>(dst);
  if (run.src != 1 || run.dst != 1 || !whole(run.size) || places % kWord != 0) return {};
  absl::InlinedVector<CopyDim, kDims> words;
  for (const CopyDim& d : dims.first(dims.size() - 1)) {
    if (!whole(d.src) || !whole(d.dst)) return {};
    words.push_back({d.size, d.src * size / kWord, d.dst * size / kWord});
  }
  words.push_back({run.size * size / kWord, 1, 1});
  return words;
}

absl::Status CopyElements(Device device, Stream* stream, absl::Span<const CopyDim> dims,
                          int64_t size, const void* src, void* dst) {
  const Queue queue(device, stream);
  if (const auto wide = InWords(dims, size, src, dst)) {
    return CopySingly<Bytes16>(queue, *wide, src, dst);
  }
  switch (size) {
    case 1:
      return Copy<uint8_t>(queue, dims, src, dst);
    case 2:
      return Copy<uint16_t>(queue, dims, src, dst);
    case 4:
      return Copy<uint32_t>(queue, dims, src, dst);
    default:
      return Copy<uint64_t>(queue, dims, src, dst);
  }
}

FIRN_BEFORE_GLOBALS const struct Registration {
  Registration() { firn::inner::internal::copy_on_cuda = CopyElements; }
} registration;

}  // namespace
}  // namespace firn::cuda
