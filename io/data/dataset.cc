// The combinators are small classes that forward to the dataset below them. Those that only choose
// samples (Subset, Shuffle, Concat within one part, Batch) pass GetBatch on, so that the fast
// gather of a dataset at the bottom is reached through any number of them.
#include "firn/io/data/dataset.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/internal/name_errors.h"
#include "firn/io/data/permutation.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using internal::CheckIndex;

void CheckDefined(const DatasetPtr& dataset, const char* who) {
  if (dataset == nullptr) RaiseStatus(InvalidArgument("the dataset is null"), who);
}

class FunctionDataset final : public Dataset {
 public:
  FunctionDataset(int64_t size, std::function<Sample(int64_t)> f) : size_(size), f_(std::move(f)) {}
  int64_t size() const override { return size_; }
  Sample Get(int64_t i) const override {
    CheckIndex(i, size_);
    return f_(i);
  }

 private:
  const int64_t size_;
  const std::function<Sample(int64_t)> f_;
};

class MapDataset final : public Dataset {
 public:
  MapDataset(DatasetPtr base, std::function<Sample(Sample)> f)
      : base_(std::move(base)), f_(std::move(f)) {}
  int64_t size() const override { return base_->size(); }
  Sample Get(int64_t i) const override {
    Sample sample = base_->Get(i);
    return internal::WithNameOf(*base_, i, "map", [&] { return f_(std::move(sample)); });
  }
  std::string NameOf(int64_t i) const override { return base_->NameOf(i); }

 private:
  const DatasetPtr base_;
  const std::function<Sample(Sample)> f_;
};

class SubsetDataset final : public Dataset {
 public:
  SubsetDataset(DatasetPtr base, std::vector<int64_t> indices)
      : base_(std::move(base)), indices_(std::move(indices)) {
    for (const int64_t i : indices_) CheckIndex(i, base_->size());
  }
  int64_t size() const override { return static_cast<int64_t>(indices_.size()); }
  Sample Get(int64_t i) const override { return base_->Get(Translate(i)); }
  Sample GetBatch(absl::Span<const int64_t> indices) const override {
    std::vector<int64_t> translated;
    translated.reserve(indices.size());
    for (const int64_t i : indices) translated.push_back(Translate(i));
    return base_->GetBatch(translated);
  }
  std::vector<std::string> variables() const override { return base_->variables(); }
  std::string NameOf(int64_t i) const override { return base_->NameOf(Translate(i)); }

 private:
  int64_t Translate(int64_t i) const {
    CheckIndex(i, size());
    return indices_[static_cast<size_t>(i)];
  }
  const DatasetPtr base_;
  const std::vector<int64_t> indices_;
};

class ConcatDataset final : public Dataset {
 public:
  explicit ConcatDataset(std::vector<DatasetPtr> parts) : parts_(std::move(parts)) {
    for (const DatasetPtr& part : parts_) {
      CheckDefined(part, "concat");
      ends_.push_back(size() + part->size());
    }
  }
  int64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  Sample Get(int64_t i) const override {
    const size_t part = PartOf(i);
    return parts_[part]->Get(i - BeginOf(part));
  }
  Sample GetBatch(absl::Span<const int64_t> indices) const override {
    if (indices.empty()) return Dataset::GetBatch(indices);
    const size_t part = PartOf(indices[0]);
    std::vector<int64_t> inside;
    for (const int64_t i : indices) {
      if (PartOf(i) != part) return Dataset::GetBatch(indices);
      inside.push_back(i - BeginOf(part));
    }
    return parts_[part]->GetBatch(inside);
  }
  std::vector<std::string> variables() const override {
    return size() == 0 ? Dataset::variables() : parts_[PartOf(0)]->variables();
  }
  std::string NameOf(int64_t i) const override {
    const size_t part = PartOf(i);
    return parts_[part]->NameOf(i - BeginOf(part));
  }

 private:
  size_t PartOf(int64_t i) const {
    CheckIndex(i, size());
    return static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin());
  }
  int64_t BeginOf(size_t part) const { return part == 0 ? 0 : ends_[part - 1]; }

  const std::vector<DatasetPtr> parts_;
  std::vector<int64_t> ends_;  // of each part: the index after its last
};

class ZipDataset final : public Dataset {
 public:
  ZipDataset(SampleNames names, std::vector<DatasetPtr> parts)
      : names_(std::move(names)), parts_(std::move(parts)) {}
  int64_t size() const override { return parts_[0]->size(); }
  std::vector<std::string> variables() const override { return *names_; }
  Sample Get(int64_t i) const override {
    return Together([i](const Dataset& part) { return part.Get(i); });
  }
  Sample GetBatch(absl::Span<const int64_t> indices) const override {
    return Together([indices](const Dataset& part) { return part.GetBatch(indices); });
  }
  std::string NameOf(int64_t i) const override { return parts_[0]->NameOf(i); }

 private:
  template <class F>
  Sample Together(F get) const {
    std::vector<Tensor> tensors;
    for (size_t k = 0; k < parts_.size(); ++k) {
      Sample one = get(*parts_[k]);
      if (one.size() != 1) {
        RaiseStatus(InvalidArgument((*names_)[k], ": expected samples of one tensor, got ",
                                    absl::StrJoin(one.variables(), ", ")),
                    "zip");
      }
      tensors.push_back(std::move(one.input));
    }
    return Sample::Named(names_, std::move(tensors));
  }

  const SampleNames names_;
  const std::vector<DatasetPtr> parts_;
};

