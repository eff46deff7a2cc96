#ifndef FIRN_IO_CSV_INTERNAL_CSV_TABLE_H_
#define FIRN_IO_CSV_INTERNAL_CSV_TABLE_H_

// Builds tensors from rows of fields; only io/csv/csv.cc and csv_typed_table.h include it.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/csv.h"
#include "firn/io/csv/csv_cells.h"
#include "firn/io/csv/csv_status.h"
#include "firn/io/csv/internal/csv_line.h"
#include "firn/io/csv/internal/csv_plan.h"
#include "firn/io/csv/internal/csv_words.h"
#include "firn/tensor/from.h"

namespace firn::io::internal {

// A table of any type.
class AnyTable {
 public:
  virtual ~AnyTable() = default;
  // Adds a column behind the others.
  virtual void AddColumn(const CsvSource& source) = 0;
  virtual absl::Status Add(const std::vector<Field>& fields) = 0;
  // The number of rows that were not left out.
  virtual int64_t rows() const = 0;
  // Leaves out the row that Add took last.
  virtual void DropLast() = 0;
  // To be called after the last row, and before the Take functions.
  virtual absl::Status FillMeans() = 0;
  virtual Tensor TakeAll() = 0;
  // Column `i`: [rows], or [rows, words] if it is one-hot. Requires: AddColumn has added it.
  virtual Tensor TakeColumn(size_t i) = 0;
};

// Puts rows one below the other, in the form that the plan describes. Thread-compatible.
template <class T>
class Table final : public AnyTable {
 public:
  // `plan`, whose Init was fine, and `missing` must outlive it.
  Table(const CsvPlan& plan, const MissingWords& missing)
      : options_(plan.options()), wording_(plan.wording()), missing_(missing) {
    if (options_.missing != CsvMissing::kValue) return;
    const absl::StatusOr<double> value =
        MissingValue("csv", options_.missing_value, DTypeOf<T>(), options_.round);
    if (value.ok()) missing_value_ = static_cast<T>(*value);
  }

  void AddColumn(const CsvSource& source) override {
    sources_.push_back(source);
    begins_.push_back(width_);
    width_ += source.width();
  }

  absl::Status Add(const std::vector<Field>& fields) override {
    const size_t before = values_.size();
    bool dropped = false;
    for (const CsvSource& source : sources_) {
      const Field& field = fields[source.column];
      absl::Status status;
      if (source.words == nullptr) {
        T value;
        const CellError error = ParseCell(field.text, options_.round, &value);
        if (error == CellError::kNone && value == value) [[likely]] {
          values_.push_back(value);
          continue;
        }
        status = NoNumber(field, error);
      } else {
        const auto found = source.words->find(WordOf(field));
        if (found != source.words->end()) {
          Append(source, found->second);
          continue;
        }
        status = missing_.Has(field) ? absl::OkStatus() : ExpectedWord(field, *source.listed);
      }
      if (status.ok()) status = Missing(source, field);
      // The cells behind it are checked all the same, so that errors do not depend on the order of
      // the columns.
      if (absl::IsCancelled(status)) {
        dropped = true;
        continue;
      }
      if (!status.ok()) {
        return absl::Status(status.code(), absl::StrCat(InColumn(source.column, source.name),
                                                        std::string(status.message())));
      }
    }
    if (dropped) {
      values_.resize(before);
      return absl::OkStatus();
    }
    ++rows_;
    // With width_ <= fields.size() there are fewer values than bytes of text, which are limited.
    FIRN_RETURN_IF(
        width_ > fields.size() && static_cast<int64_t>(values_.size()) >
                                      options_.limits.max_total_bytes / int64_t{sizeof(T)},
        ResourceExhausted("more than the ", options_.limits.max_total_bytes,
                          " bytes allowed (limits.max_total_bytes)"));
    return absl::OkStatus();
  }

  int64_t rows() const override { return rows_; }
  void DropLast() override {
    --rows_;
    values_.resize(values_.size() - width_);
  }

