// Small classes that forward to the rows below them.
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

size_t PlaceOf(const Rows& rows, const std::string& name) {
  const std::vector<std::string>& all = rows.variables();
  const auto found = std::find(all.begin(), all.end(), name);
  if (found == all.end()) {
    RaiseStatus(NotFound("expected a variable called ", name, ", got ", absl::StrJoin(all, ", ")),
                "pick");
  }
  return static_cast<size_t>(found - all.begin());
}

Tensor ClassOf(const Tensor& t, int64_t row) {
  const double number = t.num_elements() == 1 ? t.Item<double>() : -1;
  constexpr double kExact = 9007199254740992;  // above, doubles are not all whole numbers
  if (!(number >= 0 && number <= kExact) || number != static_cast<double>(int64_t(number))) {
    RaiseStatus(
        DataLoss("row ", row, ": expected a class, one whole number >= 0, got ",
                 t.num_elements() == 1 ? std::to_string(t.Item<double>()) : t.spec().ToString()),
        "pick");
  }
  return FromVector(std::vector<int64_t>{int64_t(number)}, {});
}

class PickedDataset final : public Dataset {
 public:
  PickedDataset(RowsPtr rows, const PickOptions& options)
      : rows_(std::move(rows)),
        input_(PlaceOf(*rows_, options.input)),
        has_target_(!options.target.empty()),
        target_(has_target_ ? PlaceOf(*rows_, options.target) : 0),
        target_is_class_(options.target_is_class) {}
  int64_t size() const override { return rows_->size(); }
  Sample Get(int64_t i) const override {
    const std::vector<Tensor> row = rows_->Get(i);
    if (!has_target_) return {row[input_], {}};
    const Tensor& target = row[target_];
    return {row[input_], target_is_class_ ? ClassOf(target, i) : target};
  }

 private:
  const RowsPtr rows_;
  const size_t input_;
  const bool has_target_;
  const size_t target_;
  const bool target_is_class_;
};

class SubsetRows final : public Rows {
 public:
  SubsetRows(RowsPtr rows, std::vector<int64_t> indices)
      : rows_(std::move(rows)), indices_(std::move(indices)) {
    for (const int64_t i : indices_) internal::CheckIndex(i, rows_->size(), "row", "rows");
  }
  int64_t size() const override { return static_cast<int64_t>(indices_.size()); }
  const std::vector<std::string>& variables() const override { return rows_->variables(); }
  std::vector<Tensor> Get(int64_t i) const override {
    internal::CheckIndex(i, size(), "row", "rows");
    return rows_->Get(indices_[static_cast<size_t>(i)]);
  }

 private:
  const RowsPtr rows_;
  const std::vector<int64_t> indices_;
};

class SampleRows final : public Rows {
 public:
  SampleRows(DatasetPtr dataset, std::vector<std::string> variables)
      : dataset_(std::move(dataset)), variables_(std::move(variables)) {}
  int64_t size() const override { return dataset_->size(); }
  const std::vector<std::string>& variables() const override { return variables_; }
  std::vector<Tensor> Get(int64_t i) const override {
    Sample sample = dataset_->Get(i);
    if (variables_.size() == 1) return {std::move(sample.input)};
    return {std::move(sample.input), std::move(sample.target)};
  }

 private:
  const DatasetPtr dataset_;
  const std::vector<std::string> variables_;
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

DatasetPtr Pick(RowsPtr rows, const PickOptions& options) {
  CheckDefined(rows.get(), "pick");
  return std::make_shared<PickedDataset>(std::move(rows), options);
}

RowsPtr Subset(RowsPtr rows, std::vector<int64_t> indices) {
  CheckDefined(rows.get(), "subset");
  return std::make_shared<SubsetRows>(std::move(rows), std::move(indices));
}

RowsPtr NameSamples(DatasetPtr dataset, const std::string& input, const std::string& target) {
  CheckDefined(dataset.get(), "name_samples");
  if (input == target) {
    RaiseStatus(InvalidArgument("input and target are both called ", input), "name_samples");
  }
  std::vector<std::string> variables = {input};
  if (dataset->size() == 0 || dataset->Get(0).target.defined()) variables.push_back(target);
  return std::make_shared<SampleRows>(std::move(dataset), std::move(variables));
}

}  // namespace firn::io
