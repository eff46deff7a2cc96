// One pass over the text, line by line; numbers do not depend on the locale. Fields point into the
// text, and only those that are wanted are looked at.
#include "firn/io/csv.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv_status.h"
#include "firn/io/internal/byte_source.h"
#include "firn/io/internal/csv_line.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"

namespace firn::io {
namespace {

using internal::Field;
using internal::InColumn;
using internal::IsBlank;
using internal::Shown;
using internal::TakeUpTo;

// The place of each word that may stand in a column.
using Words = absl::flat_hash_map<std::string, float>;

absl::StatusOr<float> Number(const Field& field) {
  float value = 0;
  if (internal::ParseNumber(field.text, &value) == std::errc()) return value;
  return DataLoss("expected a number, got ", Shown(field.text),
                  " (CsvOptions::categories reads words, ::columns leaves columns out)");
}

absl::StatusOr<float> PlaceOf(const Field& field, const std::vector<std::string>& listed,
                              const Words& words) {
  constexpr size_t kShown = 8;
  const auto found = words.find(internal::WordOf(field));
  if (found != words.end()) return found->second;
  std::string expected;
  for (size_t i = 0; i < listed.size() && i < kShown; ++i) {
    absl::StrAppend(&expected, i == 0 ? "" : ", ", Shown(listed[i]));
  }
  if (listed.size() > kShown) absl::StrAppend(&expected, ", ... (", listed.size(), " words)");
  return DataLoss("expected one of ", expected, ", got ", Shown(field.text));
}

// Calls row(fields) for each line that holds any, and adds file and line to what it returns.
template <class F>
absl::Status ForEachRow(std::string_view text, const std::string& name, const CsvOptions& options,
                        F row) {
  const char s = options.separator;
  FIRN_RETURN_IF(s == '\n' || s == '\r' || s == '"',
                 InvalidArgument("csv: a line's end or a quote cannot be the separator"));
  FIRN_RETURN_IF(options.skip_lines < 0,
                 InvalidArgument("csv: skip_lines is ", options.skip_lines, " (want >= 0)"));
  using internal::kByteOrderMark;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  // A tab or blank that separates makes a row, of empty fields.
  const auto is_empty = [s](std::string_view lines) {
    return std::all_of(lines.begin(), lines.end(),
                       [s](char c) { return c != s && (c == '\n' || IsBlank(c)); });
  };
  std::vector<Field> fields;
  size_t columns = 0;
  int64_t line_number = 0;
  while (!text.empty()) {
    const std::string_view line = TakeUpTo(&text, '\n');
    if (++line_number <= options.skip_lines) continue;
    if (is_empty(line)) {
      if (is_empty(text)) break;
      return DataLoss(name, ": line ", line_number, ": expected a row, got an empty line");
    }
    absl::Status status = internal::SplitLine(line, s, &fields);
    if (status.ok()) {
      if (columns == 0) columns = fields.size();
      FIRN_RETURN_IF(fields.size() != columns, DataLoss(name, ": line ", line_number, ": expected ",
                                                        columns, " columns, got ", fields.size()));
      status = row(fields);
    }
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat(name, ": line ", line_number, ", ",
                                                      std::string(status.message())));
    }
  }
  return absl::OkStatus();
}

absl::Status RequireColumn(int64_t column, size_t columns, const char* who) {
  if (column >= 0 && static_cast<size_t>(column) < columns) return absl::OkStatus();
  return InvalidArgument("which has ", columns, " columns: ", who, " column ", column,
                         " (want 0 to ", columns - 1, ")");
}

// Puts rows one below the other.
class Table {
 public:
  explicit Table(const CsvOptions& options) : options_(options) {}

