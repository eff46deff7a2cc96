#ifndef FIRN_TENSOR_KERNELS_CUDA_SCATTER_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_SCATTER_CUH_

// Adding or writing elements of a source to the places that indices say, with the same result in
// any order of threads: positions are sorted by their place (order.cuh), so that those of one place
// stand together in their own order. They are summed in that order, and a plain write keeps the
// last one, as on the CPU.

#include <cstdint>

#include "firn/device/status_macros.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/index.cuh"
#include "firn/tensor/kernels/cuda/index_range.cuh"
#include "firn/tensor/kernels/cuda/order.cuh"

namespace firn::cuda {

// A place with a position below it and its list above, in one number: the counts come from tensors
// in memory, and places times positions is far below 2^64. The place nowhere() is larger than all
// others.
struct Packing {
  unsigned shift, place_bits, list_bits;

  Packing(int64_t lists, int64_t places, int64_t positions)
      : shift(BitsUpTo(positions)), place_bits(BitsUpTo(places)), list_bits(BitsUpTo(lists - 1)) {}

  // Whether the number has the list, which can be left out where lists are ordered one by one.
  FIRN_HOST_DEVICE bool has_list() const { return shift + place_bits + list_bits <= 64; }
  FIRN_HOST_DEVICE uint64_t Item(int64_t list, int64_t place, int64_t position) const {
    const uint64_t above =
        list_bits == 0 || !has_list() ? 0 : static_cast<uint64_t>(list) << (shift + place_bits);
    return above | (static_cast<uint64_t>(place) & nowhere()) << shift |
           static_cast<uint64_t>(position);
  }
  FIRN_HOST_DEVICE uint64_t Place(uint64_t item) const { return item >> shift & nowhere(); }
  FIRN_HOST_DEVICE int64_t Position(uint64_t item) const {
    return static_cast<int64_t>(item & ((uint64_t{1} << shift) - 1));
  }
  FIRN_HOST_DEVICE uint64_t nowhere() const { return (uint64_t{1} << place_bits) - 1; }
  RadixBits bits() const {
    if (!has_list()) return {};
    return {static_cast<int>(shift), static_cast<int>(shift + place_bits + list_bits)};
  }
};

// Source elements [line, position, column] go to elements [line, place, column] of y;
// `lines_a_list` neighbouring lines share one list of `count` indices.
struct Scatter {
  int64_t lists, lines_a_list, count, columns;
  int64_t places;  // of a line
  Steps source_line;
  int64_t source_step;        // from a position to the next; columns are neighbours
  Steps line, place, column;  // of y

  int64_t lines() const { return lists * lines_a_list; }
  Packing packing() const { return {lists, places, count}; }
  Ordering<uint64_t> ordering(Device device) const {
    return {device, lists, count, count, packing().bits()};
  }
};

// The items of lists of indices, `step` apart.
template <class I>
struct ListItemsBody {
  const I* indices;
  uint64_t* items;
  Packing packing;
  Steps list;
  int64_t count, step;
  IndexRange range;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t which = i;
    const int64_t position = TakeDigit(which, count);
    items[i] = packing.Item(which, range(indices[list(which) + position * step]), position);
  }
};

// A sorted scatter, as the loops below see it.
struct SortedScatter {
  Scatter s;
  const uint64_t* items;
  Packing packing;

  FIRN_HOST_DEVICE int64_t Source(int64_t line, uint64_t item, int64_t column) const {
    return s.source_line(line) + packing.Position(item) * s.source_step + column;
  }
  FIRN_HOST_DEVICE int64_t Target(int64_t line, int64_t place, int64_t column) const {
    return s.line(line) + s.place(place) + s.column(column);
  }
  FIRN_HOST_DEVICE const uint64_t* List(int64_t line) const {
    TakeDigit(line, s.lines_a_list);
    return items + line * s.count;
  }
};

// Thread [line, i, column] adds up the whole place that begins with item i of the line's list.
template <class T>
struct AddFromFirstBody {
  using Acc = AccumulatorOf<T>;
  SortedScatter sorted;
  const T* source;
  T* y;
  Acc alpha;

