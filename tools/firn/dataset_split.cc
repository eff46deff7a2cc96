// firn dataset split: parts of a data set, as CSV files beside it or as caches.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/atomic_file.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/line_index.h"
#include "firn/io/nnabla/nnabla_cache.h"
#include "firn/io/random_access.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/error.h"
#include "tools/firn/command.h"
#include "tools/firn/data_files.h"

namespace firn::cli {
namespace {

namespace fs = std::filesystem;
using inner::internal::AtomicFile;
using io::LineIndex;
using io::RandomAccess;
using io::ValueOrRaise;

struct Options {
  std::string source;
  std::vector<std::string> outputs;
  std::vector<double> ratios;
  DataOptions data;
  uint64_t seed = 0;
  bool in_order = false, replace = false;
};

[[noreturn]] void Refuse(const absl::Status& status) { RaiseStatus(status, "dataset split"); }

// The output of each row. A part without rows is an error.
std::vector<size_t> PartsOf(int64_t n, const Options& o) {
  const std::vector<int64_t> ends = PartEnds(n, o.ratios);
  for (size_t part = 0; part < ends.size(); ++part) {
    if (ends[part] > (part == 0 ? 0 : ends[part - 1])) continue;
    Refuse(InvalidArgument("expected rows for each output, got none of ", n, " for ",
                           o.outputs[part], ", whose ratio is ", o.ratios[part]));
  }
  std::vector<int64_t> order = o.in_order ? std::vector<int64_t>() : ShuffledNumbers(n, o.seed);
  std::vector<size_t> parts(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    const int64_t row = o.in_order ? k : order[static_cast<size_t>(k)];
    parts[static_cast<size_t>(row)] =
        static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), k) - ends.begin());
  }
  return parts;
}

absl::StatusOr<LineIndex> LinesOf(const std::string& path) {
  FIRN_ASSIGN_OR_RETURN(auto file, RandomAccess::Open(path));
  return LineIndex::Make(std::move(file), ',', io::LoadLimits().max_metadata_bytes);
}

// Copies lines unchanged, so their paths must stay right. Lines are those that CsvRows counts.
void SplitCsv(const Options& o, const std::vector<size_t>& parts) {
  std::vector<AtomicFile> files;
  for (const std::string& path : o.outputs) {
    if (fs::weakly_canonical(fs::path(path).parent_path() / ".") !=
        fs::weakly_canonical(fs::path(o.source).parent_path() / ".")) {
      Refuse(InvalidArgument(path, ": expected a file in the folder of ", o.source,
                             ", from where its paths start"));
    }
    absl::StatusOr<AtomicFile> file = AtomicFile::Create(path);
    if (!file.ok()) Refuse(file.status());
    files.push_back(*std::move(file));
  }
  absl::StatusOr<LineIndex> lines = LinesOf(o.source);
  RaiseIfError(lines.status(), "dataset split");
  if (lines->size() != static_cast<int64_t>(parts.size()) + 1) {
    Refuse(DataLoss(o.source, ": has changed while it was read"));
  }
  // The last line may lack a line end, and gets one.
  const auto line = [&](int64_t i) {
    std::string text = ValueOrRaise(lines->GetWhole(i), "dataset split");
    return text + (text.ends_with('\n') || text.ends_with('\r') ? "" : "\n");
  };
  const auto write = [](AtomicFile& file, const std::string& text) {
    RaiseIfError(file.Write(text.data(), text.size()), "dataset split");
  };
  for (AtomicFile& file : files) write(file, line(0));
  for (size_t i = 0; i < parts.size(); ++i) {
    write(files[parts[i]], line(static_cast<int64_t>(i) + 1));
  }
  for (AtomicFile& file : files) RaiseIfError(file.Commit(), "dataset split");
}

void SplitIntoCaches(const Options& o, const io::DatasetPtr& rows,
                     const std::vector<size_t>& parts) {
  for (size_t part = 0; part < o.outputs.size(); ++part) {
    std::vector<int64_t> numbers;
    for (size_t row = 0; row < parts.size(); ++row) {
      if (parts[row] == part) numbers.push_back(static_cast<int64_t>(row));
    }
    io::WriteNnablaCache(o.outputs[part], io::Subset(rows, std::move(numbers)),
                         {.threads = NumThreads(), .replace = o.replace});
  }
}

int Split(Terminal& terminal, const Options& o) {
  if (o.outputs.size() != o.ratios.size()) {
    throw UsageError(absl::StrCat("expected an output for each of ", o.ratios.size(),
                                  " ratios, got ", o.outputs.size()));
  }
  std::error_code error;
  const bool csv = o.outputs[0].ends_with(".csv");
  for (const std::string& path : o.outputs) {
    if (std::count(o.outputs.begin(), o.outputs.end(), path) > 1) {
      throw UsageError(absl::StrCat("two outputs are called ", path));
    }
    if (path.ends_with(".csv") != csv) {
      throw UsageError("the outputs are neither all .csv files nor all folders");
    }
    if (!o.replace && fs::exists(path, error)) {
      Refuse(FailedPrecondition(path, ": expected nothing there (--force replaces it)"));
    }
    if (IsOrHolds(path, o.source)) {
      Refuse(InvalidArgument(path, " is, or holds, the source"));
    }
  }
  const Data data = OpenData(o.source, o.data);
  if (csv && data.format != "csv") {
    Refuse(InvalidArgument(o.source,
                           ": only CSV is split into CSV; name folders, for caches, or "
                           "convert it first"));
  }
  const std::vector<size_t> parts = PartsOf(data.rows->size(), o);
  if (csv) {
    SplitCsv(o, parts);
  } else {
    SplitIntoCaches(o, data.rows, parts);
  }
  nlohmann::json value = nlohmann::json::array();
  std::string text;
  for (size_t part = 0; part < o.outputs.size(); ++part) {
    const auto rows = std::count(parts.begin(), parts.end(), part);
    value.push_back({{"output", o.outputs[part]}, {"rows", rows}});
    absl::StrAppend(&text, o.outputs[part], ": ", rows, " rows\n");
  }
  terminal.Print(text, value);
  return 0;
}

}  // namespace

FIRN_SUBCOMMAND(dataset, split, "Splits a data set at random, for example for validation") {
  auto o = std::make_shared<Options>();
  app.add_option("DATA", o->source, "a CSV file, a cache, MNIST, CIFAR, ...")->required();
  app.add_option(
         "-o,--output", o->outputs,
         "a path for each part: .csv files in the folder of a CSV file, or folders for caches")
      ->required();
  app.add_option("--ratio", o->ratios, "the relative sizes of the parts, such as 80,20")
      ->required()
      ->delimiter(',');
  app.add_option("--seed", o->seed, "the seed of the choice (default: 0)");
  app.add_flag("--in-order", o->in_order,
               "puts the first rows into the first part, and so on, instead of choosing at random");
  app.add_option("--from", o->data.format, "the kind of DATA (default: the path tells it)")
      ->check(CLI::IsMember(DataFormats()));
  app.add_flag("--force", o->replace, "replaces outputs that exist");
  app.footer(
      "Rows keep their order in each part. Examples:\n"
      "  firn dataset split all.csv --ratio 80,20 --seed 1 -o train.csv validation.csv\n"
      "  firn dataset split cache --ratio 8,1,1 -o train validation test");
  return [o](Terminal& terminal) { return Split(terminal, *o); };
}

}  // namespace firn::cli
