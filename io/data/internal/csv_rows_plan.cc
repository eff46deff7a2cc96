// Columns are decided as LoadCsv decides them (CsvPlan), a variable's name standing for all of its
// columns. Means, rows that are left out and words that nobody listed take another pass over the
// text when the file is opened, and only where they are asked for.
#include "firn/io/data/internal/csv_rows_plan.h"

#include <limits>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/csv_cells.h"
#include "firn/io/csv/csv_reader.h"
#include "firn/io/data/internal/csv_cell_files.h"
#include "firn/io/data/internal/variables.h"

namespace firn::io::internal {
namespace {

absl::StatusOr<CsvOptions> TableOptions(const CsvRowsOptions& o) {
  CsvOptions table = {.categories = o.categories,
                      .one_hot = o.one_hot,
                      .dtype = o.dtype,
                      .dtypes = o.dtypes,
                      .round = o.round,
                      .missing = o.missing,
                      .missing_words = o.missing_words,
                      .limits = o.limits};
  if (!o.missing_value) return table;
  FIRN_RETURN_IF(o.missing == CsvMissing::kMean || o.missing == CsvMissing::kDropRow,
                 InvalidArgument("csv_rows: missing_value is ", *o.missing_value,
                                 ", which has no use where missing ",
                                 o.missing == CsvMissing::kMean ? "asks for means" : "drops rows",
                                 " (want one of them)"));
  table.missing = CsvMissing::kValue;
  table.missing_value = *o.missing_value;
  return table;
}

CsvWording TableWording(const CsvRowsWording& w) {
  CsvWording wording;
  wording.columns = "CsvRowsOptions::variables";
  wording.categories = "CsvRowsOptions::categories";
  wording.one_hot = "CsvRowsOptions::one_hot";
  wording.dtypes = "CsvRowsOptions::dtypes";
  wording.missing = w.missing;
  wording.inexact = w.inexact;
  return wording;
}

// With the end of its line.
int64_t LongestRecord(const LoadLimits& limits) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return limits.max_metadata_bytes > kMost - 2 ? kMost : limits.max_metadata_bytes + 2;
}

absl::Status Changed() { return DataLoss("the file has changed while it was read"); }

}  // namespace

absl::Status InLine(const std::string& path, int64_t line, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(path, ": line ", line, ", ", std::string(status.message())));
}

CsvRowsPlan::CsvRowsPlan(const std::string& path, const CsvRowsOptions& options, CsvOptions table,
                         const CsvRowsWording& wording, CsvHeader header, int64_t records)
    : path_(path),
      options_(options),
      wording_(wording),
      table_wording_(TableWording(wording)),
      table_(std::move(table)),
      plan_(table_, table_wording_, "csv_rows"),
      missing_(options.missing_words),
      header_(std::move(header)),
      variables_(options.variables.empty() ? header_.variables : options.variables),
      records_(records) {
  plain_.dtype = options.dtype;
}

absl::StatusOr<std::unique_ptr<CsvRowsPlan>> CsvRowsPlan::Make(const std::string& path,
                                                               const CsvRowsOptions& options,
                                                               const CsvRowsWording& wording,
                                                               const std::string& first,
                                                               int64_t records) {
  FIRN_ASSIGN_OR_RETURN(CsvOptions table, TableOptions(options));
  absl::StatusOr<CsvHeader> header = ParseCsvHeader(first);
  if (!header.ok()) return InLine(path, 1, header.status());
  std::unique_ptr<CsvRowsPlan> plan(
      new CsvRowsPlan(path, options, std::move(table), wording, *std::move(header), records));
  FIRN_RETURN_IF_ERROR(plan->Choose());
  FIRN_RETURN_IF_ERROR(plan->Begin(first));
  if (plan->missing() == CsvMissing::kMean || plan->missing() == CsvMissing::kDropRow) {
    FIRN_RETURN_IF_ERROR(plan->Look());
  }
  return plan;
}

absl::Status CsvRowsPlan::Choose() {
  FIRN_ASSIGN_OR_RETURN(const PlacesByName places, PlacesOf(variables_, header_.variables, path_,
                                                            "CsvRowsOptions::variables"));
  columns_.resize(header_.columns.size());
  for (size_t c = 0; c < columns_.size(); ++c) {
    const CsvHeader::Column& column = header_.columns[c];
    if (column.variable == CsvHeader::kPassedOver) continue;
    const auto at = places.find(header_.variables[column.variable]);
    if (at == places.end()) continue;
    columns_[c] = {.variable = at->second, .indexed = column.indexed, .source = &plain_};
  }
  return absl::OkStatus();
}

