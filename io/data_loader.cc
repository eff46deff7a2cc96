// One loop is a Pass: the epoch's order, fixed at its beginning, and a function from a batch's
// number to the batch that any thread may call. Without threads it is called when the loop asks;
// with threads, OrderedPrefetch calls it ahead. So the threads cannot change what comes out.
//
// Batches for a CUDA device are copied by the loop's own thread: others must not touch the device's
// stream, which may be recording.
#include "io/data_loader.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "device/context.h"
#include "device/status_macros.h"
#include "io/internal/device_batches.h"
#include "io/internal/name_errors.h"
#include "io/internal/ordered_prefetch.h"
#include "io/internal/permutation.h"
#include "tensor/error.h"
#include "tensor/from.h"

namespace firn::io {
namespace {

// These keep numbers apart from other streams of the same seed.
constexpr uint64_t kMapKey = 0x6d61702067656e31;     // "map gen1"
constexpr uint64_t kSampleKey = 0x73616d706c652031;  // "sample 1"

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
    if (!options.transform) return dataset->GetBatch(indices);
    RandomGenerator random;
    std::vector<Sample> samples;
    samples.reserve(indices.size());
    for (const int64_t i : indices) {
      // 2^28 counters for each of 2^36 samples.
      random.SetPosition({KeyOf(kSampleKey), static_cast<uint64_t>(i) << 28});
      Sample sample = dataset->Get(i);
      samples.push_back(internal::WithNameOf(
          *dataset, i, "transform", [&] { return options.transform(std::move(sample), random); }));
    }
    return internal::StackOf(*dataset, indices, samples);
  }
};

// What the order of an epoch follows from, beside its number.
std::vector<std::pair<const char*, int64_t>> OrderFields(const Dataset& dataset,
                                                         const DataLoaderOptions& options) {
  return {{"batch_size", options.batch},
          {"seed", static_cast<int64_t>(options.seed)},
          {"shuffle", options.shuffle ? 1 : 0},
          {"drop_last", options.drop_last ? 1 : 0},
          {"samples", dataset.size()}};
}

}  // namespace

class DataLoader::Iterator::Pass {
 public:
  // `given` follows how many batches of the epoch were given out.
  Pass(std::shared_ptr<const Epoch> epoch, int64_t first, int64_t batches,
       std::shared_ptr<int64_t> given)
      : epoch_(std::move(epoch)), batches_(batches), at_(first), given_(std::move(given)) {
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
  ~Pass() { *given_ = batches_; }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  bool at_end() const { return at_ == batches_; }
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
    *given_ = std::min(at_ + 1, batches_);
    if (at_end()) return;
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
  const std::shared_ptr<int64_t> given_;
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
  const int64_t n = dataset_->size();
  require(n >= 0, "the dataset's size", n, ">= 0");
  batches_ = n / options_.batch + (!options_.drop_last && n % options_.batch != 0 ? 1 : 0);
}

const Dataset& DataLoader::dataset() const {
  if (dataset_ == nullptr) {
    RaiseStatus(FailedPrecondition("was moved from, and has no dataset"), "data loader");
  }
  return *dataset_;
}

DataLoader::Position DataLoader::position() const {
  if (given_ == nullptr || *given_ >= batches_) return next_;
  return {.epoch = next_.epoch - 1, .batch = *given_};
}

void DataLoader::SetPosition(const Position& position) {
  if (position.epoch < 0) {
    RaiseStatus(InvalidArgument("epoch is ", position.epoch, " (want >= 0)"), "data loader");
  }
  if (position.batch != 0 && (position.batch < 0 || position.batch >= batches_)) {
    RaiseStatus(InvalidArgument("batch is ", position.batch, " (want 0 to ", batches_ - 1, ")"),
                "data loader");
  }
  next_ = position;
  given_ = nullptr;
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
  const auto number = static_cast<uint64_t>(next_.epoch);
  const int64_t n = dataset().size();
  auto epoch = std::make_shared<const Epoch>(Epoch{
      dataset_, options_, number,
      options_.shuffle ? internal::Permutation(n, options_.seed, number) : internal::InOrder(n)});
  auto given = std::make_shared<int64_t>(0);
  auto pass = std::make_unique<Iterator::Pass>(std::move(epoch), next_.batch, batches_, given);
  next_ = {.epoch = next_.epoch + 1};
  given_ = std::move(given);
  return Iterator(std::move(pass));
}

DataLoader::Iterator::Iterator(std::unique_ptr<Pass> pass) : pass_(std::move(pass)) {}
DataLoader::Iterator::~Iterator() = default;
DataLoader::Iterator::Iterator(Iterator&&) noexcept = default;
DataLoader::Iterator& DataLoader::Iterator::operator=(Iterator&&) noexcept = default;

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
