// One pass over the text, record by record; numbers do not depend on the locale. Columns and words
// are resolved once, at the heading or the first row; a row is then a loop over the sources of the
// result's columns. Means are put in afterwards.
#include "firn/io/csv/csv.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/csv_reader.h"
#include "firn/io/csv/csv_status.h"
#include "firn/io/csv/internal/csv_columns.h"
#include "firn/io/csv/internal/csv_plan.h"
#include "firn/io/csv/internal/csv_table.h"
#include "firn/io/csv/internal/csv_typed_table.h"
#include "firn/io/csv/internal/csv_words.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"

namespace firn::io {
namespace {

using internal::ColumnFinder;
using internal::Field;
using internal::InColumn;
using internal::Shown;

bool AnyNamed(const CsvOptions& options) {
  const auto named = [](const CsvColumn& c) { return c.is_named(); };
  const auto named_key = [](const auto& entry) { return entry.first.is_named(); };
  return std::any_of(options.columns.begin(), options.columns.end(), named) ||
         std::any_of(options.one_hot.begin(), options.one_hot.end(), named) ||
         std::any_of(options.categories.begin(), options.categories.end(), named_key) ||
         std::any_of(options.dtypes.begin(), options.dtypes.end(), named_key);
}

// Calls begin(columns) once, at the heading or before the first row, and row(fields) for the rows.
absl::Status ForEachRow(CsvText* text, const CsvOptions& options, bool heading,
                        absl::FunctionRef<absl::Status(const ColumnFinder&)> begin, CsvFields row) {
  bool begun = false;
  return ForEachCsvRow(text, {.separator = options.separator, .skip_lines = options.skip_lines},
                       [&](const std::vector<Field>& fields) -> absl::Status {
                         if (begun) [[likely]]
                           return row(fields);
                         begun = true;
                         FIRN_RETURN_IF_ERROR(begin(ColumnFinder(fields, heading)));
                         return heading ? absl::OkStatus() : row(fields);
                       });
}

absl::Status InText(const CsvText& text, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(text.name(), ": ", std::string(status.message())));
}

// Adds all rows to `table`. `begin` is called before the first, when the plan knows the columns.
template <class AnyOrTyped>
absl::Status ReadInto(CsvText* text, internal::CsvPlan* plan, AnyOrTyped* table, bool* begun,
                      absl::FunctionRef<absl::Status()> begin) {
  const CsvOptions& options = plan->options();
  *begun = false;
  return ForEachRow(
      text, options, options.heading || AnyNamed(options),
      [&](const ColumnFinder& columns) -> absl::Status {
        *begun = true;
        FIRN_RETURN_IF_ERROR(plan->Begin(columns));
        return begin();
      },
      [table](const std::vector<Field>& fields) { return table->Add(fields); });
}

// The result for a text without a line.
Tensor NoRows(DType dtype, size_t columns) {
  return internal::WithElementOf(dtype, [&](auto zero) {
    return FromVector(std::vector<decltype(zero)>(), {0, static_cast<int64_t>(columns)});
  });
}

// All columns have the type of the options.
template <class T>
absl::StatusOr<Tensor> ReadTable(CsvText text, internal::CsvPlan* plan) {
  const internal::MissingWords missing(plan->options().missing_words);
  internal::Table<T> table(*plan, missing);
  bool begun = false;
  FIRN_RETURN_IF_ERROR(ReadInto(&text, plan, &table, &begun, [&] {
    for (const internal::CsvSource& source : plan->sources()) table.AddColumn(source);
    return absl::OkStatus();
  }));
  if (const absl::Status status = table.FillMeans(); !status.ok()) return InText(text, status);
  if (begun) return table.TakeAll();
  return NoRows(plan->options().dtype, plan->options().columns.size());
}

absl::Status ExpectOneType(const std::vector<internal::CsvSource>& sources) {
  for (const internal::CsvSource& s : sources) {
    const internal::CsvSource& first = sources[0];
    FIRN_RETURN_IF(
        s.dtype != first.dtype,
        InvalidArgument("of which ", Shown(first.key), " is to be ", DTypeName(first.dtype),
                        " and ", Shown(s.key), " ", DTypeName(s.dtype),
                        ": a tensor has one type (LoadCsvColumns gives a tensor for "
                        "each column)"));
  }
  return absl::OkStatus();
}

// Some columns have a type of their own, but all that are read have the same.
absl::StatusOr<Tensor> ReadOfOneType(CsvText text, internal::CsvPlan* plan) {
  const internal::MissingWords missing(plan->options().missing_words);
  internal::TypedTable table(*plan, missing);
  bool begun = false;
  FIRN_RETURN_IF_ERROR(ReadInto(&text, plan, &table, &begun, [&] {
    table.Begin();
    return ExpectOneType(plan->sources());
  }));
  if (!begun) {
    const CsvOptions& o = plan->options();
    const auto own = o.columns.empty() ? o.dtypes.end() : o.dtypes.find(o.columns[0]);
    return NoRows(own == o.dtypes.end() ? o.dtype : own->second, o.columns.size());
  }
  if (const absl::Status status = table.Finish(); !status.ok()) return InText(text, status);
  return table.TakeAll();
}

absl::StatusOr<Tensor> ReadText(CsvText text, const CsvOptions& options,
                                const CsvWording& wording) {
  internal::CsvPlan plan(options, wording, "csv");
  FIRN_RETURN_IF_ERROR(plan.Init());
  if (!options.dtypes.empty()) return ReadOfOneType(std::move(text), &plan);
  return internal::WithElementOf(
      options.dtype, [&](auto zero) { return ReadTable<decltype(zero)>(std::move(text), &plan); });
}

absl::Status ExpectEachOnce(const std::vector<internal::CsvSource>& sources) {
  absl::flat_hash_map<std::string, size_t> places;
  for (const internal::CsvSource& s : sources) {
    const auto [at, is_new] = places.try_emplace(s.key, s.column);
    FIRN_RETURN_IF(!is_new, InvalidArgument("of which columns ", at->second, " and ", s.column,
                                            " would both be called ", Shown(s.key),
                                            " (CsvOptions::columns takes places, and each once)"));
  }
  return absl::OkStatus();
}

absl::StatusOr<StateDict> ReadColumns(CsvText text, const CsvOptions& options) {
  const CsvWording wording;
  internal::CsvPlan plan(options, wording, "csv");
  FIRN_RETURN_IF_ERROR(plan.Init());
  const internal::MissingWords missing(options.missing_words);
  internal::TypedTable table(plan, missing);
  bool begun = false;
  FIRN_RETURN_IF_ERROR(ReadInto(&text, &plan, &table, &begun, [&] {
    table.Begin();
    return ExpectEachOnce(plan.sources());
  }));
  FIRN_RETURN_IF(!begun, DataLoss(text.name(), ": expected columns, got no line"));
  if (const absl::Status status = table.Finish(); !status.ok()) return InText(text, status);
  StateDict columns;
  for (size_t i = 0; i < plan.sources().size(); ++i) {
    columns.Insert(plan.sources()[i].key, table.TakeColumn(i));
  }
  return columns;
}

}  // namespace

