#include "tools/firn/data_files.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/cifar.h"
#include "firn/io/data/csv_rows_status.h"
#include "firn/io/data/image_folder.h"
#include "firn/io/data/mnist.h"
#include "firn/io/data/permutation.h"
#include "firn/io/data/rows.h"
#include "firn/io/formats/formats.h"
#include "firn/io/nnabla/nnabla_cache.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn::cli {
namespace {

namespace fs = std::filesystem;

void CheckVariables(const std::string& path, const std::vector<std::string>& all,
                    const std::vector<std::string>& wanted) {
  for (const std::string& name : wanted) {
    if (std::count(all.begin(), all.end(), name) > 0) continue;
    RaiseStatus(
        NotFound(path, ": expected a variable called ", name, ", got ", absl::StrJoin(all, ", ")),
        "dataset");
  }
}

// A data set of a file's arrays, whose rows belong together.
io::DatasetPtr ArrayRows(const std::string& path, const StateDict& arrays,
                         const std::vector<std::string>& wanted) {
  std::vector<std::string> all;
  io::NamedTensors rows;
  for (const auto& [name, array] : arrays) {
    all.push_back(name);
    if (!wanted.empty() && std::count(wanted.begin(), wanted.end(), name) == 0) continue;
    if (array.rank() == 0 || array.size(0) != (rows.empty() ? array : rows[0].second).size(0)) {
      RaiseStatus(DataLoss(path, ": expected arrays of as many rows each, got ", name, " of shape ",
                           array.shape().ToString()),
                  "dataset");
    }
    rows.emplace_back(name, array);
  }
  if (arrays.empty()) RaiseStatus(DataLoss(path, ": expected arrays, got none"), "dataset");
  CheckVariables(path, all, wanted);
  return io::FromTensors(rows);
}

// Pictures of data sets that give them as f32 from 0 to 1.
io::DatasetPtr NamePictures(const io::DatasetPtr& dataset, bool normalize) {
  if (normalize) return io::NameSamples(dataset);
  return io::NameSamples(io::Map(dataset, [](io::Sample s) {
    return io::Sample{Round(s.input * 255).To(DType::kU8), s.target};
  }));
}

bool AnyOf(const std::string& folder, std::initializer_list<const char*> names) {
  std::error_code error;
  return std::any_of(names.begin(), names.end(), [&](const char* name) {
    return fs::exists(absl::StrCat(folder, "/", name), error) ||
           fs::exists(absl::StrCat(folder, "/", name, ".gz"), error);
  });
}
bool IsFile(const std::string& path, std::initializer_list<const char*> ends) {
  std::error_code error;
  return fs::is_regular_file(path, error) &&
         std::any_of(ends.begin(), ends.end(),
                     [&](const char* end) { return path.ends_with(end); });
}

struct Format {
  const char* name;
  bool (*recognises)(const std::string& path);
  io::DatasetPtr (*open)(const std::string& path, const DataOptions& options);
};

io::DatasetPtr OpenImages(const std::string& path, const DataOptions& options) {
  io::ImageFolderOptions folder;
  if (options.normalize) {
    folder.transform = [](const Tensor& image) { return image.To(DType::kF32) / 255; };
  }
  return io::NameSamples(io::ImageFolder(path, folder));
}

io::DatasetPtr OpenCsv(const std::string& path, const DataOptions& o) {
  absl::StatusOr<io::DatasetPtr> rows = io::TryCsvRows(
      path,
      {.variables = o.variables,
       .dtype = o.f64 ? DType::kF64 : DType::kF32,
       .round = o.round,
       .normalize = o.normalize},
      {.missing = "the kind \"csv\" of firn train fills missing cells",
       .inexact = "--f64 has more digits; \"round\": true, of firn train, takes the nearest number",
       .outside = "files stay in there"});
  RaiseIfError(rows.status(), "csv_rows");
  return *std::move(rows);
}

// Files of named arrays, of any format that has a suffix.
bool HoldsArrays(const io::Format& format) {
  return format.holds == io::FileHolds::kTensors && format.read_tensors &&
         !format.suffixes.empty() && !format.read_array;
}
std::string NameOf(const io::Format& format) { return absl::AsciiStrToLower(format.name); }

// Null if there is no such file.
const io::Format* ArraysOf(const std::string& path) {
  std::error_code error;
  const io::Format* const format = io::FormatOfName(path);
  const bool one = format != nullptr && HoldsArrays(*format) && io::EndsAsWritten(path, *format);
  return one && fs::is_regular_file(path, error) ? format : nullptr;
}

// The last one takes any folder.
constexpr Format kFormats[] = {
    {"csv", [](const std::string& path) { return IsFile(path, {".csv"}); }, OpenCsv},
    {"nnabla-cache", [](const std::string& path) { return AnyOf(path, {"cache_index.csv"}); },
     [](const std::string& path, const DataOptions& o) -> io::DatasetPtr {
       return io::OpenNnablaCache(path, {.variables = o.variables, .normalize = o.normalize});
     }},
    {"mnist",
     [](const std::string& path) {
       return AnyOf(path, {"train-images-idx3-ubyte", "t10k-images-idx3-ubyte"});
     },
     [](const std::string& path, const DataOptions& o) {
       return NamePictures(io::Mnist(path, {.train = !o.test}), o.normalize);
     }},
    {"cifar10",
     [](const std::string& path) {
       return AnyOf(path, {"data_batch_1.bin", "test_batch.bin"});
     },
     [](const std::string& path, const DataOptions& o) {
       return NamePictures(io::Cifar10(path, {.train = !o.test}), o.normalize);
     }},
    {"cifar100",
     [](const std::string& path) {
       return AnyOf(path, {"train.bin", "test.bin"});
     },
     [](const std::string& path, const DataOptions& o) {
       return NamePictures(io::Cifar100(path, {.train = !o.test}), o.normalize);
     }},
    {"images",
     [](const std::string& path) {
       std::error_code error;
       return fs::is_directory(path, error);
     },
     OpenImages},
};

}  // namespace

