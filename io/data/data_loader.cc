// One loop is a Pass: the epoch's order, fixed at its beginning, and a function from a batch's
// number to the batch that any thread may call (LoaderEpoch). Without threads it is called when the
// loop asks; with threads, OrderedPrefetch calls it ahead. So the threads cannot change what comes
// out.
//
// Batches for a CUDA device are copied by the loop's own thread: others must not touch the device's
// stream, which may be recording.
#include "firn/io/data/data_loader.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/device/context.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/internal/device_batches.h"
#include "firn/io/data/internal/epoch_cut.h"
#include "firn/io/data/internal/loader_epoch.h"
#include "firn/io/data/internal/ordered_prefetch.h"
#include "firn/tensor/error.h"

namespace firn::io {

class DataLoader::Iterator::Pass {
 public:
  // `progress` follows how many batches of the epoch were given out.
  Pass(std::shared_ptr<const internal::LoaderEpoch> epoch, std::shared_ptr<Progress> progress)
      : epoch_(std::move(epoch)),
        batches_(epoch_->cut.BatchesOf(epoch_->first.epoch)),
        at_(epoch_->first.batch),
        progress_(std::move(progress)) {
    if (epoch_->options.prefetch > 0 && at_ < batches_) {
      prefetch_ = std::make_unique<internal::OrderedPrefetch>(
          at_, batches_, epoch_->options.prefetch, epoch_->options.ahead,
          [epoch = epoch_](int64_t i) { return epoch->Make(i); });
    }
    if (epoch_->options.device.is_cuda()) {
      absl::StatusOr<std::shared_ptr<internal::DeviceBatches>> there =
          internal::DeviceBatches::Make(epoch_->options.device);
      RaiseIfError(there.status(), "data loader");
      there_ = *std::move(there);
      Fetch(at_);
    }
    Load();
  }
  // A loop that the program leaves early is over.
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
    current_ = {};  // frees memory for the next one
    Load();
  }

 private:
  // A batch on its way to the device, or the exception that making it threw.
  struct Arriving {
    Sample sample;
    std::exception_ptr error;
  };

  Sample Make(int64_t batch) { return prefetch_ ? prefetch_->Next() : epoch_->Make(batch); }

  void Load() {
    progress_->next = {.epoch = epoch_->first.epoch, .batch = std::min(at_ + 1, batches_)};
    progress_->over = progress_->next.batch == batches_;
    progress_->held = false;
    if (at_end()) {
      const auto& ended = epoch_->options.on_epoch_end;
      if (ended) ended(epoch_->first.epoch);
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

  const std::shared_ptr<const internal::LoaderEpoch> epoch_;
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
  const auto& [rank, count] = options_.shard;
  require(count >= 1, "shard.count", count, ">= 1");
  if (rank < 0 || rank >= count) {
    RaiseStatus(InvalidArgument("shard.rank is ", rank, " (want 0 to ", count - 1, ")"),
                "data loader");
  }
  if (options_.batch > std::numeric_limits<int64_t>::max() / count) {
    RaiseStatus(InvalidArgument("batch is ", options_.batch, ", for ", count,
                                " ranks (want a product below 2^63)"),
                "data loader");
  }
  require(options_.prefetch >= 0, "prefetch", options_.prefetch, ">= 0");
  RaiseIfError(GetDeviceContext(options_.device).status(), "data loader");
  require(options_.ahead >= 1, "ahead", options_.ahead, ">= 1");
  if (options_.shuffle && options_.order) {
    RaiseStatus(InvalidArgument("shuffle and order: one of them tells the order"), "data loader");
  }
  samples_ = dataset_->size();
  require(samples_ >= 0, "the dataset's size", samples_, ">= 0");
}

const Dataset& DataLoader::dataset() const {
  if (dataset_ == nullptr) {
    RaiseStatus(FailedPrecondition("was moved from, and has no dataset"), "data loader");
  }
  return *dataset_;
}

DataLoader::Iterator DataLoader::begin() {
  dataset();  // throws if there is none
  const Position first = counts_ && last_->held ? last_->next : next_;
  if (options_.on_epoch_begin) options_.on_epoch_begin(first.epoch);
  auto epoch = std::make_shared<const internal::LoaderEpoch>(
      internal::LoaderEpoch{dataset_, options_, first, SamplesOf(first.epoch), Cut()});
  auto progress = std::make_shared<Progress>(Progress{.next = first});
  auto pass = std::make_unique<Iterator::Pass>(std::move(epoch), progress);
  next_ = {.epoch = first.epoch + 1};
  last_ = std::move(progress);
  counts_ = true;
  return Iterator(std::move(pass));
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
