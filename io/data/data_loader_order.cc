// Which samples an epoch goes through, in which order. All ranks draw the same.
#include <algorithm>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/io/data/data_loader.h"
#include "firn/io/data/internal/epoch_cut.h"
#include "firn/io/data/permutation.h"
#include "firn/tensor/error.h"

namespace firn::io {

internal::EpochCut DataLoader::Cut() const { return {samples_, WholeBatch(), options_.last}; }

int64_t DataLoader::BatchesOf(int64_t epoch) const {
  return dataset_ == nullptr ? 0 : Cut().BatchesOf(epoch);
}

std::vector<int64_t> DataLoader::OrderOf(int64_t epoch) const {
  if (!options_.order) {
    return options_.shuffle ? Permutation(samples_, options_.seed, static_cast<uint64_t>(epoch))
                            : InOrder(samples_);
  }
  std::vector<int64_t> order = options_.order(epoch);
  if (static_cast<int64_t>(order.size()) != samples_) {
    RaiseStatus(InvalidArgument("the order of epoch ", epoch, " has ", order.size(),
                                " indices (want ", samples_, ")"),
                "data loader");
  }
  for (const int64_t i : order) {
    if (i < 0 || i >= samples_) {
      RaiseStatus(OutOfRange("the order of epoch ", epoch, " has the index ", i, ", outside [0, ",
                             samples_, ")"),
                  "data loader");
    }
  }
  return order;
}

std::vector<int64_t> DataLoader::SamplesOf(int64_t epoch) const {
  std::vector<int64_t> order = OrderOf(epoch);
  if (options_.last != LastBatch::kWrap) return order;
  const internal::EpochCut cut = Cut();
  order.erase(order.begin(), order.begin() + std::min(cut.Wrapped(epoch), samples_));
  const auto wanted = static_cast<size_t>(cut.BatchesOf(epoch) * WholeBatch());
  while (order.size() < wanted) {
    const std::vector<int64_t> next = OrderOf(++epoch);
    const auto n = std::min<size_t>(next.size(), wanted - order.size());
    order.insert(order.end(), next.begin(), next.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return order;
}

EpochOrder ShuffleBlocks(std::vector<int64_t> sizes, Integer seed) {
  for (const int64_t size : sizes) {
    if (size < 0) RaiseStatus(InvalidArgument("a block of ", size, " samples"), "shuffle_blocks");
  }
  std::vector<int64_t> begins = {0};
  for (const int64_t size : sizes) begins.push_back(begins.back() + size);
  return [sizes = std::move(sizes), begins = std::move(begins), seed](int64_t epoch) {
    const auto number = static_cast<uint64_t>(epoch);
    std::vector<int64_t> order;
    order.reserve(static_cast<size_t>(begins.back()));
    for (const int64_t block : Permutation(static_cast<int64_t>(sizes.size()), seed, number)) {
      const auto b = static_cast<size_t>(block);
      // Each block has its own number, so that blocks of one size are shuffled differently.
      const uint64_t own_seed = seed ^ (static_cast<uint64_t>(block) + 1) * 0x9e3779b97f4a7c15;
      for (const int64_t i : Permutation(sizes[b], own_seed, number)) {
        order.push_back(begins[b] + i);
      }
    }
    return order;
  };
}

}  // namespace firn::io
