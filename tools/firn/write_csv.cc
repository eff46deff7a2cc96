// A CSV data set of rows: its header follows from the first row, and the others must be alike.
// Files go into folders of a thousand.
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "firn/device/atomic_file.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/image/image.h"
#include "firn/io/npy/npy_status.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tools/firn/data_files.h"

namespace firn::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostColumns = 1024;  // that one variable becomes

[[noreturn]] void Raise(const absl::Status& status) { RaiseStatus(status, "dataset"); }

// Rows' numbers are written as cells, and not into files.
bool AreCells(const Tensor& t) {
  return t.rank() <= 1 && t.num_elements() > 0 && t.num_elements() <= kMostColumns;
}

// The picture as u8, if it is one.
std::optional<Tensor> PictureOf(const Tensor& t) {
  if (t.rank() != 3 || t.size(0) < 1 || t.size(0) > 4 || t.num_elements() == 0) return std::nullopt;
  if (t.dtype() == DType::kU8) return t;
  if (t.dtype() != DType::kF32) return std::nullopt;
  for (const float v : t.ToVector<float>()) {
    // What is read again is k / 255 in f32; it came from there, or from k * (1 / 255).
    if (!(v >= 0 && v <= 1) || std::abs(v * 255 - std::round(v * 255)) > 1e-4) return std::nullopt;
  }
  return Round(t * 255).To(DType::kU8);
}

void AppendNumber(int64_t number, std::string* line) { absl::StrAppend(line, number); }

// The shortest text that reads as the same number. Where whole numbers have gaps between them it
// has an exponent: readers take whole numbers for exact, and its digits are not.
template <class T>
void AppendNumber(T number, std::string* line) {
  char text[32];
  constexpr T kAllBelow = T(int64_t{1} << std::numeric_limits<T>::digits);
  const auto [end, error] =
      std::abs(number) < kAllBelow
          ? std::to_chars(text, text + sizeof(text), number)
          : std::to_chars(text, text + sizeof(text), number, std::chars_format::scientific);
  static_cast<void>(error);
  line->append(text, end);
}

template <class T>
void AppendNumbers(const Tensor& t, std::string* line) {
  for (const T number : t.ToVector<T>()) {
    if (!line->empty()) *line += ',';
    AppendNumber(number, line);
  }
}

// `name`, or the first of <name>_2, <name>_3, ... that is not taken.
std::string Unused(const std::string& name, absl::FunctionRef<bool(const std::string&)> taken) {
  std::string unused = name;
  for (int k = 2; taken(unused); ++k) unused = absl::StrCat(name, "_", k);
  return unused;
}

class Writer {
 public:
  Writer(const std::string& path, const io::Dataset& rows)
      : names_(rows.variables()),
        folder_(fs::path(path).parent_path().string()),
        files_(NewFolder(
            folder_, inner::internal::PortablePath(fs::path(path).stem().string()) + "_files")) {
    std::set<std::string> taken;
    for (const std::string& name : names_) {
      std::string kept;  // names become parts of paths
      for (const char c : name) kept += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
      folders_.push_back(Unused(kept, [&](const std::string& f) { return taken.contains(f); }));
      taken.insert(folders_.back());
      if (!name.empty() && name[0] != '#' && name.find(':') == std::string::npos &&
          name.find("__") == std::string::npos && inner::internal::IsOneLine(name)) {
        continue;
      }
      Raise(InvalidArgument("a variable is called ", inner::internal::JsonString(name),
                            ": the header of a CSV data set has no such names"));
    }
  }

  std::string Header(const io::Sample& first) const {
    std::string line;
    for (size_t v = 0; v < names_.size(); ++v) {
      const std::string& name = names_[v];
      if (first[v].rank() == 1 && first[v].num_elements() > 1 && AreCells(first[v])) {
        for (int64_t k = 0; k < first[v].num_elements(); ++k)
          Cell(absl::StrCat(name, "__", k), &line);
      } else {
        Cell(name, &line);
      }
    }
    return line + "\n";
  }

  std::string Line(int64_t i, const io::Sample& row, const io::Sample& first) const {
    std::string line;
    for (size_t v = 0; v < names_.size(); ++v) {
      const std::string& name = names_[v];
      if (AreCells(first[v]) && row[v].shape() != first[v].shape()) {
        Raise(InvalidArgument("row ", i, ": expected ", name, " to be ",
                              first[v].shape().ToString(), " as in row 0, got ",
                              row[v].shape().ToString()));
      }
      if (AreCells(first[v])) {
        const DType dtype = row[v].dtype();
        if (!IsFloating(dtype)) {
          AppendNumbers<int64_t>(row[v], &line);
        } else if (dtype == DType::kF64) {
          AppendNumbers<double>(row[v], &line);
        } else {
          AppendNumbers<float>(row[v], &line);
        }
      } else {
        Cell(WriteFile(i, folders_[v], row[v]), &line);
      }
    }
    return line + "\n";
  }

 private:
  static void Cell(const std::string& text, std::string* line) {
    absl::StrAppend(line, line->empty() ? "" : ",", inner::internal::CsvField(text));
  }

  // The files of another table, of which the rows may be read, are not replaced.
  static std::string NewFolder(const fs::path& beside, const std::string& name) {
    return Unused(name, [&](const std::string& f) {
      std::error_code error;
      return fs::exists(fs::symlink_status(beside / f, error));
    });
  }

  // Returns the path from the CSV.
  std::string WriteFile(int64_t i, const std::string& of, const Tensor& t) const {
    const std::optional<Tensor> picture = PictureOf(t);
    const std::string inside =
        absl::StrFormat("%s/%s/%05d/%08d%s", files_, of, i / 1000, i, picture ? ".png" : ".npy");
    std::string bytes;
    if (picture) {
      bytes = io::EncodePng(*picture);
    } else {
      absl::StatusOr<std::string> npy = io::TryFormatNpy(t);
      if (!npy.ok()) Raise(npy.status());
      bytes = *std::move(npy);
    }
    WriteOfMany((fs::path(folder_) / inside).string(), bytes);
    return inside;
  }

  const std::vector<std::string> names_;
  const std::string folder_, files_;
  std::vector<std::string> folders_;  // of each variable, in files_
};

}  // namespace

void WriteCsvData(const std::string& path, const io::Dataset& rows,
                  const std::function<void(int64_t rows)>& progress) {
  if (rows.size() == 0) Raise(InvalidArgument(path, ": there are no rows to write"));
  absl::StatusOr<inner::internal::AtomicFile> out = inner::internal::AtomicFile::Create(path);
  if (!out.ok()) Raise(out.status());
  const Writer writer(path, rows);
  const io::Sample first = rows.Get(0);
  const auto write = [&](const std::string& text) {
    RaiseIfError(out->Write(text.data(), text.size()), "dataset");
  };
  write(writer.Header(first));
  for (int64_t i = 0; i < rows.size(); ++i) {
    write(writer.Line(i, rows.Get(i), first));
    progress(i + 1);
  }
  RaiseIfError(out->Commit(), "dataset");
}

}  // namespace firn::cli
