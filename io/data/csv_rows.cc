// The header becomes a list of columns (internal/csv_rows_plan); a row is its line, cut into cells
// each time. Cells of one variable are gathered: numbers in a vector, or the tensors of files,
// which are stacked.
#include "firn/io/data/csv_rows.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/csv_cells.h"
#include "firn/io/csv/internal/csv_line.h"
#include "firn/io/csv/internal/csv_plan.h"
#include "firn/io/csv/line_index.h"
#include "firn/io/data/csv_rows_status.h"
#include "firn/io/data/internal/csv_cell_files.h"
#include "firn/io/data/internal/csv_numbers.h"
#include "firn/io/data/internal/csv_rows_plan.h"
#include "firn/io/data/internal/name_errors.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"

namespace firn::io {
namespace {

using internal::CsvRowsPlan;
using internal::CsvSource;
using internal::Field;
using internal::Shown;

// The cells of one variable in a row.
struct Cells {
  internal::CsvNumbers numbers;
  std::vector<Tensor> files;
};

absl::StatusOr<Tensor> Joined(Cells cells, bool indexed) {
  if (cells.files.empty()) return std::move(cells.numbers).ToTensor();
  if (!indexed) return cells.files[0];
  FIRN_RETURN_IF(!cells.numbers.empty(), DataLoss("expected numbers or files, got both"));
  for (const Tensor& t : cells.files) {
    const Tensor& first = cells.files[0];
    FIRN_RETURN_IF(t.shape() != first.shape() || t.dtype() != first.dtype(),
                   DataLoss("expected files of one shape, got ", first.spec().ToString(), " and ",
                            t.spec().ToString()));
  }
  return firn::Stack(cells.files);
}

// Puts a number in place of a word; for a one-hot word, which may be missing, one number for each
// word.
void AddPlace(const CsvSource& source, int64_t place, internal::CsvNumbers* numbers) {
  internal::WithElementOf(source.dtype, [&](auto zero) {
    using T = decltype(zero);
    std::vector<T>& values = numbers->Of<T>();
    if (!source.one_hot) {
      values.push_back(static_cast<T>(place));
      return;
    }
    const size_t before = values.size();
    values.resize(before + source.width());
    if (place >= 0) values[before + static_cast<size_t>(place)] = 1;
  });
}

class CsvRowsOfFile final : public Dataset {
 public:
  static absl::StatusOr<DatasetPtr> Open(const std::string& path, const CsvRowsOptions& options,
                                         const CsvRowsWording& wording) {
    const std::string_view scheme = internal::SchemeOf(path);
    FIRN_RETURN_IF(
        !scheme.empty(),
        Unimplemented(path, ": expected a file of this machine: ", scheme, " is not read"));
    FIRN_ASSIGN_OR_RETURN(auto file, RandomAccess::Open(path));
    FIRN_ASSIGN_OR_RETURN(LineIndex lines,
                          LineIndex::Make(std::move(file), ',', options.limits.max_metadata_bytes));
    FIRN_RETURN_IF(lines.size() == 0, DataLoss(path, ": line 1: expected names of columns"));
    FIRN_ASSIGN_OR_RETURN(const std::string first, lines.Get(0));
    FIRN_ASSIGN_OR_RETURN(auto plan,
                          CsvRowsPlan::Make(path, options, wording, first, lines.size()));
    return std::make_shared<CsvRowsOfFile>(path, std::move(lines), std::move(plan));
  }

  CsvRowsOfFile(const std::string& path, LineIndex lines, std::unique_ptr<const CsvRowsPlan> plan)
      : path_(path),
        folder_(path.substr(0, path.rfind('/') + 1)),
        lines_(std::move(lines)),
        plan_(std::move(plan)),
        names_(std::make_shared<const std::vector<std::string>>(plan_->variables())) {}

  int64_t size() const override {
    const std::vector<int64_t>* const kept = plan_->kept();
    return kept != nullptr ? static_cast<int64_t>(kept->size()) : lines_.size() - 1;
  }
  std::vector<std::string> variables() const override { return *names_; }
  std::string NameOf(int64_t i) const override {
    return absl::StrCat(path_, ", line ", lines_.LineOf(RecordOf(i)));
  }
  Sample Get(int64_t i) const override {
    const int64_t record = RecordOf(i);
    absl::StatusOr<std::vector<Tensor>> row = Read(record);
    if (!row.ok()) {
      RaiseStatus(internal::InLine(path_, lines_.LineOf(record), row.status()), "csv_rows");
    }
    return Sample::Named(names_, *std::move(row));
  }

 private:
  int64_t RecordOf(int64_t i) const {
    internal::CheckIndex(i, size(), "row", "csv_rows");
    const std::vector<int64_t>* const kept = plan_->kept();
    return kept != nullptr ? (*kept)[static_cast<size_t>(i)] : i + 1;
  }

