#ifndef FIRN_TENSOR_KERNELS_CUDA_ORDER_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_ORDER_CUH_

// Sorting lines of items by their key and then by their index, so that no two items are equal and
// every order is stable. Long lines of which at least a quarter is wanted are sorted by digits,
// with the line's number as the highest ones (radix_sort.h). For others, runs of kRun items are
// ordered by counting, for each item, how many come before it; then runs are merged two by two,
// each item finding its place by a search in the other run. Only the first `keep` items of a run go
// on, because no others can be among the first of the line.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/index.cuh"
#include "firn/tensor/kernels/cuda/radix_sort.h"

namespace firn::cuda {

inline constexpr int64_t kRun = 256;

template <class Item>
struct OrderRunsBody {
  const Item* from;
  Item* to;
  int64_t length, keep;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t line = i;
    const int64_t at = TakeDigit(line, length), run = at / kRun * kRun;
    const Item* items = from + line * length + run;
    const int64_t size = length - run < kRun ? length - run : kRun;
    const Item mine = items[at - run];
    int64_t rank = 0;
#pragma unroll 8
    for (int64_t j = 0; j < size; ++j) rank += items[j] < mine ? 1 : 0;
    if (rank < keep) to[line * length + run + rank] = mine;
  }
};

template <class Item>
struct MergeRunsBody {
  const Item* from;
  Item* to;
  int64_t length, keep, width, runs;  // runs of `width` items, so many a line
  int64_t most;                       // items of a run that are left

  FIRN_HOST_DEVICE int64_t Left(int64_t run) const {
    const int64_t size = length - run * width;
    return size < 0 ? 0 : size < most ? size : most;
  }

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t line = i;
    const int64_t at = TakeDigit(line, most), run = TakeDigit(line, runs), other = run ^ 1;
    if (at >= Left(run)) return;
    const Item mine = from[line * length + run * width + at];
    const Item* items = from + line * length + other * width;
    int64_t low = 0, high = Left(other);
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (items[middle] < mine) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const int64_t rank = at + low;
    if (rank < keep) to[line * length + (run & ~int64_t{1}) * width + rank] = mine;
  }
};

// Items are such pairs or, where key and index fit in 64 bits, one number with the key in the upper
// bits.
struct WideItem {
  uint64_t key, index;
};
FIRN_HOST_DEVICE inline bool operator<(const WideItem& a, const WideItem& b) {
  return a.key < b.key || (a.key == b.key && a.index < b.index);
}

// How lines of items are ordered.
template <class Item>
struct Ordering {
  int64_t lines, length, keep;
  RadixBits bits;
  size_t radix = 0;  // bytes for digits beside two arrays of items; 0: by merging

  // `key_and_line`: the bits of line and key in numbers that have the line above the key; none in
  // others.
  Ordering(Device device, int64_t of_lines, int64_t of_length, int64_t keeps,
           RadixBits key_and_line = {})
      : lines(of_lines), length(of_length), keep(keeps), bits(key_and_line) {
    if (bits.digits() > 0 && keep >= length / 4 && DigitsAreFaster()) {
      radix = RadixWorkspace(device, lines * length);
    }
  }

  size_t workspace() const {
    return 2 * static_cast<size_t>(lines * length) * sizeof(Item) + radix;
  }

 private:
  // The choice follows times for a million items on an H100, in microseconds.
  bool DigitsAreFaster() const {
    constexpr int kDigit = 38, kRuns = 74, kMerge = 25;
    int merging = kRuns;
    for (int64_t width = kRun; width < length; width *= 2) merging += kMerge;
    return length > kRun && bits.digits() * kDigit <= merging;
  }
};

// Orders every line of the items that lie at the start of the workspace and returns their new
// place. For each line only the first `keep` are meaningful.
template <class Item>
absl::StatusOr<const Item*> OrderItems(const Queue& queue, const Ordering<Item>& order,
                                       void* workspace) {
  const int64_t lines = order.lines, length = order.length, keep = order.keep;
  Item* items = static_cast<Item*>(workspace);
  Item* spare = items + lines * length;
  if (length < 2) return items;
  if constexpr (std::is_same_v<Item, uint64_t>) {
    if (order.radix != 0) {
      FIRN_RETURN_IF_ERROR(RadixSort(queue, items, spare, lines * length, order.bits,
                                     spare + lines * length, order.radix));
      return spare;
    }
  }
  FIRN_RETURN_IF_ERROR(
      ForEach(queue, lines * length, OrderRunsBody<Item>{items, spare, length, keep}));
  std::swap(items, spare);
  for (int64_t width = kRun; width < length; width *= 2) {
    const int64_t runs = (length + width - 1) / width, most = std::min(keep, width);
    FIRN_RETURN_IF_ERROR(
        ForEach(queue, lines * runs * most,
                MergeRunsBody<Item>{items, spare, length, keep, width, runs, most}));
    std::swap(items, spare);
  }
  return items;
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_ORDER_CUH_
