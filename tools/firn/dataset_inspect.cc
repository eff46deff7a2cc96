// firn dataset inspect: describes the rows of a data set.

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "firn/device/text_table.h"
#include "firn/io/progress/progress.h"
#include "tools/firn/command.h"
#include "tools/firn/data_files.h"
#include "tools/firn/statistics.h"

namespace firn::cli {
namespace {

constexpr size_t kMostClasses = 100;

// One variable, over all rows.
class Variable {
 public:
  void Add(const Tensor& t) {
    if (!shape_) {
      shape_ = t.shape();
      dtype_ = t.dtype();
    }
    if (t.shape() != *shape_ || t.dtype() != dtype_) varies_ = true;
    statistics_.Add(t);
    if (t.num_elements() == 1 && t.shape() == *shape_ && classes_) {
      const double v = t.Item<double>();
      if (v >= 0 && v < 1e9 && v == std::floor(v)) ++(*classes_)[static_cast<int64_t>(v)];
      if (!(v >= 0 && v < 1e9 && v == std::floor(v)) || classes_->size() > kMostClasses) {
        classes_.reset();
      }
    } else {
      classes_.reset();
    }
  }

  nlohmann::json Json(const std::string& name) const {
    nlohmann::json j = {{"name", name}};
    if (shape_) {
      const absl::Span<const int64_t> sizes = shape_->span();
      j.update({{"dtype", DTypeName(dtype_)},
                {"shape", std::vector<int64_t>(sizes.begin(), sizes.end())},
                {"varies", varies_}});
      statistics_.AddTo(&j);
      if (classes_) {
        nlohmann::json counts = nlohmann::json::object();
        for (const auto& [label, count] : *classes_) counts[absl::StrCat(label)] = count;
        j["counts"] = counts;
      }
    }
    return j;
  }

  std::vector<std::string> Line(const std::string& name) const {
    std::vector<std::string> line = {
        name, shape_ ? DTypeName(dtype_) : "-",
        shape_ ? absl::StrCat(shape_->ToString(), varies_ ? " and others" : "") : "-"};
    statistics_.AddTo(&line);
    return line;
  }

  std::string CountsText(const std::string& name) const {
    if (!shape_ || !classes_) return "";
    std::string text = absl::StrCat(name, ":");
    for (const auto& [label, count] : *classes_) absl::StrAppend(&text, " ", label, " x", count);
    return text + "\n";
  }

 private:
  std::optional<Shape> shape_;  // of the first row
  DType dtype_ = DType::kF32;
  bool varies_ = false;
  Statistics statistics_;
  // How often each number occurs, as long as every row is one whole number.
  std::optional<std::map<int64_t, int64_t>> classes_ = std::map<int64_t, int64_t>();
};

struct Options {
  std::string path;
  DataOptions data;
  int64_t rows = 0;
};

int Inspect(Terminal& terminal, const Options& o) {
  const Data data = OpenData(o.path, o.data);
  const int64_t n = o.rows > 0 ? std::min(o.rows, data.rows->size()) : data.rows->size();
  const std::vector<std::string> names = data.rows->variables();
  std::vector<Variable> variables(names.size());
  io::ProgressMeter meter(n, {.label = "rows", .out = &terminal.err});
  for (int64_t i = 0; i < n; ++i) {
    const io::Sample row = data.rows->Get(i);
    for (size_t v = 0; v < variables.size(); ++v) variables[v].Add(row[v]);
    meter.Step();
  }
  nlohmann::json value = {{"format", data.format},
                          {"rows", data.rows->size()},
                          {"read", n},
                          {"variables", nlohmann::json::array()}};
  std::vector<std::vector<std::string>> lines = {
      {"name", "dtype", "shape", "min", "max", "mean", "std", ""}};
  std::string counts;
  for (size_t v = 0; v < variables.size(); ++v) {
    value["variables"].push_back(variables[v].Json(names[v]));
    lines.push_back(variables[v].Line(names[v]));
    absl::StrAppend(&counts, variables[v].CountsText(names[v]));
  }
  const std::string read = n < data.rows->size() ? absl::StrCat(", ", n, " read") : "";
  terminal.Print(absl::StrCat(data.format, ", ", data.rows->size(), " rows", read, "\n",
                              inner::internal::AlignedText(lines, 3), counts),
                 value);
  return 0;
}

}  // namespace

FIRN_SUBCOMMAND(dataset, inspect, "Shows what a data set holds, with statistics") {
  auto o = std::make_shared<Options>();
  app.add_option("DATA", o->path, "a CSV file, a cache, a folder of images, MNIST, CIFAR, ...")
      ->required();
  app.add_option("--from", o->data.format, "the kind of DATA (default: the path tells it)")
      ->check(CLI::IsMember(DataFormats()));
  app.add_option("--rows", o->rows, "reads only this many rows, from the first on");
  app.add_flag("--normalize", o->data.normalize, "converts images to numbers from 0 to 1");
  app.add_flag("--f64", o->data.f64, "reads numbers of CSV as f64, not f32");
  app.add_flag("--test", o->data.test, "takes the test images of MNIST and CIFAR");
  app.footer("Examples:\n  firn dataset inspect train.csv\n  firn dataset inspect --json cache/");
  return [o](Terminal& terminal) { return Inspect(terminal, *o); };
}

}  // namespace firn::cli