  absl::Status FillMeans() override {
    for (size_t s = 0; s < sources_.size() && holes_; ++s) {
      if (sources_[s].words != nullptr) continue;
      RunningMean mean;
      for (size_t i = begins_[s]; i < values_.size(); i += width_) {
        if (values_[i] == values_[i]) mean.Add(static_cast<double>(values_[i]));
      }
      if (mean.count() == rows_) continue;
      FIRN_RETURN_IF(mean.count() == 0,
                     DataLoss(InColumn(sources_[s].column, sources_[s].name),
                              "expected a number to take the mean of, got none"));
      for (size_t i = begins_[s]; i < values_.size(); i += width_) {
        if (values_[i] != values_[i]) values_[i] = static_cast<T>(mean.Get());
      }
    }
    return absl::OkStatus();
  }

  Tensor TakeAll() override {
    return FromVector(std::move(values_), {rows_, static_cast<int64_t>(width_)});
  }

  Tensor TakeColumn(size_t i) override {
    const CsvSource& source = sources_[i];
    const size_t n = source.width();
    Shape shape = {rows_};
    if (source.one_hot) shape = {rows_, static_cast<int64_t>(n)};
    if (n == width_) return FromVector(std::move(values_), shape);
    std::vector<T> column;
    column.reserve(static_cast<size_t>(rows_) * n);
    for (size_t at = begins_[i]; at < values_.size(); at += width_) {
      for (size_t c = at; c < at + n; ++c) column.push_back(values_[c]);
    }
    return FromVector(std::move(column), shape);
  }

 private:
  // OK if the cell is missing.
  absl::Status NoNumber(const Field& field, CellError error) const {
    if (error == CellError::kNone || missing_.Has(field) || IsNanCell(field.text)) {
      return absl::OkStatus();
    }
    if (error == CellError::kNoNumber) {
      return DataLoss("expected a number, got ", Shown(field.text), " (", wording_.no_number, ")");
    }
    return DataLoss("expected ", WantedOf(DTypeOf<T>()), ", got ", Shown(field.text), " (",
                    wording_.inexact, ")");
  }

  void Append(const CsvSource& source, int64_t place) {
    if (!source.one_hot) {
      values_.push_back(static_cast<T>(place));
      return;
    }
    values_.resize(values_.size() + source.listed->size());
    if (place >= 0)
      values_[values_.size() - source.listed->size() + static_cast<size_t>(place)] = 1;
  }

  // Puts a value in place of a missing cell. Cancelled: the row is left out.
  absl::Status Missing(const CsvSource& source, const Field& field) {
    const bool number = source.words == nullptr;
    switch (options_.missing) {
      case CsvMissing::kError:
        break;
      case CsvMissing::kDropRow:
        return absl::CancelledError();
      case CsvMissing::kValue:
        if (source.one_hot) {
          Append(source, -1);
          return absl::OkStatus();
        }
        FIRN_RETURN_IF(!missing_value_, NoValueFor(field, DTypeOf<T>(), options_.missing_value));
        values_.push_back(*missing_value_);
        return absl::OkStatus();
      case CsvMissing::kMean:
        FIRN_RETURN_IF(!number || !std::is_floating_point_v<T>,
                       NoMeanFor(field, number, DTypeOf<T>(), wording_.missing));
        if constexpr (std::is_floating_point_v<T>) {
          values_.push_back(std::numeric_limits<T>::quiet_NaN());  // no other cell is one
        }
        holes_ = true;
        return absl::OkStatus();
    }
    return DataLoss("expected ", number ? "a number" : "a word", ", got ", Shown(field.text), " (",
                    wording_.missing, ")");
  }

  const CsvOptions& options_;
  const CsvWording& wording_;
  const MissingWords& missing_;
  std::vector<CsvSource> sources_;
  std::vector<size_t> begins_;  // the first column in the result of each
  size_t width_ = 0;
  std::optional<T> missing_value_;
  std::vector<T> values_;
  int64_t rows_ = 0;
  bool holes_ = false;  // NaN where a mean goes
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_CSV_INTERNAL_CSV_TABLE_H_
