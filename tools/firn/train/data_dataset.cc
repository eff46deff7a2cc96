// Data sets of any kind that firn dataset reads and writes: an input and a target of their
// variables, or several of either.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "firn/io/data/dataset.h"
#include "firn/io/data/rows.h"
#include "firn/io/formats/formats.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tools/firn/data_files.h"
#include "tools/firn/train/data_kinds.h"
#include "tools/firn/train/data_prepare.h"

namespace firn::cli {
namespace {

struct Source {
  std::string path;
  DataOptions options;
};

Source ParseSource(const Config& config) {
  Source source = {config.Path(config.RequiredText("path")), {}};
  DataOptions& options = source.options;
  options.format = config.Choice("format", DataFormats(), "");
  options.normalize = config.Flag("normalize", true);
  options.round = config.Flag("round", false);
  options.test = config.Choice("part", {"train", "test"}, "train") == "test";
  return source;
}

// The rows for looking at targets: without the inputs if that saves reading them.
io::DatasetPtr RowsOf(const Source& source, const Data& opened,
                      const std::vector<std::string>& targets) {
  if (opened.format != "csv" && opened.format != "nnabla-cache") return opened.rows;
  DataOptions only = source.options;
  only.variables = targets;
  return OpenData(source.path, only).rows;
}

// Whether inputs that were read from 0 to 1 are pixels from 0 to 255 in their files.
bool AreBytes(const Source& source, const std::string& input) {
  DataOptions options = source.options;
  options.normalize = false;
  options.variables = {input};
  const io::DatasetPtr rows = OpenData(source.path, options).rows;
  return rows->size() > 0 && rows->Get(0)[input].dtype() == DType::kU8;
}

DataSource ParsePair(const Config& config, Source source) {
  io::PickOptions pick;
  pick.input = config.Text("input", pick.input);
  pick.target = config.Text("target", pick.target);
  if (pick.input == pick.target)
    config.Refuse("target", "expected another variable than the input");
  source.options.variables = {pick.input, pick.target};
  const ArrayTask task = ParseArrayTask(config, "classes");
  return {[=] {
            const Data opened = OpenData(source.path, source.options);
            const io::DatasetPtr targets = RowsOf(source, opened, {pick.target});
            TrainingData data = PrepareArrays(
                io::Pick(opened.rows, pick),
                [&](int64_t i) { return targets->Get(i)[pick.target]; }, task, source.path);
            data.file_rows = opened.file_rows;
            const io::Format* const file = io::FindFormat(opened.format);
            const bool pictures = file == nullptr || file->holds != io::FileHolds::kTensors;
            if (source.options.normalize && pictures && !data.info.pixel_scale.has_value() &&
                AreBytes(source, pick.input)) {
              data.info.pixel_scale = task.scale / 255;
            }
            return data;
          },
          true};
}

// Several inputs or targets, by the names of their variables.
struct Variables {
  std::vector<std::string> inputs, targets, tasks, all;
};

Variables ParseVariables(const Config& config) {
  for (const char* key : {"input", "target", "task", "scale"}) {
    if (config.Has(key)) {
      config.Refuse(key, "goes with one input and one target, without \"inputs\" and \"targets\"");
    }
  }
  Variables v = {config.Texts("inputs", {"x"}), config.Texts("targets", {"y"}), {}, {}};
  v.tasks = config.Texts("tasks", std::vector<std::string>(v.targets.size(), "classes"));
  if (v.inputs.empty()) config.Refuse("inputs", "expected one or more");
  if (v.targets.empty()) config.Refuse("targets", "expected one or more");
  if (v.tasks.size() != v.targets.size()) {
    config.Refuse("tasks", absl::StrCat("expected one for each of ", v.targets.size(), " targets"));
  }
  for (const std::string& task : v.tasks) {
    if (task != "classes" && task != "numbers") {
      config.Refuse("tasks", absl::StrCat("expected classes or numbers, got ", task));
    }
  }
  v.all = v.inputs;
  v.all.insert(v.all.end(), v.targets.begin(), v.targets.end());
  absl::flat_hash_set<std::string> seen;
  for (const std::string& name : v.all) {
    if (!seen.insert(name).second) {
      config.Refuse("targets", absl::StrCat("expected each variable once, got ", name, " twice"));
    }
  }
  return v;
}

TrainingData PrepareSeveral(const Source& source, const Variables& v) {
  const Data opened = OpenData(source.path, source.options);
  TrainingData data{.samples = opened.rows, .inputs = static_cast<int64_t>(v.inputs.size())};
  data.targets.resize(v.targets.size());
  data.file_rows = opened.file_rows;
  const int64_t samples = opened.rows->size();
  if (samples == 0) return data;
  const io::DatasetPtr rows = RowsOf(source, opened, v.targets);
  for (size_t k = 0; k < v.targets.size(); ++k) {
    data.targets[k] = LookAtTargets(
        samples, [&](int64_t i) { return rows->Get(i)[v.targets[k]]; }, v.tasks[k],
        absl::StrCat(source.path, ": ", v.targets[k]));
  }
  data.outputs = data.targets[0].outputs;
  data.classes = data.targets[0].classes;
  data.places = data.targets[0].places;
  const auto names = std::make_shared<const std::vector<std::string>>(v.all);
  const auto number = v.inputs.size();
  data.samples = io::Map(opened.rows, [names, number, targets = data.targets](io::Sample row) {
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < names->size(); ++i) {
      const Tensor t = row[(*names)[i]];
      const bool input = i < number;
      tensors.push_back(!input          ? PreparedTarget(t, targets[i - number].classes)
                        : t.rank() == 0 ? t.Reshape({1})
                                        : t);
    }
    return io::Sample::Named(names, std::move(tensors));
  });
  return data;
}

}  // namespace

DataSource ParseDataset(const Config& config) {
  Source source = ParseSource(config);
  if (!config.Has("inputs") && !config.Has("targets")) return ParsePair(config, source);
  const Variables v = ParseVariables(config);
  source.options.variables = v.all;
  return {.read = [=] { return PrepareSeveral(source, v); },
          .decodes = true,
          .several = static_cast<int64_t>(v.targets.size())};
}

}  // namespace firn::cli
