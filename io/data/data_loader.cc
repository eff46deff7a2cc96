// One loop is a Pass: the epoch's order, fixed at its beginning, and a function from a batch's
// number to the batch that any thread may call. Without threads it is called when the loop asks;
// with threads, OrderedPrefetch calls it ahead. So the threads cannot change what comes out.
//
// Batches for a CUDA device are copied by the loop's own thread: others must not touch the device's
// stream, which may be recording.
#include "firn/io/data/data_loader.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/device/context.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/internal/device_batches.h"
#include "firn/io/data/internal/name_errors.h"
#include "firn/io/data/internal/ordered_prefetch.h"
#include "firn/io/data/permutation.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"

namespace firn::io {
namespace {

// These keep numbers apart from other streams of the same seed.
constexpr uint64_t kMapKey = 0x6d61702067656e31;     // "map gen1"
constexpr uint64_t kSampleKey = 0x73616d706c652031;  // "sample 1"

// Epochs are counted on from where a state says; a number that nobody reaches by counting leaves
// room for that.
constexpr int64_t kLastEpoch = int64_t{1} << 62;

// What threads share; lives until the last of them is done.
struct Epoch {
  DatasetPtr dataset;
  DataLoaderOptions options;
  uint64_t number;
  std::vector<int64_t> order;

  Sample Make(int64_t batch) const {
    const auto all = static_cast<int64_t>(order.size());
    const int64_t begin = batch * options.batch;
    const int64_t n = std::min(options.batch, all - begin);
    Sample made = Gather(
        absl::MakeConstSpan(order).subspan(static_cast<size_t>(begin), static_cast<size_t>(n)));
    if (!options.map) return made;
    RandomGenerator random;
    random.SetPosition({KeyOf(kMapKey), static_cast<uint64_t>(batch) << 40});
    return options.map(std::move(made), random);
  }

 private:
  uint64_t KeyOf(uint64_t stream) const {
    return options.seed ^ stream ^ (number << 32 | number >> 32);
  }

  Sample Gather(absl::Span<const int64_t> indices) const {
    if (!options.transform && !options.collate) return dataset->GetBatch(indices);
    RandomGenerator random;
    std::vector<Sample> samples;
    samples.reserve(indices.size());
    for (const int64_t i : indices) {
      // 2^28 counters for each of 2^36 samples.
      random.SetPosition({KeyOf(kSampleKey), static_cast<uint64_t>(i) << 28});
      Sample sample = dataset->Get(i);
      if (!options.transform) {
        samples.push_back(std::move(sample));
        continue;
      }
      samples.push_back(internal::WithNameOf(
          *dataset, i, "transform", [&] { return options.transform(std::move(sample), random); }));
    }
    if (options.collate) return options.collate(samples);
    return internal::StackOf(*dataset, indices, samples);
  }
};

// What the order of an epoch follows from, beside its number.
std::vector<std::pair<const char*, int64_t>> OrderFields(const Dataset& dataset,
                                                         const DataLoaderOptions& options) {
  return {{"batch_size", options.batch},
          {"seed", static_cast<int64_t>(options.seed)},
          {"shuffle", options.order     ? 2
                      : options.shuffle ? 1
                                        : 0},
          {"drop_last", static_cast<int64_t>(options.last)},
          {"samples", dataset.size()}};
}

}  // namespace

class DataLoader::Iterator::Pass {
 public:
  // `progress` follows how many batches of the epoch were given out.
  Pass(std::shared_ptr<const Epoch> epoch, int64_t first, int64_t batches,
       std::shared_ptr<Progress> progress)
      : epoch_(std::move(epoch)), batches_(batches), at_(first), progress_(std::move(progress)) {
    if (epoch_->options.prefetch > 0 && first < batches) {
      prefetch_ = std::make_unique<internal::OrderedPrefetch>(
          first, batches, epoch_->options.prefetch, epoch_->options.ahead,
          [epoch = epoch_](int64_t i) { return epoch->Make(i); });
    }
    if (epoch_->options.device.is_cuda()) {
      absl::StatusOr<std::shared_ptr<internal::DeviceBatches>> there =
          internal::DeviceBatches::Make(epoch_->options.device);
      RaiseIfError(there.status(), "data loader");
      there_ = *std::move(there);
      Fetch(first);
    }
    Load();
  }
  // A loop that was left is over.
  ~Pass() { progress_->over = true; }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  bool at_end() const { return at_ == batches_; }
  int64_t batch() const { return at_; }
  Sample& current() {
    if (!made_) {
      RaiseStatus(FailedPrecondition("batch ", at_, " of ", batches_, " could not be made"),
                  "data loader");
    }
    return current_;
  }
  void Advance() {
    ++at_;
    made_ = false;
    current_ = {};  // its memory is there for the next one
    Load();
  }