  FIRN_HOST_DEVICE void operator()(int64_t thread) const {
    constexpr int kAhead = 8;  // loads that do not wait for each other
    const Packing& packing = sorted.packing;
    const int64_t count = sorted.s.count;
    int64_t line = thread;
    const int64_t column = TakeDigit(line, sorted.s.columns);
    int64_t i = TakeDigit(line, count);
    const uint64_t* list = sorted.List(line);
    const uint64_t place = packing.Place(list[i]);
    if (place == packing.nowhere() || (i > 0 && packing.Place(list[i - 1]) == place)) return;
    const T* from = source + sorted.Source(line, 0, column);
    T& to = y[sorted.Target(line, static_cast<int64_t>(place), column)];
    Acc sum = static_cast<Acc>(to);
    for (; i + kAhead <= count && packing.Place(list[i + kAhead - 1]) == place; i += kAhead) {
      T values[kAhead];
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        values[j] = from[packing.Position(list[i + j]) * sorted.s.source_step];
      }
#pragma unroll
      for (int j = 0; j < kAhead; ++j) sum += alpha * static_cast<Acc>(values[j]);
    }
    for (; i < count && packing.Place(list[i]) == place; ++i) {
      sum += alpha * static_cast<Acc>(from[packing.Position(list[i]) * sorted.s.source_step]);
    }
    to = static_cast<T>(sum);
  }
};

// A team adds up a [line, place, column]: for few places that many positions go to.
template <class T>
struct AddToPlaceBody {
  using Acc = AccumulatorOf<T>;
  SortedScatter sorted;
  const T* source;
  T* y;
  Acc alpha;

  struct Plus {
    FIRN_HOST_DEVICE Acc operator()(Acc a, Acc b) const { return a + b; }
  };

  // How many items of the list have places before this one.
  FIRN_HOST_DEVICE int64_t Begin(const uint64_t* list, int64_t place) const {
    int64_t low = 0, high = sorted.s.count;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (sorted.packing.Place(list[middle]) < static_cast<uint64_t>(place)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  template <class Team>
  FIRN_HOST_DEVICE void operator()(const Team& team, int64_t target) const {
    int64_t line = target;
    const int64_t column = TakeDigit(line, sorted.s.columns);
    const int64_t place = TakeDigit(line, sorted.s.places);
    const uint64_t* list = sorted.List(line);
    const int64_t begin = Begin(list, place), end = Begin(list, place + 1);
    if (begin == end) return;
    const T* from = source + sorted.Source(line, 0, column);
    Acc sum = 0;
    for (int64_t i = begin + team.rank(); i < end; i += team.size()) {
      sum += static_cast<Acc>(from[sorted.packing.Position(list[i]) * sorted.s.source_step]);
    }
    sum = team.Reduce(sum, Plus());
    if (team.rank() != 0) return;
    T& to = y[sorted.Target(line, place, column)];
    to = static_cast<T>(static_cast<Acc>(to) + alpha * sum);
  }
};

// Thread [line, i, column] writes if item i is the last of its place.
template <class W>
struct WriteLastBody {
  SortedScatter sorted;
  const W* source;
  W* y;

  FIRN_HOST_DEVICE void operator()(int64_t thread) const {
    const Packing& packing = sorted.packing;
    int64_t line = thread;
    const int64_t column = TakeDigit(line, sorted.s.columns);
    const int64_t i = TakeDigit(line, sorted.s.count);
    const uint64_t* list = sorted.List(line);
    const uint64_t item = list[i], place = packing.Place(item);
    if (place == packing.nowhere()) return;
    if (i + 1 < sorted.s.count && packing.Place(list[i + 1]) == place) return;
    y[sorted.Target(line, static_cast<int64_t>(place), column)] =
        source[sorted.Source(line, item, column)];
  }
};

// Sorts items of [list, position], which lie at the start of the workspace.
inline absl::StatusOr<SortedScatter> SortScatter(const Queue& queue, const Scatter& s,
                                                 void* workspace) {
  FIRN_ASSIGN_OR_RETURN(const uint64_t* const sorted,
                        OrderItems(queue, s.ordering(queue.device), workspace));
  return SortedScatter{s, sorted, s.packing()};
}

// y += alpha * source, rounded once.
template <class T>
absl::Status AddSorted(const Queue& queue, const SortedScatter& sorted, AccumulatorOf<T> alpha,
                       const T* source, T* y) {
  const Scatter& s = sorted.s;
  if (s.places == 0) return absl::OkStatus();
  // Columns are added up side by side: only without many of them do long sums take a team.
  constexpr int64_t kLong = 64;
  if (s.count / kLong >= s.places * s.columns) {
    return ForEachLine(queue, s.lines() * s.places * s.columns, s.count / s.places,
                       AddToPlaceBody<T>{sorted, source, y, alpha});
  }
  return ForEach(queue, s.lines() * s.count * s.columns,
                 AddFromFirstBody<T>{sorted, source, y, alpha});
}

template <class W>
absl::Status WriteSorted(const Queue& queue, const SortedScatter& sorted, const W* source, W* y) {
  const Scatter& s = sorted.s;
  return ForEach(queue, s.lines() * s.count * s.columns, WriteLastBody<W>{sorted, source, y});
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_SCATTER_CUH_