std::string FormatOf(const std::string& path) {
  for (const Format& format : kFormats) {
    if (format.recognises(path)) return format.name;
  }
  const io::Format* const arrays = ArraysOf(path);
  return arrays == nullptr ? "" : NameOf(*arrays);
}

Data OpenData(const std::string& path, const DataOptions& options) {
  const std::string name = options.format.empty() ? FormatOf(path) : options.format;
  for (const Format& format : kFormats) {
    if (name == format.name) {
      Data data{format.name, format.open(path, options)};
      CheckVariables(path, data.rows->variables(), options.variables);
      const auto* cache = dynamic_cast<const io::NnablaCache*>(data.rows.get());
      const bool whole_files = cache != nullptr && !AnyOf(path, {"cache_info.csv"});
      if (whole_files) data.file_rows = cache->file_rows();
      return data;
    }
  }
  const io::Format* const arrays = io::FindFormat(name);
  if (arrays != nullptr && HoldsArrays(*arrays)) {
    const StateDict all = arrays->read_tensors(path, {});
    return {name, ArrayRows(path, all, options.variables)};
  }
  RaiseStatus(NotFound(path, ": expected a data set (", absl::StrJoin(DataFormats(), ", "), ")"),
              "dataset");
}

bool IsOrHolds(const std::string& destination, const std::string& source) {
  std::error_code error;
  return fs::equivalent(source, destination, error) ||
         fs::equivalent(fs::path(source).parent_path() / ".", destination, error);
}

std::vector<std::string> DataFormats() {
  std::vector<std::string> names = {kFormats[0].name};
  for (const io::Format* format : io::Formats()) {
    if (HoldsArrays(*format)) names.push_back(NameOf(*format));
  }
  for (const Format& format : kFormats) {
    if (&format != kFormats) names.emplace_back(format.name);
  }
  return names;
}

void WriteOfMany(const std::string& path, const std::string& bytes) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (out) return;
  fs::remove(path, error);  // half of it
  RaiseStatus(ResourceExhausted(path, ": cannot be written"), "dataset");
}

std::vector<int64_t> ShuffledNumbers(int64_t n, uint64_t seed) {
  return io::Permutation(n, seed, 0);
}

std::vector<int64_t> PartEnds(int64_t n, const std::vector<double>& ratios) {
  for (const double ratio : ratios) {
    if (!(ratio > 0) || !std::isfinite(ratio)) {
      RaiseStatus(InvalidArgument("a ratio is ", ratio, " (want a positive number)"), "dataset");
    }
  }
  const double all = std::accumulate(ratios.begin(), ratios.end(), 0.0);
  if (!std::isfinite(all)) RaiseStatus(InvalidArgument("the ratios add up to inf"), "dataset");
  std::vector<int64_t> ends;
  double so_far = 0;
  for (const double ratio : ratios) {
    so_far += ratio;
    // The sum of the ratios may be rounded down (0.8 + 0.2): no row is lost by that.
    ends.push_back(
        static_cast<int64_t>(std::floor(static_cast<double>(n) * (so_far / all) + 1e-6)));
  }
  ends.back() = n;
  return ends;
}

}  // namespace firn::cli