  absl::StatusOr<std::vector<Tensor>> Read(int64_t record) const {
    const std::vector<CsvRowsPlan::Column>& columns = plan_->columns();
    FIRN_ASSIGN_OR_RETURN(const std::string line, lines_.Get(record));
    std::vector<Field> fields;
    FIRN_RETURN_IF_ERROR(internal::SplitRecord(line, ',', &fields));
    FIRN_RETURN_IF(fields.size() != columns.size(),
                   DataLoss("expected ", columns.size(), " columns, got ", fields.size()));
    std::vector<Cells> cells(variables().size());
    std::vector<size_t> last(variables().size());
    int64_t left = plan_->options().limits.max_total_bytes;
    for (size_t c = 0; c < fields.size(); ++c) {
      const CsvRowsPlan::Column& column = columns[c];
      if (column.source == nullptr) continue;
      last[column.variable] = c;
      const absl::Status read = ReadCell(fields[c], column, &cells[column.variable], &left);
      if (!read.ok()) return plan_->InColumn(c, read);
    }
    std::vector<Tensor> row;
    for (size_t v = 0; v < cells.size(); ++v) {
      absl::StatusOr<Tensor> joined = Joined(std::move(cells[v]), columns[last[v]].indexed);
      if (!joined.ok()) return plan_->InColumn(last[v], joined.status());
      row.push_back(*std::move(joined));
    }
    return row;
  }

  absl::Status ReadCell(const Field& field, const CsvRowsPlan::Column& column, Cells* cells,
                        int64_t* left) const {
    const CsvSource& source = *column.source;
    if (source.words != nullptr) return ReadWord(field, column, &cells->numbers, left);
    const auto add = [&](auto number) { cells->numbers.Of<decltype(number)>().push_back(number); };
    FIRN_ASSIGN_OR_RETURN(const bool is_number, plan_->TakeNumber(field, source, add));
    if (is_number) return absl::OkStatus();
    if (plan_->IsMissing(field)) return AddMissing(field, column, &cells->numbers);
    FIRN_ASSIGN_OR_RETURN(
        Tensor read, internal::ReadCellFile(folder_, WordOf(field), source.dtype, plan_->options(),
                                            plan_->wording().outside));
    // Those of several columns are copied into one.
    const auto bytes = read.defined() ? static_cast<int64_t>(read.spec().bytes()) : 0;
    FIRN_RETURN_IF_ERROR(Take(bytes * (column.indexed ? 2 : 1), left));
    cells->files.push_back(std::move(read));
    return absl::OkStatus();
  }

  absl::Status ReadWord(const Field& field, const CsvRowsPlan::Column& column,
                        internal::CsvNumbers* numbers, int64_t* left) const {
    const CsvSource& source = *column.source;
    FIRN_ASSIGN_OR_RETURN(const int64_t place, plan_->PlaceOf(field, source));
    FIRN_RETURN_IF_ERROR(Take(static_cast<int64_t>(source.width()) * SizeOf(source.dtype), left));
    if (place < 0 && !(source.one_hot && plan_->missing() == CsvMissing::kValue)) {
      return AddMissing(field, column, numbers);
    }
    AddPlace(source, place, numbers);
    return absl::OkStatus();
  }

  absl::Status Take(int64_t bytes, int64_t* left) const {
    *left -= bytes;
    FIRN_RETURN_IF(*left < 0,
                   ResourceExhausted("more than the ", plan_->options().limits.max_total_bytes,
                                     " bytes allowed for a row (limits.max_total_bytes)"));
    return absl::OkStatus();
  }

  absl::Status AddMissing(const Field& field, const CsvRowsPlan::Column& column,
                          internal::CsvNumbers* numbers) const {
    const CsvSource& source = *column.source;
    if (column.fill) {
      internal::WithElementOf(source.dtype, [&](auto zero) {
        using T = decltype(zero);
        numbers->Of<T>().push_back(static_cast<T>(*column.fill));
      });
      return absl::OkStatus();
    }
    if (plan_->missing() == CsvMissing::kValue) {
      return NoValueFor(field, source.dtype, plan_->missing_value());
    }
    FIRN_RETURN_IF(
        plan_->missing() != CsvMissing::kError,
        DataLoss("expected something, as when the file was opened, got ", Shown(field.text)));
    return DataLoss("expected a ", source.words == nullptr ? "number or a path" : "word", ", got ",
                    Shown(field.text), " (", plan_->wording().missing, ")");
  }

  const std::string path_, folder_;
  const LineIndex lines_;
  const std::unique_ptr<const CsvRowsPlan> plan_;
  const SampleNames names_;
};

}  // namespace

absl::StatusOr<DatasetPtr> TryCsvRows(const std::string& path, const CsvRowsOptions& options,
                                      const CsvRowsWording& wording) {
  return CsvRowsOfFile::Open(path, options, wording);
}

DatasetPtr CsvRows(const std::string& path, const CsvRowsOptions& options) {
  absl::StatusOr<DatasetPtr> rows = TryCsvRows(path, options);
  RaiseIfError(rows.status(), "csv_rows");
  return *std::move(rows);
}

}  // namespace firn::io