class BatchDataset final : public Dataset {
 public:
  BatchDataset(DatasetPtr base, int64_t batch, bool drop_last)
      : base_(std::move(base)),
        batch_(batch),
        size_(base_->size() / batch + (!drop_last && base_->size() % batch != 0 ? 1 : 0)) {}
  int64_t size() const override { return size_; }
  Sample Get(int64_t i) const override {
    CheckIndex(i, size_);
    std::vector<int64_t> indices;
    for (int64_t k = i * batch_; k < std::min((i + 1) * batch_, base_->size()); ++k) {
      indices.push_back(k);
    }
    return base_->GetBatch(indices);
  }
  std::vector<std::string> variables() const override { return base_->variables(); }
  std::string NameOf(int64_t i) const override { return absl::StrCat("batch ", i); }

 private:
  const DatasetPtr base_;
  const int64_t batch_;
  const int64_t size_;
};

}  // namespace

Sample Dataset::GetBatch(absl::Span<const int64_t> indices) const {
  std::vector<Sample> samples;
  samples.reserve(indices.size());
  for (const int64_t i : indices) samples.push_back(Get(i));
  return internal::StackOf(*this, indices, samples);
}

std::vector<std::string> Dataset::variables() const {
  if (size() == 0) return {"input", "target"};
  return Get(0).variables();
}

std::string Dataset::NameOf(int64_t i) const { return absl::StrCat("sample ", i); }

void internal::RaiseIndex(int64_t i, int64_t size, const char* what, const char* who) {
  RaiseStatus(OutOfRange(what, " ", i, " is outside [0, ", size, ")"), who);
}

void internal::RaiseNamed(const std::string& name, const Error& error, const char* who) {
  RaiseStatus(absl::Status(error.code(), absl::StrCat(name, ": ", error.what())), who);
}

DatasetPtr FromFunction(int64_t size, std::function<Sample(int64_t)> f) {
  if (!f) RaiseStatus(InvalidArgument("the function is empty"), "from_function");
  if (size < 0) RaiseStatus(InvalidArgument("size is ", size, " (want >= 0)"), "from_function");
  return std::make_shared<FunctionDataset>(size, std::move(f));
}

DatasetPtr Map(DatasetPtr dataset, std::function<Sample(Sample)> f) {
  CheckDefined(dataset, "map");
  if (!f) RaiseStatus(InvalidArgument("the function is empty"), "map");
  return std::make_shared<MapDataset>(std::move(dataset), std::move(f));
}

DatasetPtr Subset(DatasetPtr dataset, std::vector<int64_t> indices) {
  CheckDefined(dataset, "subset");
  return std::make_shared<SubsetDataset>(std::move(dataset), std::move(indices));
}

DatasetPtr Subset(DatasetPtr dataset, Integer begin, Integer end) {
  CheckDefined(dataset, "subset");
  if (begin > end) {
    RaiseStatus(InvalidArgument("it begins at ", begin, " and ends at ", end, ", before it begins"),
                "subset");
  }
  if (begin < 0 || end > dataset->size()) {
    RaiseStatus(OutOfRange("[", begin, ", ", end, ") is outside [0, ", dataset->size(), ")"),
                "subset");
  }
  std::vector<int64_t> indices;
  for (int64_t i = begin; i < end; ++i) indices.push_back(i);
  return Subset(std::move(dataset), std::move(indices));
}

DatasetPtr Slice(DatasetPtr dataset, const SliceOptions& options) {
  CheckDefined(dataset, "slice");
  const auto [count, index, drop_last] = options;
  if (count < 1 || index < 0 || index >= count) {
    RaiseStatus(InvalidArgument("slice ", index, " of ", count, " (want count >= 1 and an index ",
                                "from 0 to count - 1)"),
                "slice");
  }
  const int64_t n = dataset->size();
  const int64_t size = n / count + (!drop_last && n % count != 0 ? 1 : 0);
  const int64_t begin = size == 0 ? 0 : size * index % n;
  const int64_t shifted = std::min(begin, n - size);
  return Subset(std::move(dataset), shifted, shifted + size);
}

DatasetPtr Shuffle(DatasetPtr dataset, Integer seed) {
  CheckDefined(dataset, "shuffle");
  std::vector<int64_t> order = Permutation(dataset->size(), seed, 0);
  return Subset(std::move(dataset), std::move(order));
}

DatasetPtr Concat(std::vector<DatasetPtr> datasets) {
  return std::make_shared<ConcatDataset>(std::move(datasets));
}

DatasetPtr Zip(std::vector<std::pair<std::string, DatasetPtr>> datasets) {
  std::vector<std::pair<std::string, Tensor>> names;
  std::vector<DatasetPtr> parts;
  for (auto& [name, part] : datasets) {
    CheckDefined(part, "zip");
    if (part->size() != datasets[0].second->size()) {
      RaiseStatus(InvalidArgument(datasets[0].first, " has ", datasets[0].second->size(),
                                  " samples, ", name, " ", part->size()),
                  "zip");
    }
    names.emplace_back(name, Tensor());
    parts.push_back(part);
  }
  return std::make_shared<ZipDataset>(Sample::Named(std::move(names)).names, std::move(parts));
}

DatasetPtr Batch(DatasetPtr dataset, Integer batch, Flag drop_last) {
  CheckDefined(dataset, "batch");
  if (batch < 1) RaiseStatus(InvalidArgument("batch is ", batch, " (want >= 1)"), "batch");
  return std::make_shared<BatchDataset>(std::move(dataset), batch, drop_last);
}

}  // namespace firn::io
