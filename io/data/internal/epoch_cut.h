#ifndef FIRN_IO_DATA_INTERNAL_EPOCH_CUT_H_
#define FIRN_IO_DATA_INTERNAL_EPOCH_CUT_H_

// How epochs are cut into batches, and batches into the parts of ranks.

#include <algorithm>
#include <cstdint>

#include "firn/io/data/data_loader.h"

namespace firn::io::internal {

struct Range {
  int64_t begin = 0, size = 0;
};

// The rank's part of these samples: parts differ by one at most, and the first are the larger ones.
// Where there are fewer samples than ranks the last parts are empty.
inline Range PartOf(const Range& batch, const Shard& shard) {
  if (shard.count == 1) return batch;
  const int64_t each = batch.size / shard.count, larger = batch.size % shard.count;
  return {.begin = batch.begin + shard.rank * each + std::min(shard.rank, larger),
          .size = each + (shard.rank < larger ? 1 : 0)};
}

// Epochs of so many samples, which lie one behind the other, cut into batches of all ranks. A plain
// value. Requires: samples >= 0, batch >= 1.
class EpochCut {
 public:
  EpochCut(int64_t samples, int64_t batch, LastBatch last)
      : samples_(samples), batch_(batch), last_(last) {}

  // How many batches the epoch has.
  int64_t BatchesOf(int64_t epoch) const;
  // How many of an epoch's samples are in batches of the epochs before, at most a batch less one.
  // If that is more samples than the epoch has, the epoch has no batch.
  int64_t Wrapped(int64_t epoch) const;
  // The samples of batch `i`, counted from the first sample of the epoch's first batch. Requires: i
  // < BatchesOf(epoch).
  Range Batch(int64_t i) const {
    const int64_t begin = i * batch_;
    const bool whole = last_ == LastBatch::kWrap;
    return {.begin = begin, .size = whole ? batch_ : std::min(batch_, samples_ - begin)};
  }

  // SampleAt: the number of a position's first sample, counted through all epochs, which does not
  // depend on the batch size. PositionOf: the reverse. Epochs beyond 2^63 come out negative.
  unsigned __int128 SampleAt(const DataLoader::Position& position) const;
  DataLoader::Position PositionOf(unsigned __int128 sample) const;

 private:
  int64_t samples_, batch_;
  LastBatch last_;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_INTERNAL_EPOCH_CUT_H_
