// One pass over the text, record by record; numbers do not depend on the locale. What columns and
// words are meant is decided once, at the heading or the first row; a row is then a loop over what
// the result's columns are made of. Means are put in afterwards.
#include "firn/io/csv.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv_status.h"
#include "firn/io/internal/csv_columns.h"
#include "firn/io/internal/csv_reader.h"
#include "firn/io/internal/csv_table.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using internal::ColumnFinder;
using internal::CsvText;
using internal::Field;
using internal::InColumn;
using internal::Shown;

bool AnyNamed(const CsvOptions& options) {
  const auto named = [](const CsvColumn& c) { return c.is_named(); };
  return std::any_of(options.columns.begin(), options.columns.end(), named) ||
         std::any_of(options.one_hot.begin(), options.one_hot.end(), named) ||
         std::any_of(options.categories.begin(), options.categories.end(),
                     [&](const auto& entry) { return named(entry.first); });
}

// Calls begin(columns) once, at the heading or before the first row, and row(fields) for the rows.
absl::Status ForEachRow(CsvText* text, const CsvOptions& options, bool heading,
                        absl::FunctionRef<absl::Status(const ColumnFinder&)> begin,
                        internal::CsvFields row) {
  bool begun = false;
  return internal::ForEachCsvRow(text,
                                 {.separator = options.separator, .skip_lines = options.skip_lines},
                                 [&](const std::vector<Field>& fields) -> absl::Status {
                                   if (begun) [[likely]]
                                     return row(fields);
                                   begun = true;
                                   FIRN_RETURN_IF_ERROR(begin(ColumnFinder(fields, heading)));
                                   return heading ? absl::OkStatus() : row(fields);
                                 });
}

template <class T>
absl::StatusOr<Tensor> ReadTable(CsvText text, const CsvOptions& options,
                                 const CsvWording& wording) {
  internal::Table<T> table(options, wording);
  FIRN_RETURN_IF_ERROR(table.Init());
  bool begun = false;
  FIRN_RETURN_IF_ERROR(ForEachRow(
      &text, options, options.heading || AnyNamed(options),
      [&](const ColumnFinder& columns) {
        begun = true;
        return table.Begin(columns);
      },
      [&](const std::vector<Field>& fields) { return table.Add(fields); }));
  absl::StatusOr<Tensor> result = std::move(table).Finish(begun);
  if (result.ok()) return result;
  return absl::Status(result.status().code(),
                      absl::StrCat(text.name(), ": ", std::string(result.status().message())));
}

absl::StatusOr<Tensor> ReadText(CsvText text, const CsvOptions& options,
                                const CsvWording& wording) {
  switch (options.dtype) {
    case DType::kF32:
      return ReadTable<float>(std::move(text), options, wording);
    case DType::kF64:
      return ReadTable<double>(std::move(text), options, wording);
    case DType::kI64:
      return ReadTable<int64_t>(std::move(text), options, wording);
    case DType::kI32:
      return ReadTable<int32_t>(std::move(text), options, wording);
    case DType::kU8:
      return ReadTable<uint8_t>(std::move(text), options, wording);
    default:
      return InvalidArgument("csv: dtype is ", DTypeName(options.dtype),
                             " (want f32, f64, i64, i32 or u8)");
  }
}

}  // namespace

absl::StatusOr<Tensor> ParseCsv(const std::string& text, const std::string& name,
                                const CsvOptions& options, const CsvWording& wording) {
  return ReadText(CsvText(text, name), options, wording);
}

absl::StatusOr<Tensor> ReadCsv(const std::string& path, const CsvOptions& options,
                               const CsvWording& wording) {
  FIRN_ASSIGN_OR_RETURN(CsvText text, CsvText::Open(path, options.limits.max_total_bytes));
  return ReadText(std::move(text), options, wording);
}

absl::StatusOr<std::vector<std::string>> ReadCsvWords(const std::string& path,
                                                      const CsvColumn& column,
                                                      const CsvOptions& options,
                                                      const CsvWording& wording) {
  FIRN_ASSIGN_OR_RETURN(CsvText text, CsvText::Open(path, options.limits.max_total_bytes));
  const internal::MissingWords missing(options.missing_words.begin(), options.missing_words.end());
  absl::flat_hash_set<std::string> words;
  size_t place = 0;
  std::string name;
  FIRN_RETURN_IF_ERROR(ForEachRow(
      &text, options, options.heading || column.is_named(),
      [&](const ColumnFinder& columns) -> absl::Status {
        FIRN_ASSIGN_OR_RETURN(place, columns.Find(column, wording.words + " asks for"));
        name = columns.NameOf(place);
        return absl::OkStatus();
      },
      [&](const std::vector<Field>& fields) -> absl::Status {
        const auto [word, is_new] = words.insert(internal::WordOf(fields[place]));
        FIRN_RETURN_IF(is_new && options.missing == CsvMissing::kError &&
                           missing.contains(std::string(internal::Trim(*word))),
                       DataLoss(InColumn(place, name), "expected a word, got ", Shown(*word), " (",
                                wording.missing, ")"));
        return absl::OkStatus();
      }));
  std::vector<std::string> sorted;
  for (const std::string& word : words) {
    if (!missing.contains(std::string(internal::Trim(word)))) sorted.push_back(word);
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

absl::StatusOr<std::vector<std::string>> ReadCsvNames(const std::string& path,
                                                      const CsvOptions& options) {
  FIRN_ASSIGN_OR_RETURN(CsvText text, CsvText::Open(path, options.limits.max_total_bytes));
  std::vector<std::string> names;
  FIRN_RETURN_IF_ERROR(internal::ForEachCsvRow(
      &text, {.separator = options.separator, .skip_lines = options.skip_lines},
      [&](const std::vector<Field>& fields) {
        for (const Field& field : fields) names.push_back(internal::WordOf(field));
        return absl::CancelledError();
      }));
  return names;
}

Tensor LoadCsv(const std::string& path, const CsvOptions& options) {
  absl::StatusOr<Tensor> table = ReadCsv(path, options);
  RaiseIfError(table.status(), "csv");
  return *std::move(table);
}

std::vector<std::string> LoadCsvWords(const std::string& path, const CsvColumn& column,
                                      const CsvOptions& options) {
  absl::StatusOr<std::vector<std::string>> words = ReadCsvWords(path, column, options);
  RaiseIfError(words.status(), "csv");
  return *std::move(words);
}

std::vector<std::string> LoadCsvNames(const std::string& path, const CsvOptions& options) {
  absl::StatusOr<std::vector<std::string>> names = ReadCsvNames(path, options);
  RaiseIfError(names.status(), "csv");
  return *std::move(names);
}

}  // namespace firn::io
