// Elements become unsigned integers in the order wanted (keys), ranks are keys with their indices
// behind them, and so an order of plain integers without ties. Long lines are sorted by the digits
// of their keys, last digit first (LSD radix sort, which is stable, so that indices are not
// compared); the first of a line are found by comparing vectors of it with the last rank kept so
// far.

#include "firn/tensor/kernels/cpu/order.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "firn/device/macros.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/reducers.h"
#include "firn/tensor/kernels/width.h"

namespace firn::cpu {
namespace {

// Made of a key of up to 32 bits and an index below 2^32: the key in the upper half.
using NarrowRank = uint64_t;
struct WideRank {
  uint64_t key, index;
  bool operator<(const WideRank& other) const {
    return key != other.key ? key < other.key : index < other.index;
  }
};

uint64_t KeyOf(NarrowRank r) { return r >> 32; }
uint64_t KeyOf(const WideRank& r) { return r.key; }
int64_t IndexOf(NarrowRank r) { return static_cast<int64_t>(r & 0xffffffffu); }
int64_t IndexOf(const WideRank& r) { return static_cast<int64_t>(r.index); }

// An infinity without its sign: NaN have larger bits.
template <class T>
constexpr BitsOf<T> kInfinityBits = std::bit_cast<BitsOf<T>>(std::numeric_limits<T>::infinity());
template <>
constexpr uint16_t kInfinityBits<Half> = 0x7c00;
template <>
constexpr uint16_t kInfinityBits<BFloat16> = 0x7f80;

// The elements of T in ascending order. Zeros of both signs have one key, as all NaN have.
template <class T>
BitsOf<T> AscendingKey(T v) {
  using Key = BitsOf<T>;
  constexpr int kSignBit = static_cast<int>(sizeof(T)) * 8 - 1;
  constexpr Key kSign = static_cast<Key>(Key{1} << kSignBit);
  if constexpr (std::is_same_v<T, bool>) {
    return v ? 1 : 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<Key>(static_cast<Key>(v) ^ (std::is_signed_v<T> ? kSign : Key{0}));
  } else {
    const Key bits = std::bit_cast<Key>(v), size = static_cast<Key>(bits & ~kSign);
    const Key down = static_cast<Key>(Key{0} - (bits >> kSignBit));  // ones for the negative
    const Key key = static_cast<Key>(size == 0 ? kSign : bits ^ (down | kSign));
    return size > kInfinityBits<T> ? static_cast<Key>(~Key{0}) : key;
  }
}

template <class T, class Rank>
void RankElements(const T* x, int64_t step, int64_t n, bool descending, Rank* to) {
  using Key = BitsOf<T>;
  const Key turned = static_cast<Key>(descending ? ~Key{0} : Key{0});
  const auto rank = [&](T v, int64_t i) -> Rank {
    const uint64_t key = static_cast<Key>(AscendingKey(v) ^ turned);
    if constexpr (std::is_same_v<Rank, WideRank>) {
      return {key, static_cast<uint64_t>(i)};
    } else {
      return key << 32 | static_cast<uint64_t>(i);
    }
  };
  if (step == 1) {
    FIRN_INDEPENDENT_STEPS
    for (int64_t i = 0; i < n; ++i) to[i] = rank(x[i], i);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = rank(x[i * step], i);
  }
}

constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits;

// So many are sorted faster by comparing them.
constexpr int64_t kFewRanks = 128;

// Orders ranks that are in the order of their indices, by keys of `bytes` bytes. Returns the one of
// the two arrays that has the result. Requires: n > 0.
template <class Rank>
Rank* SortRanks(Rank* ranks, Rank* spare, int64_t n, int bytes) {
  constexpr int kMostBytes = std::is_same_v<Rank, WideRank> ? 8 : 4;
  int64_t counts[kMostBytes][kDigits] = {};
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t key = KeyOf(ranks[i]);
    for (int b = 0; b < bytes; ++b) ++counts[b][key >> (kDigitBits * b) & (kDigits - 1)];
  }
  for (int b = 0; b < bytes; ++b) {
    const auto digit = [&](const Rank& r) { return KeyOf(r) >> (kDigitBits * b) & (kDigits - 1); };
    if (counts[b][digit(ranks[0])] == n) continue;  // one digit for all
    int64_t places[kDigits], total = 0;
    for (int d = 0; d < kDigits; ++d) {
      places[d] = total;
      total += counts[b][d];
    }
    for (int64_t i = 0; i < n; ++i) spare[places[digit(ranks[i])]++] = ranks[i];
    std::swap(ranks, spare);
  }
  return ranks;
}

constexpr int64_t kStretch = 64;  // ranks that are compared at once

// Room for the candidates among which the first `keep` are found.
int64_t CandidatesFor(int64_t keep) { return 2 * keep + kStretch; }

// Moves the first `keep` ranks of the order to the front, in any order. Candidates gather at the
// front; whenever there is no more room for them, all but the first are dropped.
template <class Rank>
void SelectRanks(Rank* ranks, int64_t n, int64_t keep) {
  if (keep == 0 || keep == n) return;
  const int64_t room = CandidatesFor(keep);
  if (n <= room) return std::nth_element(ranks, ranks + keep - 1, ranks + n);
  int64_t found = room - kStretch;
  Rank last;
  const auto drop = [&] {
    std::nth_element(ranks, ranks + keep - 1, ranks + found);
    last = ranks[keep - 1];
    found = keep;
  };
  int64_t at = found;
  drop();
  for (; at < n; at += kStretch) {
    const Rank* const stretch = ranks + at;
    const int64_t count = std::min(kStretch, n - at);
    int64_t better = 0;
    // Among equal keys the earlier one comes first, so comparing keys is enough.
    for (int64_t i = 0; i < count; ++i) better += KeyOf(stretch[i]) < KeyOf(last) ? 1 : 0;
    if (better == 0) continue;
    for (int64_t i = 0; i < count; ++i) {
      const Rank r = stretch[i];
      ranks[found] = r;
      found += KeyOf(r) < KeyOf(last) ? 1 : 0;
    }
    if (found > room - kStretch) drop();
  }
  drop();
}

// Whether a line is sorted as a whole, which is faster than to find its first elements when these
// are more than a small part, and needs room for as many ranks again.
bool SortsAll(int64_t length, const LineOrder& o) {
  return o.sorted && length > kFewRanks && o.keep > length / 16;
}

// Orders the ranks of a line as asked. Returns the array that begins with the first `keep`.
template <class Rank>
Rank* OrderRanks(Rank* ranks, Rank* spare, int64_t n, const LineOrder& o, int bytes) {
  if (SortsAll(n, o)) return SortRanks(ranks, spare, n, bytes);
  SelectRanks(ranks, n, o.keep);
  if (o.sorted) std::sort(ranks, ranks + o.keep);
  return ranks;
}

// The number of pieces of workspace that lines share, for any number of threads; it is lower where
// ranks would take much memory.
int64_t NumSlots(const Lines& l) {
  const int64_t most =
      std::clamp<int64_t>((int64_t{1} << 26) / std::max<int64_t>(l.length, 1), 1, 16);
  return std::min(most, l.outer * l.inner);
}

// Room for one of these pieces, in ranks.
int64_t RoomFor(const Lines& l, const LineOrder& o) {
  return l.length * (SortsAll(l.length, o) ? 2 : 1);
}

bool NeedsWideRanks(const Lines& l, DType d) {
  return SizeOf(d) > 4 || l.length > int64_t{1} << 32;
}

template <class T, class Rank>
void OrderAs(const Lines& l, const LineOrder& o, const T* x, T* values, int64_t* indices,
             Rank* workspace) {
  const int64_t lines = l.outer * l.inner, slots = NumSlots(l);
  const int64_t room = RoomFor(l, o);
  const int64_t grain = std::max<int64_t>(1, 2048 * slots / std::max<int64_t>(lines * l.length, 1));
  ParallelFor(slots, grain, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot) {
      Rank* const ranks = workspace + slot * room;
      for (int64_t line = lines * slot / slots; line < lines * (slot + 1) / slots; ++line) {
        const int64_t block = line / l.inner, column = line % l.inner;
        const T* from = x + block * l.length * l.inner + column;
        RankElements(from, l.inner, l.length, o.descending, ranks);
        const Rank* const first = OrderRanks(ranks, ranks + l.length, l.length, o, sizeof(T));
        const int64_t to = block * o.keep * l.inner + column;
        for (int64_t i = 0; i < o.keep; ++i) {
          const int64_t index = IndexOf(first[i]);
          values[to + i * l.inner] = from[index * l.inner];
          indices[to + i * l.inner] = index;
        }
      }
    }
  });
}

}  // namespace

size_t OrderWorkspace(const Lines& l, const LineOrder& o, DType d) {
  const int64_t slots = NumSlots(l);
  const size_t rank = NeedsWideRanks(l, d) ? sizeof(WideRank) : sizeof(NarrowRank);
  return static_cast<size_t>(slots * RoomFor(l, o)) * rank;
}

void OrderLines(const Lines& l, const LineOrder& o, DType d, const void* x, void* values,
                int64_t* indices, void* workspace) {
  VisitDType(d, [&]<class T>(TypeTag<T>) {
    const auto run = [&]<class Rank>(Rank* ranks) {
      OrderAs(l, o, static_cast<const T*>(x), static_cast<T*>(values), indices, ranks);
    };
    if constexpr (sizeof(T) <= 4) {
      if (!NeedsWideRanks(l, d)) return run(static_cast<NarrowRank*>(workspace));
    }
    run(static_cast<WideRank*>(workspace));
  });
}

}  // namespace firn::cpu
