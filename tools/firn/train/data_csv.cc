// The columns of a table in memory. The target is the last column that is read; inputs that are
// words have become several columns by then. Missing cells of inputs are NaN until they are filled;
// one of the target is an error.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/csv.h"
#include "firn/io/csv/csv_cells.h"
#include "firn/io/csv/csv_status.h"
#include "firn/io/data/dataset.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tools/firn/train/data_kinds.h"

namespace firn::cli {
namespace {

using io::CsvColumn;
using io::ValueOrRaise;
using nlohmann::json;

// Words are classes without being asked for if there are only so few different ones.
constexpr size_t kFewClasses = 20;

io::CsvWording Wording() {
  io::CsvWording w;
  w.columns = "the key \"inputs\" or \"target\"";
  w.categories = w.one_hot = "the key \"one_hot\"";
  w.words = "the configuration";
  w.no_number =
      "\"one_hot\" reads words of inputs, \"task\": \"classes\" those of the target, \"inputs\" "
      "leaves columns out, \"heading\": true a first line of names";
  w.missing =
      "\"missing\" says what missing cells become: \"drop\", \"mean\" or a number; "
      "\"missing_words\" which cells are";
  w.inexact = "\"round\": true takes the nearest number";
  return w;
}

CsvColumn ColumnOf(const Config& config, const std::string& key, const json& value) {
  if (value.is_string()) return CsvColumn(value.get<std::string>());
  const bool is_place = value.is_number_integer() && value >= 0 && value <= 1 << 20;
  if (!is_place) {
    config.Refuse(key, absl::StrCat("expected a column, by its number from 0 or by its name, got ",
                                    value.dump()));
  }
  return CsvColumn(value.get<int64_t>());
}

std::vector<CsvColumn> ColumnsOf(const Config& config, const char* key) {
  std::vector<CsvColumn> columns;
  if (!config.Has(key)) return columns;
  const json& list = config.value()[key];
  if (!list.is_array()) config.Refuse(key, "expected a list of columns");
  for (const json& value : list) {
    columns.push_back(ColumnOf(config, absl::StrCat(key, "[", columns.size(), "]"), value));
  }
  return columns;
}

std::string NameOf(const CsvColumn& c) {
  return c.is_named() ? inner::internal::JsonString(c.name()) : absl::StrCat(c.place());
}

// The values of the keys.
struct Table {
  std::string file;
  CsvColumn target = 0;
  bool classes = true;
  std::vector<CsvColumn> inputs = {}, one_hot = {};
  std::optional<double> fill = {};  // missing cells of inputs
  bool standardize = false, fill_mean = false;
  int64_t most_classes = 0;  // 0: not said
  io::CsvOptions options = {};
};

void ParseMissing(const Config& config, Table* t) {
  if (!config.Has("missing")) return;
  const json& missing = config.value()["missing"];
  if (missing.is_number()) {
    t->fill = missing.get<double>();
    if (!io::MissingValue("csv", *t->fill, DType::kF32, t->options.round).ok()) {
      config.Refuse("missing",
                    absl::StrCat("expected ", io::WantedOf(DType::kF32), ", got ", missing.dump()));
    }
  } else {
    const std::string what = config.Choice("missing", {"error", "drop", "mean"}, "error");
    if (what == "drop") t->options.missing = io::CsvMissing::kDropRow;
    t->fill_mean = what == "mean";
    if (t->fill_mean && !t->standardize) {
      config.Refuse("missing",
                    "the mean is one of those that \"standardize\": true keeps with the "
                    "network: expected it beside this");
    }
  }
  if (t->fill || t->fill_mean) t->options.missing = io::CsvMissing::kValue;
}

Table ParseTable(const Config& config) {
  Table t;
  t.file = config.Path(config.RequiredText("file"));
  if (!config.Has("target")) config.RequiredInteger("target", 0, 1 << 20);
  t.target = ColumnOf(config, "target", config.value()["target"]);
  t.classes = config.Choice("task", {"classes", "numbers"}, "classes") == "classes";
  t.options.skip_lines = config.Integer("skip_lines", 0, 0);
  const std::string separator = config.Text("separator", ",");
  if (separator.size() != 1) config.Refuse("separator", "expected one character");
  t.options.separator = separator[0];
  t.inputs = ColumnsOf(config, "inputs");
  t.one_hot = ColumnsOf(config, "one_hot");
  t.options.heading = config.Flag("heading", false) || t.target.is_named();
  for (const auto* columns : {&t.inputs, &t.one_hot}) {
    for (const CsvColumn& c : *columns) t.options.heading = t.options.heading || c.is_named();
  }
  t.options.round = config.Flag("round", false);
  t.standardize = config.Flag("standardize", false);
  t.most_classes = config.Integer("most_classes", 0, 0);
  t.options.missing_words = config.Texts("missing_words", t.options.missing_words);
  // In graph files no words mean the usual ones.
  if (t.options.missing_words.empty()) {
    config.Refuse("missing_words", "expected a list of at least one text, \"\" for empty cells");
  }
  ParseMissing(config, &t);
  if (std::count(t.inputs.begin(), t.inputs.end(), t.target) > 0) {
    config.Refuse("inputs", "the target is one of them");
  }
  return t;
}

// Measured numbers, such as prices, are no classes, though each is a word.
void CheckClasses(const Config& config, const Table& t, const std::vector<std::string>& words,
                  int64_t rows) {
  const auto n = static_cast<int64_t>(words.size());
  const std::string found = absl::StrCat(t.file, ": column ", NameOf(t.target), " has ", n,
                                         " different words in ", rows, " rows");
  if (t.most_classes > 0) {
    if (n > t.most_classes) config.Refuse("most_classes", found);
    return;
  }
  const bool fraction = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    double number = 0;
    return io::ParseCell(word, true, &number) == io::CellError::kNone &&
           std::trunc(number) != number;
  });
  if (words.size() <= kFewClasses || (!fraction && n <= rows / 2)) return;
  config.Refuse("task", absl::StrCat(found,
                                     ", which are hardly classes: expected \"numbers\", or "
                                     "\"most_classes\": ",
                                     n, " beside \"classes\""));
}

