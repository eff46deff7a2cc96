// Small classes that forward to the dataset below them.
#include "firn/io/data/rows.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/internal/name_errors.h"
#include "firn/io/data/internal/variables.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"

namespace firn::io {
namespace {

void CheckDefined(const void* pointer, const char* who) {
  if (pointer == nullptr) RaiseStatus(InvalidArgument("there is nothing: it is null"), who);
}

void CheckHas(const std::vector<std::string>& all, const std::string& name) {
  if (std::find(all.begin(), all.end(), name) != all.end()) return;
  RaiseStatus(NotFound("expected a variable called ", name, ", got ", absl::StrJoin(all, ", ")),
              "pick");
}

Tensor ClassOf(const Tensor& t) {
  const double number = t.num_elements() == 1 ? t.Item<double>() : -1;
  constexpr double kExact = 9007199254740992;  // above, doubles are not all whole numbers
  if (!(number >= 0 && number <= kExact) || number != static_cast<double>(int64_t(number))) {
    RaiseStatus(
        DataLoss("expected a class, one whole number >= 0, got ",
                 t.num_elements() == 1 ? std::to_string(t.Item<double>()) : t.spec().ToString()),
        "pick");
  }
  return FromVector(std::vector<int64_t>{int64_t(number)}, {});
}

// By names, as a function's samples may have them in an order of their own.
class PickedDataset final : public Dataset {
 public:
  PickedDataset(DatasetPtr rows, const PickOptions& options)
      : rows_(std::move(rows)), options_(options) {
    const std::vector<std::string> all = rows_->variables();
    CheckHas(all, options.input);
    if (!options.target.empty()) CheckHas(all, options.target);
  }
  int64_t size() const override { return rows_->size(); }
  Sample Get(int64_t i) const override {
    const Sample row = rows_->Get(i);
    return internal::WithNameOf(*rows_, i, "pick", [&]() -> Sample {
      if (options_.target.empty()) return {row[options_.input], {}};
      const Tensor& target = row[options_.target];
      return {row[options_.input], options_.target_is_class ? ClassOf(target) : target};
    });
  }
  std::string NameOf(int64_t i) const override { return rows_->NameOf(i); }

 private:
  const DatasetPtr rows_;
  const PickOptions options_;
};

class NamedDataset final : public Dataset {
 public:
  NamedDataset(DatasetPtr dataset, std::vector<std::string> names)
      : dataset_(std::move(dataset)),
        names_(std::make_shared<const std::vector<std::string>>(std::move(names))) {}
  int64_t size() const override { return dataset_->size(); }
  std::vector<std::string> variables() const override { return *names_; }
  Sample Get(int64_t i) const override { return Renamed(dataset_->Get(i)); }
  Sample GetBatch(absl::Span<const int64_t> indices) const override {
    return Renamed(dataset_->GetBatch(indices));
  }
  std::string NameOf(int64_t i) const override { return dataset_->NameOf(i); }

 private:
  Sample Renamed(Sample sample) const {
    sample.names = names_;
    sample.more.clear();
    if (names_->size() == 1) sample.target = {};
    return sample;
  }

  const DatasetPtr dataset_;
  const SampleNames names_;
};

}  // namespace

absl::StatusOr<internal::PlacesByName> internal::PlacesOf(const std::vector<std::string>& chosen,
                                                          const std::vector<std::string>& all,
                                                          const std::string& where,
                                                          const char* option) {
  const absl::flat_hash_set<absl::string_view> known(all.begin(), all.end());
  PlacesByName places;
  for (const std::string& name : chosen) {
    FIRN_RETURN_IF(!known.contains(name), NotFound(where, ": expected a variable called ", name,
                                                   ", got ", absl::StrJoin(all, ", ")));
    FIRN_RETURN_IF(!places.emplace(name, places.size()).second,
                   InvalidArgument(option, " names ", name, " twice"));
  }
  return places;
}

DatasetPtr Pick(DatasetPtr dataset, const PickOptions& options) {
  CheckDefined(dataset.get(), "pick");
  return std::make_shared<PickedDataset>(std::move(dataset), options);
}

DatasetPtr NameSamples(DatasetPtr dataset, const std::string& input, const std::string& target) {
  CheckDefined(dataset.get(), "name_samples");
  if (input == target) {
    RaiseStatus(InvalidArgument("input and target are both called ", input), "name_samples");
  }
  std::vector<std::string> names = {input};
  if (dataset->size() == 0 || dataset->Get(0).size() > 1) names.push_back(target);
  return std::make_shared<NamedDataset>(std::move(dataset), std::move(names));
}

}  // namespace firn::io
