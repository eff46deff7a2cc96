// The header becomes a list of columns; a row is its line, cut into cells each time. Cells of one
// variable are gathered: numbers in a vector, or the tensors of files, which are stacked.
#include "firn/io/csv_rows.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv.h"
#include "firn/io/internal/csv_cells.h"
#include "firn/io/internal/csv_header.h"
#include "firn/io/internal/csv_line.h"
#include "firn/io/internal/csv_rows_open.h"
#include "firn/io/internal/line_index.h"
#include "firn/io/internal/name_errors.h"
#include "firn/io/internal/variables.h"
#include "firn/io/npy.h"
#include "firn/io/wav.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn::io {
namespace {

using internal::CsvHeader;
using internal::Field;
using internal::LineIndex;
using internal::Shown;

// "s3" of "s3://bucket/x.png"; empty for a path.
std::string_view Scheme(std::string_view text) {
  const size_t at = text.find("://");
  if (at == std::string_view::npos) return {};
  const std::string_view scheme = text.substr(0, at);
  const bool is_one = std::all_of(scheme.begin(), scheme.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
  return is_one ? scheme : std::string_view();
}

// The numbers among a variable's cells, in the type that is asked for.
struct Numbers {
  std::vector<float> f32;
  std::vector<double> f64;
  std::vector<int64_t> i64;

  bool empty() const { return f32.empty() && f64.empty() && i64.empty(); }
  Tensor ToTensor(DType dtype) && {
    if (dtype == DType::kF64) return FromVector(std::move(f64));
    if (dtype == DType::kI64) return FromVector(std::move(i64));
    return FromVector(std::move(f32));
  }
};

absl::Status Refused(std::string_view text, DType dtype, const std::string& advice) {
  return DataLoss("expected a number that ", DTypeName(dtype), " can hold, got ",
                  Shown(internal::Trim(text)),
                  advice.empty() ? "" : absl::StrCat(" (", advice, ")"));
}

// Whether the text is a number, which is added. Python's float(), whose rules NNabla's are, rounds
// twice on the way to f32 too.
absl::StatusOr<bool> AddNumber(std::string_view text, const CsvRowsOptions& options,
                               const std::string& advice, Numbers* numbers) {
  if (options.dtype == DType::kI64) {
    int64_t value = 0;
    const internal::CellError error = internal::ParseCell(text, false, &value);
    if (error == internal::CellError::kNoNumber) return false;
    FIRN_RETURN_IF(error != internal::CellError::kNone, Refused(text, options.dtype, advice));
    numbers->i64.push_back(value);
    return true;
  }
  double value = 0;
  const std::errc error = internal::ParseNumber(text, &value);
  if (error == std::errc::invalid_argument) return false;
  if (std::isnan(value) && options.missing_value) value = *options.missing_value;
  const bool f64 = options.dtype == DType::kF64;
  const bool fits =
      error == std::errc() && !(std::isfinite(value) && !f64 &&
                                std::abs(value) > double{std::numeric_limits<float>::max()});
  FIRN_RETURN_IF(!fits, Refused(text, options.dtype, ""));
  const double kept = f64 ? value : double{static_cast<float>(value)};
  const double all_below = f64 ? 0x1p53 : 0x1p24;
  const bool exact = std::abs(kept) < all_below || options.round || !std::isfinite(kept) ||
                     internal::IsExact(text, kept);
  FIRN_RETURN_IF(!exact, Refused(text, options.dtype, advice));
  if (f64) {
    numbers->f64.push_back(kept);
  } else {
    numbers->f32.push_back(static_cast<float>(value));
  }
  return true;
}

// Whether a path stays in the folder that it starts from, links aside.
bool StaysInside(std::string_view path) {
  if (path.starts_with('/')) return false;
  while (!path.empty()) {
    if (internal::TakeUpTo(&path, '/') == "..") return false;
  }
  return true;
}

Tensor Image(const std::string& path, const CsvRowsOptions& options) {
  Tensor image = ReadImage(path, options.image);
  if (!options.normalize) return image;
  return image.To(DType::kF32) / (image.dtype() == DType::kU8 ? 255 : 65535);
}

using Reader = Tensor (*)(const std::string& path, const CsvRowsOptions& options);
struct Format {
  std::string_view end;
  Reader read;
};
constexpr Format kFormats[] = {
    {".bmp", Image},
    {".gif", Image},
    {".jpeg", Image},
    {".jpg", Image},
    {".png", Image},
    {".tif", Image},
    {".tiff", Image},
    {".csv",
     [](const std::string& path, const CsvRowsOptions& o) {
       return LoadCsv(path, {.dtype = o.dtype, .round = o.round, .limits = o.limits});
     }},
    {".npy", [](const std::string& path,
                const CsvRowsOptions& o) { return ReadNpy(path, {.limits = o.limits}); }},
    {".wav", [](const std::string& path,
                const CsvRowsOptions& o) { return ReadWav(path, o.limits).samples; }},
};

absl::StatusOr<Tensor> ReadCellFile(const std::string& folder, std::string name,
                                    const CsvRowsOptions& options, const std::string& outside) {
  FIRN_RETURN_IF(!Scheme(name).empty(),
                 Unimplemented("expected a number or a file of this machine, got ", Shown(name),
                               ": ", Scheme(name), " is not read"));
  const size_t dot = name.rfind('.');
  const std::string end = dot == std::string::npos ? "" : absl::AsciiStrToLower(name.substr(dot));
  const auto own = options.readers.find(end);
  const auto* const format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                          [&](const Format& f) { return f.end == end; });
  FIRN_RETURN_IF(own == options.readers.end() && format == std::end(kFormats),
                 DataLoss("expected a number or the path of a .bmp, .csv, .gif, .jpeg, .jpg, .npy, "
                          ".png, .tif, .tiff or .wav file, got ",
                          Shown(name)));
  FIRN_RETURN_IF(name.find('\0') != std::string::npos,
                 DataLoss("expected a path, got ", Shown(name), " with a zero byte in it"));
  std::replace(name.begin(), name.end(), '\\', '/');
  FIRN_RETURN_IF(!options.allow_outside && !StaysInside(name),
                 absl::PermissionDeniedError(
                     absl::StrCat("expected a path inside the folder of this file, got ",
                                  Shown(name), " (", outside, ")")));
  const std::string path = name.starts_with('/') ? name : folder + name;
  try {
    return own != options.readers.end() ? own->second(path) : format->read(path, options);
  } catch (const Error& e) {
    return e.status();
  }
}

// The cells of one variable in a row.
struct Cells {
  Numbers numbers;
  std::vector<Tensor> files;
};

absl::StatusOr<Tensor> Joined(Cells cells, bool indexed, DType dtype) {
  if (cells.files.empty()) return std::move(cells.numbers).ToTensor(dtype);
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

class CsvRowsOfFile final : public Rows {
 public:
  static absl::StatusOr<RowsPtr> Open(const std::string& path, const CsvRowsOptions& options,
                                      const internal::CsvRowsWording& wording) {
    FIRN_RETURN_IF(
        !Scheme(path).empty(),
        Unimplemented(path, ": expected a file of this machine: ", Scheme(path), " is not read"));
    FIRN_RETURN_IF(options.dtype != DType::kF32 && options.dtype != DType::kF64 &&
                       options.dtype != DType::kI64,
                   InvalidArgument("csv_rows: dtype is ", DTypeName(options.dtype),
                                   " (want f32, f64 or i64)"));
    CsvRowsOptions kept = options;
    if (kept.missing_value) {
      FIRN_ASSIGN_OR_RETURN(
          kept.missing_value,
          internal::MissingValue("csv_rows", *options.missing_value, options.dtype, options.round));
    }
    FIRN_ASSIGN_OR_RETURN(auto file, internal::RandomAccess::Open(path));
    FIRN_ASSIGN_OR_RETURN(LineIndex lines,
                          LineIndex::Make(std::move(file), ',', options.limits.max_metadata_bytes));
    FIRN_RETURN_IF(lines.size() == 0, DataLoss(path, ": line 1: expected names of columns"));
    FIRN_ASSIGN_OR_RETURN(const std::string first, lines.Get(0));
    absl::StatusOr<CsvHeader> header = internal::ParseCsvHeader(first);
    if (!header.ok()) return InLine(path, 1, header.status());
    auto rows = std::shared_ptr<CsvRowsOfFile>(
        new CsvRowsOfFile(path, std::move(kept), wording, std::move(lines), *std::move(header)));
    FIRN_RETURN_IF_ERROR(rows->Choose());
    return rows;
  }

  int64_t size() const override { return lines_.size() - 1; }
  const std::vector<std::string>& variables() const override { return variables_; }
  std::vector<Tensor> Get(int64_t i) const override {
    internal::CheckIndex(i, size(), "row", "csv_rows");
    absl::StatusOr<std::vector<Tensor>> row = Read(i + 1);
    if (!row.ok()) RaiseStatus(InLine(path_, lines_.LineOf(i + 1), row.status()), "csv_rows");
    return *std::move(row);
  }

 private:
  // `options` have a missing_value that the dtype can hold.
  CsvRowsOfFile(const std::string& path, CsvRowsOptions options,
                const internal::CsvRowsWording& wording, LineIndex lines, CsvHeader header)
      : path_(path),
        folder_(path.substr(0, path.rfind('/') + 1)),
        options_(std::move(options)),
        wording_(wording),
        missing_(options_.missing_words.begin(), options_.missing_words.end()),
        lines_(std::move(lines)),
        header_(std::move(header)),
        variables_(options_.variables.empty() ? header_.variables : options_.variables) {}

  // From here on, columns tell their places in `variables_`.
  absl::Status Choose() {
    FIRN_ASSIGN_OR_RETURN(
        const internal::PlacesByName places,
        internal::PlacesOf(variables_, header_.variables, path_, "CsvRowsOptions::variables"));
    for (CsvHeader::Column& column : header_.columns) {
      if (column.variable == CsvHeader::kPassedOver) continue;
      const auto at = places.find(header_.variables[column.variable]);
      column.variable = at == places.end() ? CsvHeader::kPassedOver : at->second;
    }
    return absl::OkStatus();
  }

  static absl::Status InLine(const std::string& path, int64_t line, const absl::Status& status) {
    return absl::Status(status.code(),
                        absl::StrCat(path, ": line ", line, ", ", std::string(status.message())));
  }

  absl::StatusOr<std::vector<Tensor>> Read(int64_t line_number) const {
    FIRN_ASSIGN_OR_RETURN(const std::string line, lines_.Get(line_number));
    std::vector<Field> fields;
    FIRN_RETURN_IF_ERROR(internal::SplitRecord(line, ',', &fields));
    FIRN_RETURN_IF(fields.size() != header_.columns.size(),
                   DataLoss("expected ", header_.columns.size(), " columns, got ", fields.size()));
    std::vector<Cells> cells(variables_.size());
    std::vector<size_t> last(variables_.size());
    int64_t left = options_.limits.max_total_bytes;
    for (size_t c = 0; c < fields.size(); ++c) {
      const size_t variable = header_.columns[c].variable;
      if (variable == CsvHeader::kPassedOver) continue;
      last[variable] = c;
      const absl::Status read =
          ReadCell(fields[c], header_.columns[c].indexed, &cells[variable], &left);
      if (!read.ok()) return InColumn(c, read);
    }
    std::vector<Tensor> row;
    for (size_t v = 0; v < cells.size(); ++v) {
      absl::StatusOr<Tensor> joined =
          Joined(std::move(cells[v]), header_.columns[last[v]].indexed, options_.dtype);
      if (!joined.ok()) return InColumn(last[v], joined.status());
      row.push_back(*std::move(joined));
    }
    return row;
  }

  absl::Status ReadCell(const Field& field, bool indexed, Cells* cells, int64_t* left) const {
    FIRN_ASSIGN_OR_RETURN(const bool is_number,
                          AddNumber(field.text, options_, wording_.inexact, &cells->numbers));
    if (is_number) return absl::OkStatus();
    std::string word = internal::WordOf(field);
    if (missing_.contains(std::string(internal::Trim(word))) || internal::IsNan(field.text)) {
      return AddMissing(field, &cells->numbers);
    }
    FIRN_ASSIGN_OR_RETURN(Tensor read,
                          ReadCellFile(folder_, std::move(word), options_, wording_.outside));
    // Those of several columns are copied into one.
    *left -= read.defined() ? static_cast<int64_t>(read.spec().bytes()) * (indexed ? 2 : 1) : 0;
    FIRN_RETURN_IF(*left < 0, ResourceExhausted("more than the ", options_.limits.max_total_bytes,
                                                " bytes allowed for a row"));
    cells->files.push_back(std::move(read));
    return absl::OkStatus();
  }

  absl::Status AddMissing(const Field& field, Numbers* numbers) const {
    FIRN_RETURN_IF(!options_.missing_value.has_value(),
                   DataLoss("expected a number or a path, got ", Shown(field.text), " (",
                            wording_.missing, ")"));
    const double value = *options_.missing_value;
    if (options_.dtype == DType::kF64) {
      numbers->f64.push_back(value);
    } else if (options_.dtype == DType::kI64) {
      numbers->i64.push_back(static_cast<int64_t>(value));
    } else {
      numbers->f32.push_back(static_cast<float>(value));
    }
    return absl::OkStatus();
  }

  absl::Status InColumn(size_t column, const absl::Status& status) const {
    return absl::Status(status.code(),
                        absl::StrCat("column ", column, " (", Shown(header_.columns[column].name),
                                     "): ", std::string(status.message())));
  }

  const std::string path_, folder_;
  const CsvRowsOptions options_;
  const internal::CsvRowsWording wording_;
  const absl::flat_hash_set<std::string> missing_;
  const LineIndex lines_;
  CsvHeader header_;
  const std::vector<std::string> variables_;
};

}  // namespace

absl::StatusOr<RowsPtr> internal::OpenCsvRows(const std::string& path,
                                              const CsvRowsOptions& options,
                                              const CsvRowsWording& wording) {
  return CsvRowsOfFile::Open(path, options, wording);
}

RowsPtr CsvRows(const std::string& path, const CsvRowsOptions& options) {
  absl::StatusOr<RowsPtr> rows = internal::OpenCsvRows(path, options);
  RaiseIfError(rows.status(), "csv_rows");
  return *std::move(rows);
}

}  // namespace firn::io
