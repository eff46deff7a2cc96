#ifndef FIRN_IO_INTERNAL_CSV_TABLE_H_
#define FIRN_IO_INTERNAL_CSV_TABLE_H_

// What rows of fields become: io/csv.cc alone includes it.

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv.h"
#include "firn/io/csv_status.h"
#include "firn/io/internal/csv_cells.h"
#include "firn/io/internal/csv_columns.h"
#include "firn/io/internal/csv_line.h"
#include "firn/tensor/from.h"

namespace firn::io::internal {

// The place of each word that may stand in a column.
using Words = absl::flat_hash_map<std::string, int64_t>;
using MissingWords = absl::flat_hash_set<std::string>;

inline absl::Status ExpectedWord(const Field& field, const std::vector<std::string>& listed) {
  constexpr size_t kShown = 8;
  std::string expected;
  for (size_t i = 0; i < listed.size() && i < kShown; ++i) {
    absl::StrAppend(&expected, i == 0 ? "" : ", ", Shown(listed[i]));
  }
  if (listed.size() > kShown) absl::StrAppend(&expected, ", ... (", listed.size(), " words)");
  return DataLoss("expected one of ", expected, ", got ", Shown(field.text));
}

// Puts rows one below the other, as the options want them. Init first, then Begin once, Add for
// each row, Finish. Thread-compatible.
template <class T>
class Table {
 public:
  Table(const CsvOptions& options, const CsvWording& wording)
      : options_(options),
        wording_(wording),
        missing_(options.missing_words.begin(), options.missing_words.end()) {}

  absl::Status Init() {
    for (const auto& [column, listed] : options_.categories) {
      const std::string of = ToString(column);
      FIRN_RETURN_IF(listed.empty(),
                     InvalidArgument("csv: categories of column ", of, " has no words"));
      Words& words = words_[column];
      for (const std::string& word : listed) {
        FIRN_RETURN_IF(
            !words.emplace(word, words.size()).second,
            InvalidArgument("csv: categories of column ", of, " has ", Shown(word), " twice"));
      }
    }
    for (const CsvColumn& column : options_.one_hot) {
      FIRN_RETURN_IF(!options_.categories.contains(column),
                     InvalidArgument("csv: ", wording_.one_hot, " has column ", ToString(column),
                                     ", whose words ", wording_.categories, " does not list"));
    }
    FIRN_RETURN_IF(options_.missing == CsvMissing::kMean && !std::is_floating_point_v<T>,
                   InvalidArgument("csv: means are no ", DTypeName(options_.dtype),
                                   " (want missing to be another, or the dtype to be f32 or f64)"));
    if (options_.missing != CsvMissing::kValue) return absl::OkStatus();
    FIRN_ASSIGN_OR_RETURN(const double value, MissingValue("csv", options_.missing_value,
                                                           options_.dtype, options_.round));
    missing_value_ = static_cast<T>(value);
    return absl::OkStatus();
  }

  absl::Status Begin(const ColumnFinder& columns) {
    std::map<size_t, Source> of_words;
    for (const auto& [column, listed] : options_.categories) {
      FIRN_ASSIGN_OR_RETURN(const size_t place,
                            columns.Find(column, wording_.categories + " names"));
      const Words& words = words_.at(column);
      FIRN_RETURN_IF(!of_words.try_emplace(place, Source{place, &words, &listed}).second,
                     InvalidArgument("which has column ", place, " twice in ", wording_.categories,
                                     ": by its place and by its name"));
    }
    for (const CsvColumn& column : options_.one_hot) {
      FIRN_ASSIGN_OR_RETURN(const size_t place, columns.Find(column, wording_.one_hot + " names"));
      of_words.at(place).one_hot = true;
    }
    const auto add = [&](size_t place) {
      const auto words = of_words.find(place);
      sources_.push_back(words == of_words.end() ? Source{place} : words->second);
      sources_.back().name = columns.NameOf(place);
      sources_.back().at = width_;
      width_ += sources_.back().one_hot ? sources_.back().listed->size() : 1;
    };
    for (const CsvColumn& column : options_.columns) {
      FIRN_ASSIGN_OR_RETURN(const size_t place, columns.Find(column, wording_.columns + " names"));
      add(place);
    }
    for (size_t c = 0; c < columns.size() && options_.columns.empty(); ++c) add(c);
    return absl::OkStatus();
  }