absl::Status CsvRowsPlan::Begin(const std::string& first) {
  const bool by_column =
      !options_.categories.empty() || !options_.one_hot.empty() || !options_.dtypes.empty();
  if (by_column) {
    std::vector<Field> names;
    FIRN_RETURN_IF_ERROR(SplitRecord(first, ',', &names));
    const ColumnFinder finder = FinderOf(names);
    FIRN_RETURN_IF_ERROR(FindWords(finder));
    FIRN_RETURN_IF_ERROR(plan_.Init());
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].source != nullptr) table_.columns.emplace_back(c);
    }
    const absl::Status status = plan_.Begin(finder);
    if (!status.ok()) return InLine(path_, 1, status);
    for (const CsvSource& source : plan_.sources()) columns_[source.column].source = &source;
    FIRN_RETURN_IF_ERROR(CheckTypes());
  } else {
    FIRN_RETURN_IF_ERROR(plan_.Init());
  }
  for (size_t c = 0; c < columns_.size() && table_.missing == CsvMissing::kValue; ++c) {
    if (columns_[c].source == nullptr) continue;
    const absl::StatusOr<double> value =
        MissingValue("csv_rows", table_.missing_value, columns_[c].source->dtype, table_.round);
    if (value.ok()) columns_[c].fill = *value;
  }
  return absl::OkStatus();
}

ColumnFinder CsvRowsPlan::FinderOf(const std::vector<Field>& names) const {
  ColumnFinder finder(names, true);
  std::vector<std::vector<size_t>> columns(header_.variables.size());
  for (size_t c = 0; c < header_.columns.size(); ++c) {
    const size_t variable = header_.columns[c].variable;
    if (variable != CsvHeader::kPassedOver) columns[variable].push_back(c);
  }
  for (size_t v = 0; v < columns.size(); ++v) {
    finder.AddGroup(header_.variables[v], std::move(columns[v]));
  }
  return finder;
}

absl::Status CsvRowsPlan::CheckTypes() const {
  std::vector<const CsvSource*> first(variables_.size());
  for (const CsvSource& source : plan_.sources()) {
    const CsvSource*& of = first[columns_[source.column].variable];
    if (of == nullptr) of = &source;
    FIRN_RETURN_IF(
        of->dtype != source.dtype,
        InvalidArgument(path_, ": line 1, of which ", Shown(of->name), " is to be ",
                        DTypeName(of->dtype), " and ", Shown(source.name), " ",
                        DTypeName(source.dtype), ": they are one variable, which has one type"));
  }
  return absl::OkStatus();
}

// The words of one-hot columns for which none are listed become those of the file. Columns that are
// not read may hold anything, so their words are not collected.
absl::Status CsvRowsPlan::FindWords(const ColumnFinder& finder) {
  std::set<size_t> listed;
  for (const auto& [column, words] : options_.categories) {
    const auto places = finder.FindAll(column, table_wording_.categories + " names");
    if (!places.ok()) return InLine(path_, 1, places.status());
    listed.insert(places->begin(), places->end());
  }
  const std::string advice = table_.missing == CsvMissing::kError ? wording_.missing : "";
  std::map<size_t, WordSet> found;
  table_.one_hot.clear();
  for (const CsvColumn& column : options_.one_hot) {
    const auto places = finder.FindAll(column, table_wording_.one_hot + " names");
    if (!places.ok()) return InLine(path_, 1, places.status());
    for (const size_t c : *places) {
      if (columns_[c].source == nullptr) continue;
      table_.one_hot.emplace_back(c);
      if (!listed.contains(c)) found.try_emplace(c, missing_, advice);
    }
  }
  if (found.empty()) return absl::OkStatus();
  int64_t bytes = 0;
  FIRN_RETURN_IF_ERROR(ForEachRow([&](const std::vector<Field>& fields) -> absl::Status {
    for (auto& [c, words] : found) {
      bytes -= words.bytes();
      const absl::Status added = words.Add(fields[c]);
      if (!added.ok()) return InColumn(c, added);
      bytes += words.bytes();
    }
    FIRN_RETURN_IF(
        bytes > options_.limits.max_metadata_bytes,
        ResourceExhausted("different words of more than the ", options_.limits.max_metadata_bytes,
                          " bytes allowed (limits.max_metadata_bytes)"));
    return absl::OkStatus();
  }));
  for (const auto& [c, words] : found) {
    std::vector<std::string> sorted = words.Sorted();
    FIRN_RETURN_IF(sorted.empty(), InFile(c, DataLoss("expected words, got none")));
    table_.categories[CsvColumn(c)] = std::move(sorted);
  }
  return absl::OkStatus();
}

