// firn dataset convert: makes NNabla's caches and CSV data sets from every data set that Firn
// reads.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/io/nnabla/nnabla_cache.h"
#include "firn/io/progress/progress.h"
#include "firn/tensor/error.h"
#include "tools/firn/command.h"
#include "tools/firn/data_files.h"

namespace firn::cli {
namespace {

struct Options {
  std::string source, destination, to;
  DataOptions data;
  bool shuffle = false, replace = false;
  uint64_t seed = 0;
};

// NNabla has labels as vectors of one element.
class AsVectors final : public io::Dataset {
 public:
  explicit AsVectors(io::DatasetPtr rows) : rows_(std::move(rows)) {}
  int64_t size() const override { return rows_->size(); }
  std::vector<std::string> variables() const override { return rows_->variables(); }
  io::Sample Get(int64_t i) const override {
    io::Sample row = rows_->Get(i);
    for (Tensor& t : row) {
      if (t.rank() == 0) t = t.Reshape({1});
    }
    return row;
  }

 private:
  const io::DatasetPtr rows_;
};

void WriteCache(const Options& o, const Data& data, io::ProgressMeter& meter) {
  int64_t written = 0;
  io::WriteNnablaCache(
      o.destination, std::make_shared<AsVectors>(data.rows),
      {.format = o.to == "h5" ? io::NnablaCacheFormat::kHdf5 : io::NnablaCacheFormat::kNpy,
       .shuffle = o.shuffle,
       .seed = o.seed,
       .threads = NumThreads(),
       .original = data.format == "csv" ? o.source : "",
       .replace = o.replace,
       .progress = [&](int64_t rows) {
         for (; written < rows; ++written) meter.Step();
       }});
}

int Convert(Terminal& terminal, Options o) {
  if (o.to.empty()) o.to = o.destination.ends_with(".csv") ? "csv" : "npy";
  // The check comes first, since replaced files would be gone before they are read.
  if (IsOrHolds(o.destination, o.source)) {
    throw UsageError(absl::StrCat(o.source, " is, or lies in, what is to be written"));
  }
  std::error_code error;
  if (o.to == "csv" && !o.replace && std::filesystem::exists(o.destination, error)) {
    RaiseStatus(
        FailedPrecondition(o.destination, ": expected no file, got one (--force replaces it)"),
        "dataset");
  }
  const Data data = OpenData(o.source, o.data);
  const int64_t n = data.rows->size();
  io::ProgressMeter meter(n, {.label = "rows", .out = &terminal.err, .log_lines = 10});
  if (o.to == "csv") {
    const io::DatasetPtr rows =
        o.shuffle ? io::Subset(data.rows, ShuffledNumbers(n, o.seed)) : data.rows;
    WriteCsvData(o.destination, *rows, [&](int64_t) { meter.Step(); });
  } else {
    WriteCache(o, data, meter);
  }
  terminal.Print(absl::StrCat(o.destination, ": ", n, " rows of ", data.format, "\n"),
                 {{"output", o.destination}, {"rows", n}, {"from", data.format}, {"to", o.to}});
  return 0;
}

}  // namespace

FIRN_SUBCOMMAND(dataset, convert, "Writes a data set as one of NNabla's caches, or as CSV") {
  auto o = std::make_shared<Options>();
  app.add_option("SOURCE", o->source, "a CSV file, a cache, MNIST, CIFAR, a folder of images, ...")
      ->required();
  app.add_option("DESTINATION", o->destination, "a folder for a cache, or a .csv file")->required();
  app.add_option("--from", o->data.format, "the kind of SOURCE (default: the path tells it)")
      ->check(CLI::IsMember(DataFormats()));
  app.add_option("--to", o->to,
                 "npy or h5 for the files of a cache, or csv (default: csv if DESTINATION ends in "
                 ".csv, else npy)")
      ->check(CLI::IsMember({"npy", "h5", "csv"}));
  app.add_flag("--shuffle", o->shuffle, "writes the rows in a random order");
  app.add_option("--seed", o->seed, "the seed of that order (default: 0)");
  app.add_flag("--normalize", o->data.normalize, "writes images as f32 from 0 to 1, not as bytes");
  app.add_flag("--f64", o->data.f64, "reads numbers of CSV as f64, not f32");
  app.add_flag("--test", o->data.test, "takes the test images of MNIST and CIFAR");
  app.add_flag("--force", o->replace, "replaces DESTINATION if it exists");
  app.footer(
      "Readers of a cache convert bytes to numbers from 0 to 1. Examples:\n"
      "  firn dataset convert train.csv cache --shuffle --seed 1\n"
      "  firn dataset convert cache again.csv\n"
      "  firn dataset convert mnist/ mnist_cache --to h5");
  return [o](Terminal& terminal) { return Convert(terminal, *o); };
}

}  // namespace firn::cli