  absl::Status Add(const std::vector<Field>& fields) {
    const size_t before = values_.size();
    bool dropped = false;
    for (const Source& source : sources_) {
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
        status = IsMissing(field) ? absl::OkStatus() : ExpectedWord(field, *source.listed);
      }
      if (status.ok()) status = Missing(source, field);
      // The cells behind it are looked at all the same: what is an error must not depend on the
      // order of the columns.
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
    // Otherwise there are fewer values than bytes of text, which are limited.
    FIRN_RETURN_IF(
        width_ > fields.size() && static_cast<int64_t>(values_.size()) >
                                      options_.limits.max_total_bytes / int64_t{sizeof(T)},
        ResourceExhausted("more than the ", options_.limits.max_total_bytes, " bytes allowed"));
    return absl::OkStatus();
  }

  absl::StatusOr<Tensor> Finish(bool begun) && {
    if constexpr (std::is_floating_point_v<T>) {
      if (holes_) FIRN_RETURN_IF_ERROR(FillMeans());
    }
    const size_t width = begun ? width_ : options_.columns.size();
    return FromVector(std::move(values_), {rows_, static_cast<int64_t>(width)});
  }

 private:
  // What a column of the result is made of, or several are.
  struct Source {
    size_t column;
    const Words* words = nullptr;  // null: numbers
    const std::vector<std::string>* listed = nullptr;
    bool one_hot = false;
    std::string name = {};  // for messages
    size_t at = 0;          // its first column in the result
  };

  bool IsMissing(const Field& field) const {
    return missing_.contains(std::string(Trim(WordOf(field))));
  }

  // Fine where the cell holds nothing.
  absl::Status NoNumber(const Field& field, CellError error) const {
    if (error == CellError::kNone || IsMissing(field) || IsNan(field.text)) return absl::OkStatus();
    if (error == CellError::kNoNumber) {
      return DataLoss("expected a number, got ", Shown(field.text), " (", wording_.no_number, ")");
    }
    return DataLoss("expected ", WantedOf(options_.dtype), ", got ", Shown(field.text), " (",
                    wording_.inexact, ")");
  }

  void Append(const Source& source, int64_t place) {
    if (!source.one_hot) {
      values_.push_back(static_cast<T>(place));
      return;
    }
    values_.resize(values_.size() + source.listed->size());
    if (place >= 0)
      values_[values_.size() - source.listed->size() + static_cast<size_t>(place)] = 1;
  }

  // Puts something in place of a cell. Cancelled: its row is left out.
  absl::Status Missing(const Source& source, const Field& field) {
    const bool number = source.words == nullptr;
    switch (options_.missing) {
      case CsvMissing::kError:
        break;
      case CsvMissing::kDropRow:
        return absl::CancelledError();
      case CsvMissing::kValue:
        if (source.one_hot) {
          Append(source, -1);
        } else {
          values_.push_back(missing_value_);
        }
        return absl::OkStatus();
      case CsvMissing::kMean:
        FIRN_RETURN_IF(!number, DataLoss("words have no mean to take the place of ",
                                         Shown(field.text), " (", wording_.missing, ")"));
        if constexpr (std::is_floating_point_v<T>) {
          values_.push_back(std::numeric_limits<T>::quiet_NaN());  // no other cell is one
        }
        holes_ = true;
        return absl::OkStatus();
    }
    return DataLoss("expected ", number ? "a number" : "a word", ", got ", Shown(field.text), " (",
                    wording_.missing, ")");
  }

  absl::Status FillMeans() {
    for (const Source& source : sources_) {
      if (source.words != nullptr) continue;
      double mean = 0;
      int64_t count = 0;
      for (size_t i = source.at; i < values_.size(); i += width_) {
        const auto value = static_cast<double>(values_[i]);
        if (value == value) mean += (value - mean) / static_cast<double>(++count);
      }
      if (!std::isfinite(mean)) {
        // There are infinities, or differences overflow where shares do not.
        mean = 0;
        for (size_t i = source.at; i < values_.size(); i += width_) {
          const auto value = static_cast<double>(values_[i]);
          if (value == value) mean += value / static_cast<double>(count);
        }
      }
      if (count == rows_) continue;
      FIRN_RETURN_IF(count == 0, DataLoss(InColumn(source.column, source.name),
                                          "expected a number to take the mean of, got none"));
      for (size_t i = source.at; i < values_.size(); i += width_) {
        if (values_[i] != values_[i]) values_[i] = static_cast<T>(mean);
      }
    }
    return absl::OkStatus();
  }

  const CsvOptions& options_;
  const CsvWording& wording_;
  const MissingWords missing_;
  std::unordered_map<CsvColumn, Words, CsvColumnHash> words_;
  std::vector<Source> sources_;
  size_t width_ = 0;
  T missing_value_ = {};
  std::vector<T> values_;
  int64_t rows_ = 0;
  bool holes_ = false;  // NaN where a mean goes
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_CSV_TABLE_H_
