// Prefetch: a pipeline of samples that starts over whenever the caller jumps to another index.
// Callers on several threads take turns.
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/io/data/dataset.h"
#include "firn/io/data/internal/ordered_prefetch.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

class PrefetchDataset final : public Dataset {
 public:
  PrefetchDataset(DatasetPtr base, const PrefetchOptions& options)
      : base_(std::move(base)), options_(options) {}
  int64_t size() const override { return base_->size(); }
  std::vector<std::string> variables() const override { return base_->variables(); }
  std::string NameOf(int64_t i) const override { return base_->NameOf(i); }
  Sample Get(int64_t i) const override {
    if (i < 0 || i >= size()) return base_->Get(i);  // it throws
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pipeline_ == nullptr || pipeline_->next() != i) {
      pipeline_.reset();  // ends the old threads before new ones start
      pipeline_ = std::make_unique<internal::OrderedPrefetch>(
          i, size(), options_.threads, options_.ahead,
          [base = base_](int64_t k) { return base->Get(k); });
    }
    return pipeline_->Next();
  }

 private:
  const DatasetPtr base_;
  const PrefetchOptions options_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<internal::OrderedPrefetch> pipeline_;  // guarded by mutex_
};

}  // namespace

DatasetPtr Prefetch(DatasetPtr dataset, const PrefetchOptions& options) {
  if (dataset == nullptr) RaiseStatus(InvalidArgument("the dataset is null"), "prefetch");
  if (options.threads < 0 || options.ahead < 1) {
    RaiseStatus(InvalidArgument("threads is ", options.threads, " (want >= 0), ahead is ",
                                options.ahead, " (want >= 1)"),
                "prefetch");
  }
  if (options.threads == 0) return dataset;
  return std::make_shared<PrefetchDataset>(std::move(dataset), options);
}

}  // namespace firn::io
