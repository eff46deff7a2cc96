// Every kind of data becomes a Dataset of tensors as they are stored; one function then converts a
// stored tensor for the graph.
#include "tools/firn/forward_input.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/csv_status.h"
#include "firn/io/data/image_folder.h"
#include "firn/io/data/images_below.h"
#include "firn/io/data/npy_dataset.h"
#include "firn/io/data/rows.h"
#include "firn/io/image/image.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tools/firn/data_files.h"

namespace firn::cli {
namespace {

namespace fs = std::filesystem;
using io::ValueOrRaise;

template <class... What>
[[noreturn]] void Refuse(const What&... what) {
  RaiseStatus(InvalidArgument(what...), "forward");
}

// An error of a sample, whose name OpenForwardInput puts in front.
template <class... What>
[[noreturn]] void RefuseSample(const What&... what) {
  RaiseStatus(InvalidArgument(what...), "");
}

Tensor ClassOf(const Tensor& target, size_t classes) {
  const double number = target.num_elements() == 1 ? target.Item<double>() : -1;
  if (!(number >= 0 && number < static_cast<double>(classes)) || number != std::floor(number)) {
    RefuseSample(
        "its label is ",
        target.num_elements() == 1 ? absl::StrCat(target.Item<double>()) : target.spec().ToString(),
        ": expected a class from 0 to ", classes - 1, " (--no-labels reads none)");
  }
  return FromVector(std::vector<int64_t>{static_cast<int64_t>(number)}, {});
}

// --- Pictures ------------------------------------------------------------------------------------

// Pictures are read in the colours that the graph takes, as they were for training.
io::ImageColor ColorOf(const TensorSpec& batch) {
  if (batch.shape.rank() != 4) {
    Refuse("pictures are for graphs that take [batch, channels, height, width], this one takes ",
           batch.ToString());
  }
  switch (batch.shape[1]) {
    case 1:
      return io::ImageColor::kGrey;
    case 3:
      return io::ImageColor::kRgb;
    case 4:
      return io::ImageColor::kRgba;
    default:
      return io::ImageColor::kAsStored;
  }
}

ForwardInput Pictures(std::vector<std::string> paths, const TensorSpec& batch) {
  const io::DecodeImageOptions image = {.color = ColorOf(batch)};
  const auto n = static_cast<int64_t>(paths.size());
  const auto path = [paths = std::move(paths)](int64_t i) { return paths[static_cast<size_t>(i)]; };
  return {io::FromFunction(n,
                           [=](int64_t i) {
                             return io::Sample{io::ReadImage(path(i), image), {}};
                           }),
          path, false, true};
}

bool HasFolders(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const bool hidden = entry.path().filename().string().starts_with('.');
    if (!hidden && entry.is_directory(error)) return true;
  }
  return false;
}

// A folder for each class if labels are wanted, else pictures in any folder.
ForwardInput PictureFolder(const std::string& folder, bool labels, const io::GraphInfo& info,
                           const TensorSpec& batch) {
  if (!labels || info.classes.empty() || !HasFolders(folder)) {
    std::vector<std::string> paths = io::ImagesBelow(folder);
    if (paths.empty()) Refuse(folder, ": expected pictures in the folder, got none");
    for (std::string& path : paths) path = (fs::path(folder) / path).string();
    return Pictures(std::move(paths), batch);
  }
  const auto images = io::ImageFolder(folder, {.image = {.color = ColorOf(batch)}});
  // If some classes are missing here, the others get other numbers than in training.
  std::vector<int64_t> numbers;
  for (const std::string& name : images->classes()) {
    const auto found = std::find(info.classes.begin(), info.classes.end(), name);
    if (found == info.classes.end()) {
      Refuse(folder, ": the folder ", name, " is called as no class of the graph (",
             absl::StrJoin(info.classes.begin(),
                           info.classes.begin() +
                               std::min<int64_t>(10, static_cast<int64_t>(info.classes.size())),
                           ", "),
             info.classes.size() > 10 ? ", ..." : "", "); --no-labels takes pictures as they come");
    }
    numbers.push_back(found - info.classes.begin());
  }
  const auto samples = io::Map(images, [numbers](const io::Sample& s) {
    const int64_t number = numbers[static_cast<size_t>(s.target.Item<int64_t>())];
    return io::Sample{s.input, FromVector(std::vector<int64_t>{number}, {})};
  });
  return {samples, [images](int64_t i) { return images->path(i); }, true, true};
}

// --- Tables and other data sets ------------------------------------------------------------------

std::string Number(int64_t i) { return absl::StrCat(i); }

io::CsvColumn ColumnOf(const io::GraphColumn& c) {
  return c.name.empty() ? io::CsvColumn(c.place) : io::CsvColumn(c.name);
}

bool HasColumn(const std::vector<std::string>& names, const io::CsvColumn& c) {
  if (!c.is_named()) return c.place() < static_cast<int64_t>(names.size());
  return std::find(names.begin(), names.end(), c.name()) != names.end();
}

io::CsvWording TableWording() {
  io::CsvWording w;
  w.columns = w.categories = w.one_hot = w.words = "the graph file";
  w.no_number = "the graph was trained with numbers in this column";
  w.missing = "the graph was trained without missing cells, or leaving their rows out";
  w.inexact = "--round takes the nearest number";
  return w;
}

// The columns that the graph was trained with, at any place.
ForwardInput Table(const std::string& path, const ForwardOptions& o, const io::GraphInfo& info) {
  io::CsvOptions read = {.separator = o.separator[0], .skip_lines = o.skip_lines, .round = o.round};
  if (info.missing.has_value()) read.missing = io::CsvMissing::kValue;
  if (!info.missing_words.empty()) read.missing_words = info.missing_words;
  for (const io::GraphColumn& c : info.columns) {
    read.columns.push_back(ColumnOf(c));
    if (c.words.empty()) continue;
    read.categories[ColumnOf(c)] = c.words;
    read.one_hot.push_back(ColumnOf(c));
  }
  bool labelled = o.labels && info.target.has_value() && !info.classes.empty();
  if (labelled) {
    const io::CsvColumn target = ColumnOf(*info.target);
    labelled = HasColumn(ValueOrRaise(io::TryLoadCsvNames(path, read), "csv"), target);
    if (labelled) {
      read.columns.push_back(target);
      read.categories[target] = info.classes;
    }
  }
  const Tensor table = ValueOrRaise(io::TryLoadCsv(path, read, TableWording()), "csv");
  const int64_t features = table.size(1) - (labelled ? 1 : 0);
  Tensor x = Slice(table, 1, 0, features).Clone();
  if (info.missing.has_value() && !std::isnan(*info.missing)) {
    x = MaskedFill(x, Isnan(x), *info.missing);
  }
  return {io::FromTensors(x, labelled ? table.Select(1, features).Clone() : Tensor()), Number,
          labelled};
}

ForwardInput DataSet(const std::string& path, const ForwardOptions& o, bool classes) {
  if (o.y.has_value() && !classes) {
    Refuse("labels are compared with classes, of which the graph file names none (--classes does)");
  }
  DataOptions options = {.format = o.format, .test = o.test, .round = o.round};
  Data data = OpenData(path, options);
  const std::vector<std::string> all = data.rows->variables();
  const std::string y = o.y.value_or("y");
  const bool there = std::find(all.begin(), all.end(), y) != all.end();
  const bool labelled = o.labels && classes && (there || o.y.has_value());
  options.variables = {o.x};
  if (labelled) options.variables.push_back(y);
  // Other variables need not make sense.
  if (all.size() != options.variables.size() || all[0] != o.x) data = OpenData(path, options);
  ForwardInput input{io::Pick(data.rows, {.input = o.x, .target = labelled ? y : ""}), Number,
                     labelled};
  if (there && o.labels && !classes) {
    input.note = absl::StrCat(y, " is not compared with results, of which the graph file says not ",
                              "that they are of classes (--classes names them)");
  }
  return input;
}

ForwardInput Open(const ForwardOptions& o, const io::GraphInfo& info, const TensorSpec& batch) {
  for (const std::string& path : o.data) {
    std::error_code error;
    if (!fs::exists(path, error)) RaiseStatus(NotFound(path, ": there is no such file"), "forward");
  }
  const std::string& path = o.data[0];
  const std::string format = o.format.empty() ? FormatOf(path) : o.format;
  // io::LoadCsv reads longer rows than data sets can, which look up each row.
  const bool text =
      format == "csv" || (format.empty() && (absl::EndsWithIgnoreCase(path, ".csv") ||
                                             absl::EndsWithIgnoreCase(path, ".csv.gz")));
  const bool table = o.data.size() == 1 && text && !info.columns.empty();
  const bool array = o.data.size() == 1 && format.empty() && path.ends_with(".npy");
  const bool pictures = !table && !array && (o.data.size() > 1 || format.empty());
  if (o.y.has_value() && (table || array || pictures || format == "images")) {
    Refuse(path, ": --y is for data sets whose variables have names; labels of folders are their ",
           "names, that of a table is the column that the graph was trained for");
  }
  if (table) return Table(path, o, info);
  if (array) return {io::NpyDataset(path), Number};
  if (pictures) return Pictures(o.data, batch);
  if (format == "images") return PictureFolder(path, o.labels, info, batch);
  return DataSet(path, o, !info.classes.empty());
}

}  // namespace

ForwardInput OpenForwardInput(const ForwardOptions& options, const io::GraphInfo& info,
                              const TensorSpec& batch) {
  ForwardInput input = Open(options, info, batch);
  const size_t classes = input.labelled ? info.classes.size() : 0;
  const auto convert = MakeConversion(info, batch, options.convert);
  const auto where = [name = input.name, in = input.files ? "" : options.data[0] + ": sample "](
                         int64_t i) { return in + name(i); };
  const io::DatasetPtr stored = input.samples;
  input.samples = io::FromFunction(stored->size(), [=](int64_t i) {
    const io::Sample s = stored->Get(i);
    try {
      return io::Sample{convert(s.input), classes == 0 ? Tensor() : ClassOf(s.target, classes)};
    } catch (const Error& e) {
      RaiseStatus(absl::Status(e.code(), absl::StrCat(where(i), ": ", e.what())), "forward");
    }
  });
  return input;
}

}  // namespace firn::cli
