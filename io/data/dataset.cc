// The combinators are small classes that forward to the dataset below them. Those that only choose
// samples (Subset, Shuffle, Concat within one part, Batch) pass GetBatch on, so that the fast
// gather of a dataset at the bottom is reached through any number of them.
#include "firn/io/data/dataset.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/internal/name_errors.h"
#include "firn/io/data/internal/permutation.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/error.h"
#include "firn/tensor/pending.h"

namespace firn::io {
namespace {

using internal::CheckIndex;

void CheckDefined(const DatasetPtr& dataset, const char* who) {
  if (dataset == nullptr) RaiseStatus(InvalidArgument("the dataset is null"), who);
}

void CheckRows(const Tensor& t) {
  if (IsPending(t)) RaiseStatus(PendingError(t), "dataset");
  if (t.defined() && t.rank() > 0) return;
  RaiseStatus(InvalidArgument("wants tensors of rank 1 or more, got ",
                              t.defined() ? t.spec().ToString() : "undefined"),
              "dataset");
}

// On the CPU, row-major, without history: ready for memcpy.
Tensor Dense(const Tensor& t) { return t.Detach().To(Device::Cpu()).Contiguous(); }

const char* BytesOf(const Tensor& t) { return t.impl()->data; }

Tensor NewTensor(DType dtype, const Shape& shape, const char* who) {
  absl::StatusOr<Tensor> made =
      AllocateTensor(TensorSpec::Contiguous(dtype, shape, Device::Cpu()), AllocTag::kOther);
  RaiseIfError(made.status(), who);
  return *std::move(made);
}

// `first`, then the sizes of `shape` from dimension `from` on.
Shape WithFirst(int64_t first, const Shape& shape, int from) {
  std::vector<int64_t> sizes = {first};
  sizes.insert(sizes.end(), shape.begin() + from, shape.end());
  return Shape(sizes);
}

using NameOfSample = absl::FunctionRef<std::string(size_t)>;

Tensor StackField(absl::Span<const Sample> samples, Tensor Sample::*field, NameOfSample name) {
  const Tensor& first = samples[0].*field;
  for (size_t i = 0; i < samples.size(); ++i) {
    const Tensor& t = samples[i].*field;
    if (IsPending(t)) RaiseStatus(PendingError(t), "stack");
    if (t.defined() == first.defined() &&
        (!t.defined() || (t.shape() == first.shape() && t.dtype() == first.dtype()))) {
      continue;
    }
    const auto describe = [](const Tensor& x) {
      return x.defined() ? x.spec().ToString() : std::string("undefined");
    };
    RaiseStatus(
        InvalidArgument(name(i), " is ", describe(t), ", ", name(0), " is ", describe(first)),
        "stack");
  }
  if (!first.defined()) return {};
  Tensor out = NewTensor(
      first.dtype(), WithFirst(static_cast<int64_t>(samples.size()), first.shape(), 0), "stack");
  const size_t bytes = first.spec().bytes();
  for (size_t i = 0; i < samples.size() && bytes != 0; ++i) {
    const Tensor dense = Dense(samples[i].*field);
    std::memcpy(out.impl()->data + i * bytes, BytesOf(dense), bytes);
  }
  return out;
}

Sample StackBy(absl::Span<const Sample> samples, NameOfSample name) {
  if (samples.empty()) RaiseStatus(InvalidArgument("there is no sample"), "stack");
  return {StackField(samples, &Sample::input, name), StackField(samples, &Sample::target, name)};
}

class TensorDataset final : public Dataset {
 public:
  TensorDataset(Tensor input, Tensor target)
      : input_(std::move(input)), target_(std::move(target)), size_(input_.size(0)) {}
  int64_t size() const override { return size_; }
  Sample Get(int64_t i) const override {
    CheckIndex(i, size_);
    return {Gather(input_, {i}, false), Gather(target_, {i}, false)};
  }
  Sample GetBatch(absl::Span<const int64_t> indices) const override {
    for (const int64_t i : indices) CheckIndex(i, size_);
    return {Gather(input_, indices, true), Gather(target_, indices, true)};
  }

 private:
  static Tensor Gather(const Tensor& rows, absl::Span<const int64_t> indices, bool keep_dim) {
    if (!rows.defined()) return {};
    const auto n = static_cast<int64_t>(indices.size());
    const Shape batch = WithFirst(n, rows.shape(), 1);
    Tensor out =
        NewTensor(rows.dtype(), keep_dim ? batch : Shape(batch.span().subspan(1)), "gather");
    const size_t bytes = out.spec().bytes() / std::max<size_t>(indices.size(), 1);
    if (bytes == 0) return out;
    for (size_t k = 0; k < indices.size(); ++k) {
      std::memcpy(out.impl()->data + k * bytes,
                  BytesOf(rows) + static_cast<size_t>(indices[k]) * bytes, bytes);
    }
    return out;
  }

  const Tensor input_;
  const Tensor target_;
  const int64_t size_;
};

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

std::string Dataset::NameOf(int64_t i) const { return absl::StrCat("sample ", i); }

Sample Stack(absl::Span<const Sample> samples) {
  return StackBy(samples, [](size_t i) {
    return i == 0 ? std::string("sample 0") : absl::StrCat("sample ", i, " of the batch");
  });
}

Sample internal::StackOf(const Dataset& dataset, absl::Span<const int64_t> indices,
                         absl::Span<const Sample> samples) {
  return StackBy(samples, [&](size_t i) { return dataset.NameOf(indices[i]); });
}

void internal::CheckIndex(int64_t i, int64_t size, const char* what, const char* who) {
  if (i >= 0 && i < size) return;
  RaiseStatus(OutOfRange(what, " ", i, " is outside [0, ", size, ")"), who);
}

void internal::RaiseNamed(const std::string& name, const Error& error, const char* who) {
  RaiseStatus(absl::Status(error.code(), absl::StrCat(name, ": ", error.what())), who);
}

DatasetPtr FromTensors(const Tensor& input, const Tensor& target) {
  CheckRows(input);
  if (target.defined()) CheckRows(target);
  if (target.defined() && target.size(0) != input.size(0)) {
    RaiseStatus(InvalidArgument("input has ", input.size(0), " rows, target ", target.size(0)),
                "dataset");
  }
  return std::make_shared<TensorDataset>(Dense(input), target.defined() ? Dense(target) : Tensor());
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
  std::vector<int64_t> order = internal::Permutation(dataset->size(), seed, 0);
  return Subset(std::move(dataset), std::move(order));
}

DatasetPtr Concat(std::vector<DatasetPtr> datasets) {
  return std::make_shared<ConcatDataset>(std::move(datasets));
}

DatasetPtr Batch(DatasetPtr dataset, Integer batch, Flag drop_last) {
  CheckDefined(dataset, "batch");
  if (batch < 1) RaiseStatus(InvalidArgument("batch is ", batch, " (want >= 1)"), "batch");
  return std::make_shared<BatchDataset>(std::move(dataset), batch, drop_last);
}

}  // namespace firn::io
