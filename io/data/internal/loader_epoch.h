#ifndef FIRN_IO_DATA_INTERNAL_LOADER_EPOCH_H_
#define FIRN_IO_DATA_INTERNAL_LOADER_EPOCH_H_

// The batches of one epoch, by their numbers.

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "firn/io/data/data_loader.h"
#include "firn/io/data/internal/epoch_cut.h"

namespace firn::io::internal {

// The object that the threads which make batches share; it lives until the last of them is done.
// Any thread may make any batch.
struct LoaderEpoch {
  DatasetPtr dataset;
  DataLoaderOptions options;
  DataLoader::Position first;  // the epoch's number, and the first batch that is made
  std::vector<int64_t> order;  // the samples of all batches
  EpochCut cut;

  // This rank's part of it. Requires: a batch of the epoch.
  Sample Make(int64_t batch) const;

 private:
  uint64_t KeyOf(uint64_t stream) const;
  Sample Gather(absl::Span<const int64_t> indices) const;
  // The batch of these samples.
  Sample MakeOf(const Range& samples, int64_t batch) const;
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_INTERNAL_LOADER_EPOCH_H_