// The columns of a table to read, by their places and without those that are the target's.
std::vector<CsvColumn> InputsOf(const Table& t) {
  const std::vector<std::string> names =
      ValueOrRaise(io::TryLoadCsvNames(t.file, t.options), "csv");
  const auto place = [&](const CsvColumn& c) {
    if (!c.is_named()) return c.place();
    return static_cast<int64_t>(std::find(names.begin(), names.end(), c.name()) - names.begin());
  };
  const int64_t target = place(t.target);
  std::vector<CsvColumn> inputs = t.inputs;
  for (size_t c = 0; c < names.size() && t.inputs.empty(); ++c) inputs.emplace_back(c);
  // Names that the table does not have share a place behind its columns; reading it says so.
  const bool there = target < static_cast<int64_t>(names.size());
  std::erase_if(inputs, [&](const CsvColumn& c) { return there && place(c) == target; });
  if (inputs.empty() || (!t.inputs.empty() && inputs.size() != t.inputs.size())) {
    RaiseStatus(
        InvalidArgument(t.file, ": expected columns beside the target, got ",
                        inputs.empty() ? "none" : "the target by its place and by its name"),
        "data");
  }
  return inputs;
}

// Columns of a table, which keep their order.
Tensor Columns(const Tensor& table, int64_t from, int64_t to) {
  std::vector<int64_t> columns;
  for (int64_t c = from; c < to; ++c) columns.push_back(c);
  return IndexSelect(table, 1, FromVector(columns));
}

// Describes the table for users who have only the graph: columns by name if the heading tells them
// apart.
io::GraphInfo InfoOf(const Table& t, const io::CsvOptions& read) {
  std::vector<std::string> heading;
  if (t.options.heading) heading = ValueOrRaise(io::TryLoadCsvNames(t.file, t.options), "csv");
  std::map<std::string, std::vector<int64_t>> places;
  for (size_t i = 0; i < heading.size(); ++i) {
    places[heading[i]].push_back(static_cast<int64_t>(i));
  }
  const auto place = [&](const CsvColumn& c) {
    return c.is_named() ? places.at(c.name()).front() : c.place();
  };
  std::map<int64_t, const std::vector<std::string>*> words;
  for (const CsvColumn& c : read.one_hot) words[place(c)] = &read.categories.at(c);

  io::GraphInfo info;
  for (const CsvColumn& c : read.columns) {
    io::GraphColumn& column = info.columns.emplace_back();
    column.place = place(c);
    if (const auto found = words.find(column.place); found != words.end()) {
      column.words = *found->second;
    }
    if (heading.empty()) continue;
    const std::string& name = heading[static_cast<size_t>(column.place)];
    if (!name.empty() && places[name].size() == 1) column.name = name;
  }
  info.target = info.columns.back();  // as in ReadTable
  info.columns.pop_back();
  if (t.fill || t.fill_mean) info.missing = t.fill.value_or(std::nan(""));
  if (t.options.missing_words != io::CsvOptions().missing_words) {
    info.missing_words = t.options.missing_words;
  }
  return info;
}

TrainingData ReadTable(const Config& config, const Table& t) {
  const io::CsvWording wording = Wording();
  const auto words = [&](const CsvColumn& c) {
    return ValueOrRaise(io::TryLoadCsvWords(t.file, c, t.options, wording), "csv");
  };
  TrainingData data{.samples = nullptr};
  io::CsvOptions read = t.options;
  read.columns = InputsOf(t);
  read.columns.push_back(t.target);
  if (t.classes) data.names = read.categories[t.target] = words(t.target);
  for (const CsvColumn& c : t.one_hot) {
    read.one_hot.push_back(c);
    data.input_words.emplace_back(NameOf(c), read.categories[c] = words(c));
  }
  const Tensor table = ValueOrRaise(io::TryLoadCsv(t.file, read, wording), "csv");
  const int64_t at = table.size(1) - 1;
  const Tensor y = Columns(table, at, at + 1);
  if (Any(Isnan(y)).Item<bool>()) {
    RaiseStatus(DataLoss(t.file, ": column ", NameOf(t.target),
                         ": a cell of the target is missing, which only \"missing\": \"drop\" "
                         "leaves out"),
                "data");
  }
  if (t.classes) CheckClasses(config, t, data.names, table.size(0));
  Tensor x = Columns(table, 0, at);
  if (t.fill) x = MaskedFill(x, Isnan(x), *t.fill);
  data.classes = t.classes;
  data.outputs = t.classes ? static_cast<int64_t>(data.names.size()) : 1;
  data.samples = io::FromTensors(x, t.classes ? y.To(DType::kI64).Reshape({-1}) : y);
  data.standardize = t.standardize;
  data.fill_missing = t.fill_mean;
  data.info = InfoOf(t, read);
  return data;
}

}  // namespace

DataSource ParseCsv(const Config& config) {
  return {[config, table = ParseTable(config)] { return ReadTable(config, table); }};
}

}  // namespace firn::cli