// Calls f(fields) for each row of the text, in order.
absl::Status CsvRowsPlan::ForEachRow(
    absl::FunctionRef<absl::Status(const std::vector<Field>& fields)> f) const {
  FIRN_ASSIGN_OR_RETURN(CsvText text, CsvText::Open(path_, std::numeric_limits<int64_t>::max()));
  int64_t records = 0;
  const CsvFormat format = {.separator = ',', .max_record = LongestRecord(options_.limits)};
  FIRN_RETURN_IF_ERROR(
      ForEachCsvRow(&text, format, [&](const std::vector<Field>& fields) -> absl::Status {
        FIRN_RETURN_IF(fields.size() != columns_.size(), Changed());
        return ++records == 1 ? absl::OkStatus() : f(fields);
      }));
  FIRN_RETURN_IF(records != records_, DataLoss(path_, ": ", std::string(Changed().message())));
  return absl::OkStatus();
}

// Finds the means, or the rows that are left out. Files that cells name are not opened.
absl::Status CsvRowsPlan::Look() {
  const bool drop = table_.missing == CsvMissing::kDropRow;
  std::vector<RunningMean> means(columns_.size());
  std::vector<bool> holes(columns_.size());
  std::vector<int64_t> kept;
  int64_t record = 0;
  FIRN_RETURN_IF_ERROR(ForEachRow([&](const std::vector<Field>& fields) -> absl::Status {
    ++record;
    bool whole = true;
    for (size_t c = 0; c < fields.size(); ++c) {
      if (columns_[c].source == nullptr) continue;
      const absl::StatusOr<bool> there = LookAt(fields[c], *columns_[c].source, &means[c]);
      if (!there.ok()) return InColumn(c, there.status());
      if (*there) continue;
      whole = false;
      holes[c] = true;
    }
    if (drop && whole) kept.push_back(record);
    return absl::OkStatus();
  }));
  if (drop) {
    kept_ = std::move(kept);
    return absl::OkStatus();
  }
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (!holes[c]) continue;
    FIRN_RETURN_IF(means[c].count() == 0,
                   InFile(c, DataLoss("expected a number to take the mean of, got none")));
    columns_[c].fill = means[c].Get();
  }
  return absl::OkStatus();
}

// Whether the cell is not missing.
absl::StatusOr<bool> CsvRowsPlan::LookAt(const Field& field, const CsvSource& source,
                                         RunningMean* mean) const {
  bool there = true;
  if (source.words != nullptr) {
    FIRN_ASSIGN_OR_RETURN(const int64_t place, PlaceOf(field, source));
    there = place >= 0;
  } else {
    const auto add = [&](auto number) { mean->Add(static_cast<double>(number)); };
    FIRN_ASSIGN_OR_RETURN(const bool is_number, TakeNumber(field, source, add));
    if (is_number) return true;
    there = !IsMissing(field);
    if (there) {
      FIRN_RETURN_IF_ERROR(CheckCellPath(WordOf(field), options_, wording_.outside));
    }
  }
  if (!there && table_.missing == CsvMissing::kMean) {
    FIRN_RETURN_IF_ERROR(CheckHasMean(field, source));
  }
  return there;
}

bool CsvRowsPlan::IsMissing(const Field& field) const {
  return missing_.Has(field) || IsNanCell(field.text);
}

absl::StatusOr<int64_t> CsvRowsPlan::PlaceOf(const Field& field, const CsvSource& source) const {
  const auto found = source.words->find(WordOf(field));
  if (found != source.words->end()) return found->second;
  if (missing_.Has(field)) return -1;
  return ExpectedWord(field, *source.listed);
}

absl::Status CsvRowsPlan::CheckHasMean(const Field& field, const CsvSource& source) const {
  const bool number = source.words == nullptr;
  const bool floating = source.dtype == DType::kF32 || source.dtype == DType::kF64;
  if (number && floating) return absl::OkStatus();
  return NoMeanFor(field, number, source.dtype, wording_.missing);
}

absl::Status CsvRowsPlan::Refused(const Field& field, DType dtype, CellNumber is) const {
  const bool inexact = is == CellNumber::kIsInexact;
  return DataLoss("expected a number that ", DTypeName(dtype), " can hold, got ",
                  Shown(Trim(field.text)),
                  inexact ? absl::StrCat(" (", wording_.inexact, ")") : "");
}

absl::Status CsvRowsPlan::InColumn(size_t column, const absl::Status& status) const {
  return absl::Status(status.code(),
                      absl::StrCat("column ", column, " (", Shown(header_.columns[column].name),
                                   "): ", std::string(status.message())));
}

absl::Status CsvRowsPlan::InFile(size_t column, const absl::Status& status) const {
  const absl::Status in_column = InColumn(column, status);
  return absl::Status(in_column.code(),
                      absl::StrCat(path_, ": ", std::string(in_column.message())));
}

}  // namespace firn::io::internal
