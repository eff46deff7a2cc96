// The cache in memory is a vector of samples, filled as they are asked for. Two threads that ask
// for the same one at the same time both make it, and one of the results is kept, so that no thread
// waits while another decodes.
#include "firn/io/data/cache.h"

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/io/data/internal/name_errors.h"
#include "firn/io/data/rows.h"
#include "firn/io/nnabla/internal/nnabla_cache_index.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

int64_t BytesOf(const Tensor& t) { return t.defined() ? t.num_elements() * SizeOf(t.dtype()) : 0; }
Tensor CopyOf(const Tensor& t) { return t.defined() ? t.Clone() : Tensor(); }

class MemoryCacheDataset final : public Dataset {
 public:
  MemoryCacheDataset(DatasetPtr base, int64_t max_bytes)
      : base_(std::move(base)), left_(max_bytes), samples_(static_cast<size_t>(base_->size())) {}
  int64_t size() const override { return base_->size(); }
  Sample Get(int64_t i) const override {
    return Shared(i).EachBy(CopyOf);  // which the caller may change
  }
  Sample GetBatch(absl::Span<const int64_t> indices) const override {
    std::vector<Sample> samples;
    samples.reserve(indices.size());
    for (const int64_t i : indices) samples.push_back(Shared(i));
    return internal::StackOf(*this, indices, samples);
  }
  std::vector<std::string> variables() const override { return base_->variables(); }
  std::string NameOf(int64_t i) const override { return base_->NameOf(i); }

 private:
  Sample Shared(int64_t i) const {
    if (i < 0 || i >= size()) return base_->Get(i);  // it throws
    std::optional<Sample>& slot = samples_[static_cast<size_t>(i)];
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (slot) return *slot;
    }
    Sample made = base_->Get(i);
    int64_t bytes = 0;
    for (const Tensor& t : made) bytes += BytesOf(t);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!slot && bytes <= left_) {
      left_ -= bytes;
      slot = made;
    }
    return made;
  }

  const DatasetPtr base_;
  mutable std::mutex mutex_;
  mutable int64_t left_;                                // bytes; guarded by mutex_
  mutable std::vector<std::optional<Sample>> samples_;  // guarded by mutex_
};

}  // namespace

DatasetPtr MemoryCache(DatasetPtr dataset, const MemoryCacheOptions& options) {
  if (dataset == nullptr) RaiseStatus(InvalidArgument("the dataset is null"), "memory_cache");
  if (options.max_bytes < 0) {
    RaiseStatus(InvalidArgument("max_bytes is ", options.max_bytes, " (want >= 0)"),
                "memory_cache");
  }
  return std::make_shared<MemoryCacheDataset>(std::move(dataset), options.max_bytes);
}

DatasetPtr FileCache(DatasetPtr dataset, const std::string& folder,
                     const FileCacheOptions& options) {
  if (dataset == nullptr) RaiseStatus(InvalidArgument("the dataset is null"), "file_cache");
  const int64_t size = dataset->size();
  const std::vector<std::string> variables = dataset->variables();
  using Names = std::vector<std::string>;
  const bool named = variables != Names{"input"} && variables != Names{"input", "target"};
  if (!options.reuse || !internal::IsNnablaCache(folder)) {
    WriteNnablaCache(folder, named ? std::move(dataset) : NameSamples(std::move(dataset)),
                     {.format = options.format, .threads = options.threads, .replace = true});
  }
  const auto cache = OpenNnablaCache(
      folder, {.variables = named ? variables : std::vector<std::string>(), .normalize = false});
  if (cache->size() != size) {
    RaiseStatus(FailedPrecondition(folder, ": expected a cache of ", size, " rows to reuse, got ",
                                   cache->size()),
                "file_cache");
  }
  if (named) return cache;
  return Pick(cache, {.target = cache->variables().size() == 1 ? "" : "y"});
}

}  // namespace firn::io
