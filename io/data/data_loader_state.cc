// A loader's position and its state. The position is kept as a number of samples, which has the
// same meaning for loaders with other batch sizes and numbers of ranks.
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/io/data/data_loader.h"
#include "firn/io/data/internal/epoch_cut.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"

namespace firn::io {
namespace {

// A loader counts on from the epoch of a state; this bound, which no counting reaches, leaves room
// for that.
constexpr int64_t kLastEpoch = int64_t{1} << 62;

// The entries that decide the order of an epoch, beside its number and its cut into batches.
std::vector<std::pair<const char*, int64_t>> OrderFields(const Dataset& dataset,
                                                         const DataLoaderOptions& options) {
  return {{"seed", static_cast<int64_t>(options.seed)},
          {"shuffle", options.order     ? 2
                      : options.shuffle ? 1
                                        : 0},
          {"drop_last", static_cast<int64_t>(options.last)},
          {"samples", dataset.size()}};
}
constexpr size_t kFields = 7;  // these four, "epoch", "batch" and "batch_size"

void Require(bool ok, const char* what, int64_t got, int64_t most) {
  if (ok) return;
  RaiseStatus(InvalidArgument(what, " is ", got, " (want 0 to ", most, ")"), "data loader");
}

// Throws unless the position exists in the epochs of `cut`; `any`: the loader has a dataset.
// Without one only batch 0 exists.
void CheckPosition(const DataLoader::Position& p, const internal::EpochCut& cut, bool any) {
  if (p.epoch < 0 || p.epoch > kLastEpoch) {
    RaiseStatus(InvalidArgument("epoch is ", p.epoch, " (want 0 to 2^62)"), "data loader");
  }
  const int64_t batches = any ? cut.BatchesOf(p.epoch) : 0;
  Require(p.batch == 0 || (p.batch > 0 && p.batch < batches), "batch", p.batch, batches - 1);
  const int64_t samples = p.batch < batches ? cut.Batch(p.batch).size : 1;
  Require(p.begin >= 0 && p.begin < samples, "begin", p.begin, samples - 1);
}

int64_t Read(const StateDict& state, const char* name) {
  const Tensor* entry = state.Find(name);
  if (entry == nullptr || !entry->defined()) {
    RaiseStatus(InvalidArgument("the state dict has no ", name), "data loader");
  }
  if (entry->dtype() != DType::kI64 || entry->num_elements() != 1) {
    RaiseStatus(InvalidArgument(name, " is ", DTypeName(entry->dtype()), " ",
                                entry->shape().ToString(), " (want one i64)"),
                "data loader");
  }
  return entry->Item<int64_t>();
}

}  // namespace

DataLoader::Position DataLoader::position() const {
  return counts_ && (last_->held || !last_->over) ? last_->next : next_;
}

void DataLoader::SetPosition(const Position& position) {
  CheckPosition(position, Cut(), dataset_ != nullptr);
  // A loop that is over has no batches left to count.
  counts_ = last_ != nullptr && !last_->over && position == last_->next;
  if (counts_) {
    last_->held = true;
    next_ = {.epoch = position.epoch + 1};
  } else {
    next_ = position;
  }
}

StateDict DataLoader::state_dict() const {
  Position at = position();
  int64_t batch = WholeBatch();
  if (at.begin != 0) {  // batches of one sample begin everywhere
    batch = 1;
    at = internal::EpochCut(samples_, batch, options_.last).PositionOf(Cut().SampleAt(at));
  }
  StateDict state;
  const auto insert = [&](const char* name, int64_t value) {
    state.Insert(name, FromVector(std::vector<int64_t>{value}, Shape()));
  };
  insert("epoch", at.epoch);
  insert("batch", at.batch);
  insert("batch_size", batch);
  for (const auto& [name, value] : OrderFields(dataset(), options_)) insert(name, value);
  return state;
}

void DataLoader::LoadStateDict(const StateDict& state) {
  Position position = {.epoch = Read(state, "epoch"), .batch = Read(state, "batch")};
  const int64_t batch = Read(state, "batch_size");
  bool same = true;
  for (const auto& [name, value] : OrderFields(dataset(), options_)) {
    const int64_t saved = Read(state, name);
    same = same && saved == value;
    if (position.batch == 0 || saved == value) continue;
    RaiseStatus(InvalidArgument("cannot go on with batch ", position.batch, " of an epoch: ", name,
                                " was ", saved, ", here it is ", value),
                "data loader");
  }
  if (state.size() != kFields) {
    RaiseStatus(
        InvalidArgument("the state dict has ", state.size(), " entries (want ", kFields, ")"),
        "data loader");
  }
  if (same && batch != WholeBatch()) {
    if (batch < 1) {
      RaiseStatus(InvalidArgument("batch_size is ", batch, " (want >= 1)"), "data loader");
    }
    const internal::EpochCut saved(samples_, batch, options_.last);
    CheckPosition(position, saved, true);
    // At the beginning of an epoch only batches that wrap go on from samples.
    const bool inside = position.batch != 0 || options_.last == LastBatch::kWrap;
    if (inside && samples_ != 0) position = Cut().PositionOf(saved.SampleAt(position));
  }
  SetPosition(position);
}

}  // namespace firn::io