absl::StatusOr<Tensor> TryParseCsv(const std::string& text, const std::string& name,
                                   const CsvOptions& options, const CsvWording& wording) {
  return ReadText(CsvText(text, name), options, wording);
}

absl::StatusOr<Tensor> TryLoadCsv(const std::string& path, const CsvOptions& options,
                                  const CsvWording& wording) {
  FIRN_ASSIGN_OR_RETURN(CsvText text, CsvText::Open(path, options.limits.max_total_bytes));
  return ReadText(std::move(text), options, wording);
}

absl::StatusOr<StateDict> TryParseCsvColumns(const std::string& text, const std::string& name,
                                             const CsvOptions& options) {
  return ReadColumns(CsvText(text, name), options);
}

absl::StatusOr<StateDict> TryLoadCsvColumns(const std::string& path, const CsvOptions& options) {
  FIRN_ASSIGN_OR_RETURN(CsvText text, CsvText::Open(path, options.limits.max_total_bytes));
  return ReadColumns(std::move(text), options);
}

absl::StatusOr<std::vector<std::string>> TryLoadCsvWords(const std::string& path,
                                                         const CsvColumn& column,
                                                         const CsvOptions& options,
                                                         const CsvWording& wording) {
  FIRN_ASSIGN_OR_RETURN(CsvText text, CsvText::Open(path, options.limits.max_total_bytes));
  const internal::MissingWords missing(options.missing_words);
  internal::WordSet words(missing, options.missing == CsvMissing::kError ? wording.missing : "");
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
        const absl::Status status = words.Add(fields[place]);
        if (status.ok()) [[likely]]
          return status;
        return absl::Status(status.code(),
                            absl::StrCat(InColumn(place, name), std::string(status.message())));
      }));
  return words.Sorted();
}

absl::StatusOr<std::vector<std::string>> TryLoadCsvNames(const std::string& path,
                                                         const CsvOptions& options) {
  FIRN_ASSIGN_OR_RETURN(CsvText text, CsvText::Open(path, options.limits.max_total_bytes));
  std::vector<std::string> names;
  FIRN_RETURN_IF_ERROR(
      ForEachCsvRow(&text, {.separator = options.separator, .skip_lines = options.skip_lines},
                    [&](const std::vector<Field>& fields) {
                      for (const Field& field : fields) names.push_back(WordOf(field));
                      return absl::CancelledError();
                    }));
  return names;
}

Tensor LoadCsv(const std::string& path, const CsvOptions& options) {
  absl::StatusOr<Tensor> table = TryLoadCsv(path, options);
  RaiseIfError(table.status(), "csv");
  return *std::move(table);
}

StateDict LoadCsvColumns(const std::string& path, const CsvOptions& options) {
  absl::StatusOr<StateDict> columns = TryLoadCsvColumns(path, options);
  RaiseIfError(columns.status(), "csv");
  return *std::move(columns);
}

std::vector<std::string> LoadCsvWords(const std::string& path, const CsvColumn& column,
                                      const CsvOptions& options) {
  absl::StatusOr<std::vector<std::string>> words = TryLoadCsvWords(path, column, options);
  RaiseIfError(words.status(), "csv");
  return *std::move(words);
}

std::vector<std::string> LoadCsvNames(const std::string& path, const CsvOptions& options) {
  absl::StatusOr<std::vector<std::string>> names = TryLoadCsvNames(path, options);
  RaiseIfError(names.status(), "csv");
  return *std::move(names);
}

}  // namespace firn::io
