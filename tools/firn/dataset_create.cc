// firn dataset create: makes a CSV data set from a folder of images with a folder for each class,
// like NNabla's create_image_classification_dataset. Images become .png files of one size.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/atomic_file.h"
#include "firn/device/escape.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/image_folder.h"
#include "firn/io/data/transforms/crop.h"
#include "firn/io/data/transforms/resize.h"
#include "firn/io/image/image.h"
#include "firn/io/progress/progress.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"
#include "tools/firn/command.h"
#include "tools/firn/data_files.h"

namespace firn::cli {
namespace {

namespace fs = std::filesystem;
using inner::internal::PortablePath;

struct Options {
  std::string images, output;
  int64_t width = 0, height = 0;
  int channels = 3;
  std::string mode = "trimming";
  bool shuffle = false, skip_damaged = false, skip_unread = false, replace = false;
  uint64_t seed = 0;
  double validation = 0;  // percent
  std::string train_file = "train.csv", validation_file = "validation.csv";
};

[[noreturn]] void Refuse(const absl::Status& status) { RaiseStatus(status, "dataset create"); }

// The path of image i below the output folder: its own path, ending in .png, as tables can name it.
// If two paths differ only in their endings, the second keeps its own ending, too.
std::vector<std::string> OutputNames(const io::ImageFolderDataset& images, const Options& o) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (int64_t i = 0; i < images.size(); ++i) {
    const std::string inside = images.path(i).substr(o.images.size() + 1);
    std::string name = PortablePath(fs::path(inside).replace_extension(".png").string());
    for (int k = 1; !taken.insert(name).second; ++k) {
      name = absl::StrCat(PortablePath(inside), k == 1 ? "" : absl::StrCat("_", k), ".png");
    }
    names.push_back(std::move(name));
  }
  return names;
}

// `n` in the proportion numerator / denominator, from 1 to `most`.
int64_t Scaled(int64_t n, int64_t numerator, int64_t denominator, int64_t most) {
  const double exact =
      static_cast<double>(n) * static_cast<double>(numerator) / static_cast<double>(denominator);
  return static_cast<int64_t>(std::clamp(std::round(exact), 1.0, static_cast<double>(most)));
}

// The image in the size asked for. If its proportions differ, the rest is cut off or black, or the
// image is stretched. Black comes after resizing: a line of pixels never becomes a large square.
Tensor Fitted(Tensor image, const Options& o) {
  const int64_t h = image.size(1), w = image.size(2);
  int64_t height = o.height, width = o.width;
  if (o.mode == "trimming") {
    image = io::CenterCrop(
        {.height = Scaled(w, height, width, h), .width = Scaled(h, width, height, w)})(image);
  } else if (o.mode == "padding") {
    height = Scaled(h, o.width, w, o.height);
    width = Scaled(w, o.height, h, o.width);
  }
  image = io::Resize({.height = height, .width = width})(image);
  const int64_t above = (o.height - height) / 2, left = (o.width - width) / 2;
  return Pad(image, {left, o.width - width - left, above, o.height - height - above});
}

// Writes the images on threads. Returns which of them were written.
std::vector<bool> WriteImages(Terminal& terminal, const Options& o,
                              const std::shared_ptr<const io::ImageFolderDataset>& images,
                              const std::vector<std::string>& names) {
  const io::DatasetPtr written = io::Prefetch(
      io::FromFunction(images->size(),
                       [&](int64_t i) {
                         const Tensor image = images->Get(i).input;
                         WriteOfMany(absl::StrCat(o.output, "/", names[static_cast<size_t>(i)]),
                                     io::EncodePng(Fitted(image, o)));
                         return io::Sample();
                       }),
      {.threads = NumThreads(), .ahead = 2 * int64_t{NumThreads()}});
  io::ProgressMeter meter(images->size(),
                          {.label = "images", .out = &terminal.err, .log_lines = 10});
  std::vector<bool> there(static_cast<size_t>(images->size()), true);
  for (int64_t i = 0; i < images->size(); ++i) {
    try {
      written->Get(i);
    } catch (const Error& e) {
      if (!o.skip_damaged || e.code() == absl::StatusCode::kResourceExhausted) throw;
      terminal.Warn(absl::StrCat("left out: ", e.what()));
      there[static_cast<size_t>(i)] = false;
    }
    meter.Step();
  }
  return there;
}

void WriteTable(const std::string& path, const std::vector<std::string>& lines) {
  std::string text = "x:image,y:label\n";
  for (const std::string& line : lines) text += line;
  RaiseIfError(inner::internal::ReplaceFile(path, text), "dataset create");
}

// Throws unless everything can be written.
void CheckPlaces(const Options& o, const std::string& train, const std::string& validation,
                 const std::vector<std::string>& names) {
  std::error_code error;
  if (fs::equivalent(o.images, o.output, error)) {
    throw UsageError("the images and the output are in one folder");
  }
  if (train == validation) throw UsageError("the two tables are one file");
  std::vector<std::string> paths = {train};
  if (o.validation > 0) paths.push_back(validation);
  for (const std::string& name : names) paths.push_back(absl::StrCat(o.output, "/", name));
  for (const std::string& path : paths) {
    if (!o.replace && fs::exists(path, error)) {
      Refuse(FailedPrecondition(path, ": expected nothing there (--force replaces it)"));
    }
  }
}

int Create(Terminal& terminal, Options o) {
  while (o.images.size() > 1 && o.images.ends_with('/')) o.images.pop_back();
  const std::string train = absl::StrCat(o.output, "/", o.train_file);
  const std::string validation = absl::StrCat(o.output, "/", o.validation_file);
  const auto images = io::ImageFolder(
      o.images, {.image = {.color = o.channels == 1 ? io::ImageColor::kGrey : io::ImageColor::kRgb},
                 .skip_unread = o.skip_unread});
  const std::vector<std::string> names = OutputNames(*images, o);
  CheckPlaces(o, train, validation, names);
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < images->size(); ++i) labels.push_back(images->label(i));
  const std::vector<bool> there = WriteImages(terminal, o, images, names);