 private:
  // A batch on its way to the device, or what went wrong with it.
  struct Arriving {
    Sample sample;
    std::exception_ptr error;
  };

  Sample Make(int64_t batch) { return prefetch_ ? prefetch_->Next() : epoch_->Make(batch); }

  void Load() {
    progress_->next.batch = std::min(at_ + 1, batches_);
    progress_->over = progress_->next.batch == batches_;
    progress_->held = false;
    if (at_end()) {
      const auto& ended = epoch_->options.on_epoch_end;
      if (ended) ended(static_cast<int64_t>(epoch_->number));
      return;
    }
    if (there_ == nullptr) {
      current_ = Make(at_);
    } else {
      there_->HandOut();
      Arriving arrived = std::exchange(arriving_, {});
      Fetch(at_ + 1);
      if (arrived.error) std::rethrow_exception(arrived.error);
      current_ = std::move(arrived.sample);
    }
    made_ = true;
  }

  void Fetch(int64_t batch) {
    if (batch >= batches_) return;
    try {
      arriving_.sample = there_->Upload(Make(batch));
    } catch (...) {
      arriving_.error = std::current_exception();
    }
  }

  const std::shared_ptr<const Epoch> epoch_;
  const int64_t batches_;
  int64_t at_;
  const std::shared_ptr<Progress> progress_;
  bool made_ = false;  // whether current_ is batch at_
  Sample current_;
  Arriving arriving_;                               // the batch after it
  std::shared_ptr<internal::DeviceBatches> there_;  // null: batches stay on the CPU
  std::unique_ptr<internal::OrderedPrefetch> prefetch_;
};

DataLoader::DataLoader(DatasetPtr dataset, DataLoaderOptions options)
    : dataset_(std::move(dataset)), options_(std::move(options)) {
  const auto require = [](bool ok, const char* what, int64_t got, const char* want) {
    if (!ok) RaiseStatus(InvalidArgument(what, " is ", got, " (want ", want, ")"), "data loader");
  };
  if (dataset_ == nullptr) RaiseStatus(InvalidArgument("the dataset is null"), "data loader");
  require(options_.batch >= 1, "batch", options_.batch, ">= 1");
  require(options_.prefetch >= 0, "prefetch", options_.prefetch, ">= 0");
  RaiseIfError(GetDeviceContext(options_.device).status(), "data loader");
  require(options_.ahead >= 1, "ahead", options_.ahead, ">= 1");
  if (options_.shuffle && options_.order) {
    RaiseStatus(InvalidArgument("shuffle and order: one of them tells the order"), "data loader");
  }
  samples_ = dataset_->size();
  require(samples_ >= 0, "the dataset's size", samples_, ">= 0");
}

int64_t DataLoader::BatchesOf(int64_t epoch) const {
  if (dataset_ == nullptr) return 0;
  const int64_t n = std::max<int64_t>(samples_ - Wrapped(epoch), 0);
  const bool partial = options_.last != LastBatch::kDrop && n % options_.batch != 0;
  return n / options_.batch + (partial ? 1 : 0);
}

int64_t DataLoader::Wrapped(int64_t epoch) const {
  if (options_.last != LastBatch::kWrap) return 0;
  // Epochs lie one behind the other, cut into batches: what the cut before this epoch's beginning
  // leaves of its batch. In 128 bits, as a state may have any number.
  const auto batch = static_cast<unsigned __int128>(options_.batch);
  const auto before = static_cast<unsigned __int128>(epoch) * static_cast<uint64_t>(samples_);
  return static_cast<int64_t>((batch - before % batch) % batch);
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
  order.erase(order.begin(), order.begin() + std::min(Wrapped(epoch), samples_));
  const auto wanted = static_cast<size_t>(BatchesOf(epoch) * options_.batch);
  while (order.size() < wanted) {
    const std::vector<int64_t> next = OrderOf(++epoch);
    const auto n = std::min<size_t>(next.size(), wanted - order.size());
    order.insert(order.end(), next.begin(), next.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return order;
}

const Dataset& DataLoader::dataset() const {
  if (dataset_ == nullptr) {
    RaiseStatus(FailedPrecondition("was moved from, and has no dataset"), "data loader");
  }
  return *dataset_;
}

DataLoader::Position DataLoader::position() const {
  return counts_ && (last_->held || !last_->over) ? last_->next : next_;
}

void DataLoader::SetPosition(const Position& position) {
  if (position.epoch < 0 || position.epoch > kLastEpoch) {
    RaiseStatus(InvalidArgument("epoch is ", position.epoch, " (want 0 to 2^62)"), "data loader");
  }
  const int64_t batches = BatchesOf(position.epoch);
  if (position.batch != 0 && (position.batch < 0 || position.batch >= batches)) {
    RaiseStatus(InvalidArgument("batch is ", position.batch, " (want 0 to ", batches - 1, ")"),
                "data loader");
  }
  // A loop on its last batch has nothing left to count.
  counts_ = last_ != nullptr && !last_->over && position == last_->next;
  if (counts_) {
    last_->held = true;
    next_ = {.epoch = position.epoch + 1};
  } else {
    next_ = position;
  }
}

StateDict DataLoader::state_dict() const {
  const Position at = position();
  StateDict state;
  const auto insert = [&](const char* name, int64_t value) {
    state.Insert(name, FromVector(std::vector<int64_t>{value}, Shape()));
  };
  insert("epoch", at.epoch);
  insert("batch", at.batch);
  for (const auto& [name, value] : OrderFields(dataset(), options_)) insert(name, value);
  return state;
}

void DataLoader::LoadStateDict(const StateDict& state) {
  const auto read = [&](const char* name) {
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
  };
  const Position position = {.epoch = read("epoch"), .batch = read("batch")};
  const std::vector<std::pair<const char*, int64_t>> fields = OrderFields(dataset(), options_);
  for (const auto& [name, value] : fields) {
    const int64_t saved = read(name);
    if (position.batch == 0 || saved == value) continue;
    RaiseStatus(InvalidArgument("cannot go on with batch ", position.batch, " of an epoch: ", name,
                                " was ", saved, ", here it is ", value),
                "data loader");
  }
  if (state.size() != fields.size() + 2) {
    RaiseStatus(InvalidArgument("the state dict has ", state.size(), " entries (want ",
                                fields.size() + 2, ")"),
                "data loader");
  }
  SetPosition(position);
}

DataLoader::Iterator DataLoader::begin() {
  dataset();  // which is an error where there is none
  const Position first = counts_ && last_->held ? last_->next : next_;
  if (options_.on_epoch_begin) options_.on_epoch_begin(first.epoch);
  auto epoch = std::make_shared<const Epoch>(
      Epoch{dataset_, options_, static_cast<uint64_t>(first.epoch), SamplesOf(first.epoch)});
  auto progress = std::make_shared<Progress>(Progress{.next = first});
  auto pass = std::make_unique<Iterator::Pass>(std::move(epoch), first.batch,
                                               BatchesOf(first.epoch), progress);
  next_ = {.epoch = first.epoch + 1};
  last_ = std::move(progress);
  counts_ = true;
  return Iterator(std::move(pass));
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
      // Blocks of the same size must not all be shuffled alike.
      const uint64_t own_seed = seed ^ (static_cast<uint64_t>(block) + 1) * 0x9e3779b97f4a7c15;
      for (const int64_t i : Permutation(sizes[b], own_seed, number)) {
        order.push_back(begins[b] + i);
      }
    }
    return order;
  };
}

DataLoader::Iterator::Iterator(std::unique_ptr<Pass> pass) : pass_(std::move(pass)) {}
DataLoader::Iterator::~Iterator() = default;
DataLoader::Iterator::Iterator(Iterator&&) noexcept = default;
DataLoader::Iterator& DataLoader::Iterator::operator=(Iterator&&) noexcept = default;

int64_t DataLoader::Iterator::batch() const { return pass_ == nullptr ? 0 : pass_->batch(); }

Sample& DataLoader::Iterator::operator*() const {
  RefuseEnd();
  return pass_->current();
}

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  RefuseEnd();
  pass_->Advance();
  return *this;
}

bool DataLoader::Iterator::AtEnd() const { return pass_ == nullptr || pass_->at_end(); }

void DataLoader::Iterator::RefuseEnd() const {
  if (AtEnd()) RaiseStatus(OutOfRange("there is no batch: the loop is at its end"), "data loader");
}

}  // namespace firn::io
