// All epochs form one stream of samples, in which epoch e begins at e * samples. If batches wrap,
// they are cut from the stream regardless of where epochs end; otherwise each epoch is cut by
// itself. Numbers of the stream have 128 bits, as a state may name any epoch.
#include "firn/io/data/internal/epoch_cut.h"

#include <algorithm>

namespace firn::io::internal {
namespace {

using Wide = unsigned __int128;

Wide Product(int64_t a, int64_t b) { return static_cast<Wide>(a) * static_cast<uint64_t>(b); }

}  // namespace

int64_t EpochCut::BatchesOf(int64_t epoch) const {
  const int64_t n = std::max<int64_t>(samples_ - Wrapped(epoch), 0);
  const bool partial = last_ != LastBatch::kDrop && n % batch_ != 0;
  return n / batch_ + (partial ? 1 : 0);
}

int64_t EpochCut::Wrapped(int64_t epoch) const {
  if (last_ != LastBatch::kWrap) return 0;
  const auto batch = static_cast<Wide>(batch_);
  return static_cast<int64_t>((batch - Product(epoch, samples_) % batch) % batch);
}

Wide EpochCut::SampleAt(const DataLoader::Position& position) const {
  return Product(position.epoch, samples_) + static_cast<uint64_t>(Wrapped(position.epoch)) +
         Product(position.batch, batch_) + static_cast<uint64_t>(position.begin);
}

DataLoader::Position EpochCut::PositionOf(Wide sample) const {
  if (samples_ == 0) return {};
  const auto samples = static_cast<Wide>(samples_), batch = static_cast<Wide>(batch_);
  DataLoader::Position at;
  if (last_ == LastBatch::kWrap) {
    const Wide first = sample - sample % batch;  // of the batch; decides its epoch
    at.epoch = static_cast<int64_t>(first / samples);
    at.begin = static_cast<int64_t>(sample - first);
    at.batch = static_cast<int64_t>((first % samples) / batch);
    return at;
  }
  const Wide in_epoch = sample % samples;
  at = {.epoch = static_cast<int64_t>(sample / samples),
        .batch = static_cast<int64_t>(in_epoch / batch),
        .begin = static_cast<int64_t>(in_epoch % batch)};
  // If the epoch's last samples make no batch, the next epoch follows.
  if (at.batch >= BatchesOf(at.epoch)) at = {.epoch = at.epoch + 1};
  return at;
}

}  // namespace firn::io::internal
