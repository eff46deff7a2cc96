// One loop is a Pass: the epoch's order, fixed at its beginning, and a function from a batch's
// number to the batch that any thread may call. Without threads it is called when the loop asks;
// with threads, OrderedPrefetch calls it ahead. So the threads cannot change what comes out.
#include "io/data_loader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "device/status_macros.h"
#include "io/internal/ordered_prefetch.h"
#include "io/internal/permutation.h"
#include "tensor/error.h"

namespace firn::io {
namespace {

constexpr uint64_t kMapKey = 0x6d61702067656e31;  // keeps map's numbers apart from other streams

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
    Sample made = dataset->GetBatch(
        absl::MakeConstSpan(order).subspan(static_cast<size_t>(begin), static_cast<size_t>(n)));
    if (!options.map) return made;
    Generator random;
    random.SetPosition({options.seed ^ kMapKey ^ (number << 32 | number >> 32),
                        static_cast<uint64_t>(batch) << 40});
    return options.map(std::move(made), random);
  }
};

}  // namespace

class DataLoader::Iterator::Pass {
 public:
  Pass(std::shared_ptr<const Epoch> epoch, int64_t batches)
      : epoch_(std::move(epoch)), batches_(batches) {
    if (epoch_->options.prefetch > 0 && batches > 0) {
      prefetch_ = std::make_unique<internal::OrderedPrefetch>(
          0, batches, epoch_->options.prefetch, epoch_->options.ahead,
          [epoch = epoch_](int64_t i) { return epoch->Make(i); });
    }
    Load();
  }

  bool at_end() const { return at_ == batches_; }
  Sample& current() { return current_; }
  void Advance() {
    ++at_;
    current_ = {};  // its memory is there for the next one
    Load();
  }

 private:
  void Load() {
    if (at_end()) return;
    current_ = prefetch_ ? prefetch_->Next() : epoch_->Make(at_);
  }

  const std::shared_ptr<const Epoch> epoch_;
  const int64_t batches_;
  int64_t at_ = 0;
  Sample current_;
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
  require(options_.ahead >= 1, "ahead", options_.ahead, ">= 1");
  const int64_t n = dataset_->size();
  batches_ = n / options_.batch + (!options_.drop_last && n % options_.batch != 0 ? 1 : 0);
}

DataLoader::Iterator DataLoader::begin() {
  const auto number = static_cast<uint64_t>(epoch_);
  const int64_t n = dataset_->size();
  auto epoch = std::make_shared<const Epoch>(Epoch{
      dataset_, options_, number,
      options_.shuffle ? internal::Permutation(n, options_.seed, number) : internal::InOrder(n)});
  ++epoch_;
  return Iterator(std::make_unique<Iterator::Pass>(std::move(epoch), batches_));
}

DataLoader::Iterator::Iterator(std::unique_ptr<Pass> pass) : pass_(std::move(pass)) {}
DataLoader::Iterator::~Iterator() = default;
DataLoader::Iterator::Iterator(Iterator&&) noexcept = default;
DataLoader::Iterator& DataLoader::Iterator::operator=(Iterator&&) noexcept = default;

Sample& DataLoader::Iterator::operator*() const { return pass_->current(); }

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  pass_->Advance();
  return *this;
}

bool DataLoader::Iterator::AtEnd() const { return pass_->at_end(); }

}  // namespace firn::io