  absl::Status Init() {
    for (const auto& [column, listed] : options_.categories) {
      FIRN_RETURN_IF(listed.empty(),
                     InvalidArgument("csv: categories of column ", column, " has no words"));
      for (const std::string& word : listed) {
        FIRN_RETURN_IF(
            !words_[column].emplace(word, words_[column].size()).second,
            InvalidArgument("csv: categories of column ", column, " has ", Shown(word), " twice"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Add(const std::vector<Field>& fields) {
    if (rows_ == 0) FIRN_RETURN_IF_ERROR(Begin(fields.size()));
    for (const Source& source : sources_) {
      const Field& field = fields[source.column];
      absl::StatusOr<float> value =
          source.words == nullptr ? Number(field) : PlaceOf(field, *source.listed, *source.words);
      if (!value.ok()) {
        return absl::Status(
            value.status().code(),
            absl::StrCat(InColumn(source.column), std::string(value.status().message())));
      }
      values_.push_back(*value);
    }
    ++rows_;
    return absl::OkStatus();
  }

  Tensor Finish() && {
    const size_t width = rows_ == 0 ? options_.columns.size() : sources_.size();
    return FromVector(std::move(values_), {rows_, static_cast<int64_t>(width)});
  }

 private:
  // What a column of the result is made of.
  struct Source {
    size_t column;
    const Words* words = nullptr;  // null: numbers
    const std::vector<std::string>* listed = nullptr;
  };

  absl::Status Begin(size_t columns) {
    for (const auto& [column, listed] : options_.categories) {
      FIRN_RETURN_IF_ERROR(RequireColumn(column, columns, "CsvOptions::categories names"));
    }
    for (int64_t column : options_.columns) {
      FIRN_RETURN_IF_ERROR(RequireColumn(column, columns, "CsvOptions::columns names"));
      AddSource(static_cast<size_t>(column));
    }
    for (size_t c = 0; c < columns && options_.columns.empty(); ++c) AddSource(c);
    return absl::OkStatus();
  }

  void AddSource(size_t column) {
    const auto key = static_cast<int64_t>(column);
    const auto words = words_.find(key);
    if (words == words_.end()) {
      sources_.push_back({column});
    } else {
      sources_.push_back({column, &words->second, &options_.categories.at(key)});
    }
  }

  const CsvOptions& options_;
  std::map<int64_t, Words> words_;
  std::vector<Source> sources_;
  std::vector<float> values_;
  int64_t rows_ = 0;
};

absl::StatusOr<std::string> ReadText(const std::string& path, const CsvOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::unique_ptr<internal::ByteSource> source,
                        internal::ByteSource::Open(path));
  return source->ReadAll(options.limits.max_total_bytes);
}

absl::StatusOr<std::vector<std::string>> ReadWords(const std::string& path, int64_t column,
                                                   const CsvOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::string text, ReadText(path, options));
  std::set<std::string> words;
  const auto add = [&](const std::vector<Field>& fields) {
    absl::Status there = RequireColumn(column, fields.size(), "LoadCsvWords asks for");
    if (there.ok()) words.insert(internal::WordOf(fields[static_cast<size_t>(column)]));
    return there;
  };
  FIRN_RETURN_IF_ERROR(ForEachRow(text, path, options, add));
  return std::vector<std::string>(words.begin(), words.end());
}

}  // namespace

absl::StatusOr<Tensor> ParseCsv(const std::string& text, const std::string& name,
                                const CsvOptions& options) {
  Table table(options);
  FIRN_RETURN_IF_ERROR(table.Init());
  FIRN_RETURN_IF_ERROR(ForEachRow(
      text, name, options, [&](const std::vector<Field>& fields) { return table.Add(fields); }));
  return std::move(table).Finish();
}

absl::StatusOr<Tensor> ReadCsv(const std::string& path, const CsvOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::string text, ReadText(path, options));
  return ParseCsv(text, path, options);
}

Tensor LoadCsv(const std::string& path, const CsvOptions& options) {
  absl::StatusOr<Tensor> table = ReadCsv(path, options);
  RaiseIfError(table.status(), "csv");
  return *std::move(table);
}

std::vector<std::string> LoadCsvWords(const std::string& path, int64_t column,
                                      const CsvOptions& options) {
  absl::StatusOr<std::vector<std::string>> words = ReadWords(path, column, options);
  RaiseIfError(words.status(), "csv");
  return *std::move(words);
}

}  // namespace firn::io
