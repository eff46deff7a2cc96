// The header becomes a list of columns; a row is its line, cut into cells each time. Cells of one
// variable are gathered: numbers in a vector, or the tensors of files, which are stacked.
#include "firn/io/csv_rows.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv.h"
#include "firn/io/internal/csv_header.h"
#include "firn/io/internal/csv_line.h"
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

// None where the text is none. Python's float(), whose rules NNabla's are, rounds twice too.
absl::StatusOr<std::optional<float>> NumberOf(std::string_view text) {
  double value = 0;
  const std::errc error = internal::ParseNumber(text, &value);
  if (error == std::errc::invalid_argument) return std::nullopt;
  const bool fits =
      error == std::errc() &&
      !(std::isfinite(value) && std::abs(value) > double{std::numeric_limits<float>::max()});
  FIRN_RETURN_IF(
      !fits, DataLoss("expected a number that f32 can hold, got ", Shown(internal::Trim(text))));
  return static_cast<float>(value);
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
    {".csv", [](const std::string& path,
                const CsvRowsOptions& o) { return LoadCsv(path, {.limits = o.limits}); }},
    {".npy", [](const std::string& path,
                const CsvRowsOptions& o) { return ReadNpy(path, {.limits = o.limits}); }},
    {".wav", [](const std::string& path,
                const CsvRowsOptions& o) { return ReadWav(path, o.limits).samples; }},
};

absl::StatusOr<Tensor> ReadCellFile(const std::string& folder, std::string name,
                                    const CsvRowsOptions& options) {
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
                                  Shown(name), " (CsvRowsOptions::allow_outside lets it out)")));
  const std::string path = name.starts_with('/') ? name : folder + name;
  try {
    return own != options.readers.end() ? own->second(path) : format->read(path, options);
  } catch (const Error& e) {
    return e.status();
  }
}

// The cells of one variable in a row.
struct Cells {
  std::vector<float> numbers;
  std::vector<Tensor> files;
};

absl::StatusOr<Tensor> Joined(Cells cells, bool indexed) {
  if (cells.files.empty()) return FromVector(std::move(cells.numbers));
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
  static absl::StatusOr<RowsPtr> Open(const std::string& path, const CsvRowsOptions& options) {
    FIRN_RETURN_IF(
        !Scheme(path).empty(),
        Unimplemented(path, ": expected a file of this machine: ", Scheme(path), " is not read"));
    FIRN_ASSIGN_OR_RETURN(auto file, internal::RandomAccess::Open(path));
    FIRN_ASSIGN_OR_RETURN(LineIndex lines,
                          LineIndex::Make(std::move(file), options.limits.max_metadata_bytes));
    FIRN_RETURN_IF(lines.size() == 0, DataLoss(path, ": line 1: expected names of columns"));
    FIRN_ASSIGN_OR_RETURN(const std::string first, lines.Get(0));
    absl::StatusOr<CsvHeader> header = internal::ParseCsvHeader(first);
    if (!header.ok()) return InLine(path, 0, header.status());
    auto rows = std::shared_ptr<CsvRowsOfFile>(
        new CsvRowsOfFile(path, options, std::move(lines), *std::move(header)));
    FIRN_RETURN_IF_ERROR(rows->Choose());
    return rows;
  }

  int64_t size() const override { return lines_.size() - 1; }
  const std::vector<std::string>& variables() const override { return variables_; }
  std::vector<Tensor> Get(int64_t i) const override {
    internal::CheckIndex(i, size(), "row", "csv_rows");
    absl::StatusOr<std::vector<Tensor>> row = Read(i + 1);
    if (!row.ok()) RaiseStatus(InLine(path_, i + 1, row.status()), "csv_rows");
    return *std::move(row);
  }

 private:
  CsvRowsOfFile(const std::string& path, const CsvRowsOptions& options, LineIndex lines,
                CsvHeader header)
      : path_(path),
        folder_(path.substr(0, path.rfind('/') + 1)),
        options_(options),
        lines_(std::move(lines)),
        header_(std::move(header)),
        variables_(options.variables.empty() ? header_.variables : options.variables) {}

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
    return absl::Status(status.code(), absl::StrCat(path, ": line ", line + 1, ", ",
                                                    std::string(status.message())));
  }

  absl::StatusOr<std::vector<Tensor>> Read(int64_t line_number) const {
    FIRN_ASSIGN_OR_RETURN(const std::string line, lines_.Get(line_number));
    std::vector<Field> fields;
    FIRN_RETURN_IF_ERROR(internal::SplitLine(line, ',', &fields));
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
      absl::StatusOr<Tensor> joined = Joined(std::move(cells[v]), header_.columns[last[v]].indexed);
      if (!joined.ok()) return InColumn(last[v], joined.status());
      row.push_back(*std::move(joined));
    }
    return row;
  }

  absl::Status ReadCell(const Field& field, bool indexed, Cells* cells, int64_t* left) const {
    FIRN_ASSIGN_OR_RETURN(const std::optional<float> number, NumberOf(field.text));
    if (number) {
      cells->numbers.push_back(*number);
      return absl::OkStatus();
    }
    FIRN_ASSIGN_OR_RETURN(Tensor read, ReadCellFile(folder_, internal::WordOf(field), options_));
    // Those of several columns are copied into one.
    *left -= read.defined() ? static_cast<int64_t>(read.spec().bytes()) * (indexed ? 2 : 1) : 0;
    FIRN_RETURN_IF(*left < 0, ResourceExhausted("more than the ", options_.limits.max_total_bytes,
                                                " bytes allowed for a row"));
    cells->files.push_back(std::move(read));
    return absl::OkStatus();
  }

  absl::Status InColumn(size_t column, const absl::Status& status) const {
    return absl::Status(status.code(),
                        absl::StrCat("column ", column, " (", Shown(header_.columns[column].name),
                                     "): ", std::string(status.message())));
  }

  const std::string path_, folder_;
  const CsvRowsOptions options_;
  const LineIndex lines_;
  CsvHeader header_;
  const std::vector<std::string> variables_;
};

}  // namespace

RowsPtr CsvRows(const std::string& path, const CsvRowsOptions& options) {
  absl::StatusOr<RowsPtr> rows = CsvRowsOfFile::Open(path, options);
  RaiseIfError(rows.status(), "csv_rows");
  return *std::move(rows);
}

}  // namespace firn::io