  std::vector<std::string> lines;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!there[i]) continue;
    lines.push_back(absl::StrCat(inner::internal::CsvField(names[i]), ",", labels[i], "\n"));
  }
  if (o.shuffle) {
    std::vector<std::string> shuffled;
    for (const int64_t i : ShuffledNumbers(static_cast<int64_t>(lines.size()), o.seed)) {
      shuffled.push_back(lines[static_cast<size_t>(i)]);
    }
    lines = std::move(shuffled);
  }
  // Rounded as by NNabla: down for the first part.
  const auto n = static_cast<int64_t>(lines.size());
  const auto cut =
      lines.begin() + (o.validation > 0 ? PartEnds(n, {100 - o.validation, o.validation})[0] : n);
  WriteTable(train, {lines.begin(), cut});
  if (o.validation > 0) WriteTable(validation, {cut, lines.end()});
  nlohmann::json value = {{"train", train},
                          {"train_rows", cut - lines.begin()},
                          {"validation_rows", lines.end() - cut},
                          {"left_out", images->size() - n},
                          {"classes", images->classes()}};
  std::string text = absl::StrCat(train, ": ", cut - lines.begin(), " rows\n");
  if (o.validation > 0) {
    value["validation"] = validation;
    absl::StrAppend(&text, validation, ": ", lines.end() - cut, " rows\n");
  }
  for (size_t k = 0; k < images->classes().size(); ++k) {
    absl::StrAppend(&text, k, " ", images->classes()[k], "\n");
  }
  terminal.Print(text, value);
  return 0;
}

}  // namespace

FIRN_SUBCOMMAND(dataset, create,
                "Makes a CSV data set from a folder that has a folder of images for each class") {
  auto o = std::make_shared<Options>();
  app.add_option("IMAGES", o->images, "the folder with a folder for each class")->required();
  app.add_option("OUTPUT", o->output, "a folder for the tables and the images")->required();
  app.add_option("--width", o->width, "the width of all images written, in pixels")
      ->required()
      ->check(CLI::Range(1, 65535));
  app.add_option("--height", o->height, "the height of all images written, in pixels")
      ->required()
      ->check(CLI::Range(1, 65535));
  app.add_option("--channels", o->channels, "3 for colours, 1 for grey (default: 3)")
      ->check(CLI::IsMember({1, 3}));
  app.add_option("--mode", o->mode,
                 "what happens to images of other proportions: trimming, padding (with black) or "
                 "stretch (default: trimming)")
      ->check(CLI::IsMember({"trimming", "padding", "stretch"}));
  app.add_flag("--shuffle", o->shuffle,
               "writes the rows in a random order; without it they are ordered by class");
  app.add_option("--seed", o->seed, "the seed of that order (default: 0)");
  app.add_option("--validation", o->validation,
                 "the percentage of the rows that go to the second table (default: 0)")
      ->check(CLI::Range(0.0, 99.9));
  app.add_option("--train-file", o->train_file, "the name of the first table (default: train.csv)");
  app.add_option("--validation-file", o->validation_file,
                 "the name of the second table (default: validation.csv)");
  app.add_flag("--skip-damaged", o->skip_damaged, "leaves out images that cannot be read");
  app.add_flag(
      "--skip-unread", o->skip_unread,
      "leaves out images of formats that Firn does not read; without it they are an error");
  app.add_flag("--force", o->replace, "replaces files that exist");
  app.footer(
      "The columns are x:image and y:label, the number of the class. Example:\n"
      "  firn dataset create photos data --width 64 --height 64 --shuffle --validation 20");
  return [o](Terminal& terminal) { return Create(terminal, *o); };
}

}  // namespace firn::cli
