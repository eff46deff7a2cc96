// firn forward: runs a saved graph on pictures, a table or a data set, and writes a line of results
// for each sample. The graph has one size of batches: the last one is filled up with its last
// sample, whose results are dropped.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/status_macros.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/monitors/record_writer.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops.h"
#include "tools/firn/command.h"
#include "tools/firn/data_files.h"
#include "tools/firn/forward_convert.h"
#include "tools/firn/forward_input.h"
#include "tools/firn/forward_output.h"
#include "tools/firn/graph_source.h"

namespace firn::cli {
namespace {

constexpr int64_t kMostNumbers = 1 << 16;  // of a sample, each a column

template <class... What>
[[noreturn]] void Refuse(const What&... what) {
  RaiseStatus(InvalidArgument(what...), "forward");
}

struct Options {
  GraphSource graph;
  std::string output, scale;
  std::vector<double> mean, stddev;
  std::vector<std::string> classes;
  bool numbers = false;
  ForwardOptions input;
};

// --- What the graph takes and gives --------------------------------------------------------------

// "0.5" or "1/255".
double ParseScale(const std::string& text) {
  const size_t slash = text.find('/');
  double above = 0, below = 1;
  const bool number =
      absl::SimpleAtod(text.substr(0, slash), &above) &&
      (slash == std::string::npos || absl::SimpleAtod(text.substr(slash + 1), &below));
  const double scale = above / below;
  if (!number || !std::isfinite(scale) || scale == 0) {
    throw UsageError(absl::StrCat("--scale is ", text, ": expected a number like 0.5 or 1/255"));
  }
  return scale;
}

// The description in the file or, if the command line says something of normalising, that alone.
io::GraphInfo InfoOf(io::GraphInfo info, const Options& o, std::string* from) {
  const bool stored = info.pixel_scale.has_value() || info.scale != 1 || !info.mean.empty();
  *from = stored ? "the graph file" : "";
  if (!o.scale.empty() || !o.mean.empty() || !o.stddev.empty()) {
    *from = "the command line";
    info.scale = 1;
    info.pixel_scale.reset();  // a mean alone does not say whether pixels are divided before
    if (!o.scale.empty()) info.pixel_scale = info.scale = ParseScale(o.scale);
    info.mean = o.mean;
    info.stddev = o.stddev;
    if (info.mean.size() != info.stddev.size()) {
      throw UsageError(absl::StrCat("expected as many numbers for --mean as for --std, got ",
                                    info.mean.size(), " and ", info.stddev.size()));
    }
    for (const double stddev : info.stddev) {
      if (!(stddev > 0)) throw UsageError("expected numbers above 0 for --std");
    }
  }
  if (!o.classes.empty()) {
    const std::set<std::string> different(o.classes.begin(), o.classes.end());
    if (different.size() != o.classes.size()) {
      throw UsageError("expected different names for --classes");
    }
    info.classes = o.classes;
  }
  return info;
}

// The graph's only input; all results have its batch.
TensorSpec InputOf(const Graph& g, const std::string& path) {
  if (g.inputs.size() != 1 || g.outputs.empty()) {
    Refuse(path, ": expected a graph with 1 input, a batch, and results; got ", g.inputs.size(),
           " and ", g.outputs.size(), " (firn infer runs any)");
  }
  const TensorSpec& input = g.value(g.inputs[0]).spec;
  const auto batch = [](const TensorSpec& spec) {
    return spec.shape.rank() < 1 ? 0 : spec.shape[0];
  };
  int64_t numbers = 0;
  for (const ValueId id : g.outputs) {
    const TensorSpec& result = g.value(id).spec;
    if (batch(input) < 1 || batch(result) != batch(input)) {
      Refuse(path, ": expected [batch, ...] as input and results, got ", input.ToString(), " and ",
             result.ToString());
    }
    numbers += result.shape.num_elements() / batch(input);
    if (numbers > kMostNumbers) {
      Refuse(path, ": gives more than ", kMostNumbers, " numbers for a sample, which is no table ",
             "(firn infer writes tensors)");
    }
  }
  return input;
}

// Whether the graph's first result has a number for each class.
bool GivesClasses(const Graph& g, const io::GraphInfo& info, const std::string& path) {
  if (info.classes.empty()) return false;
  const TensorSpec& result = g.value(g.outputs[0]).spec;
  const auto classes = static_cast<int64_t>(info.classes.size());
  if (result.shape.rank() < 2 || result.shape[1] != classes) {
    Refuse(path, ": expected ", classes, " classes as its result, got ", result.ToString());
  }
  return result.shape.rank() == 2;
}

// --- The run -------------------------------------------------------------------------------------

// Names of the numbers that a sample gets: y or y__0, y__1, ...; of several results y0__0 and so
// on.
std::vector<std::string> NumberColumns(const Graph& g) {
  std::vector<std::string> names;
  for (size_t r = 0; r < g.outputs.size(); ++r) {
    const Shape& shape = g.value(g.outputs[r]).spec.shape;
    const std::string name = g.outputs.size() == 1 ? "y" : absl::StrCat("y", r);
    const int64_t n = shape.num_elements() / shape[0];
    for (int64_t i = 0; i < n; ++i) {
      names.push_back(n == 1 ? name : absl::StrCat(name, "__", i));
    }
  }
  return names;
}

// A result's elements, in one of the two.
struct Numbers {
  std::vector<double> real;
  std::vector<int64_t> whole;
};

bool ChangesStates(const Graph& g) {
  const std::vector<bool> changed = ChangedInPlace(g);
  for (size_t b = 0; b < changed.size(); ++b) {
    if (changed[b] && g.buffers[b].kind == Buffer::Kind::kState) return true;
  }
  return false;
}

bool DrawsNumbers(const Graph& g) {
  return std::any_of(g.instrs.begin(), g.instrs.end(),
                     [](const Instr& instr) { return instr.op->random; });
}

class ForwardRun {
 public:
  ForwardRun(const Options& o, Terminal& terminal)
      : o_(o), terminal_(terminal), graph_(LoadGraph(o.graph, &info_)) {
    const Graph& g = graph_.captured();
    spec_ = InputOf(g, o.graph.path);
    info_ = InfoOf(std::move(info_), o, &from_);
    classifies_ = GivesClasses(g, info_, o.graph.path);
    CheckNormalization();
    input_ = OpenForwardInput(o.input, info_, spec_);
    labelled_ = input_.labelled && classifies_;
    columns_ = {"sample"};
    if (labelled_) columns_.emplace_back("label");
    if (classifies_) columns_.insert(columns_.end(), {"class", "probability"});
    if (o.numbers || !classifies_) {
      for (std::string& name : NumberColumns(g)) columns_.push_back(std::move(name));
    }
  }

  int operator()() {
    const int64_t n = input_.samples->size(), batch = spec_.shape[0];
    if (n == 0) Refuse(absl::StrJoin(o_.input.data, ", "), ": there are no samples");
    terminal_.Warn(absl::StrCat("firn: ", NormalizationText(info_),
                                from_.empty() ? ": the graph file says nothing of normalising"
                                              : absl::StrCat(", as ", from_, " says")));
    if (!input_.note.empty()) terminal_.Warn("firn: " + input_.note);
    if (ChangesStates(graph_.captured())) {
      terminal_.Warn(
          "firn: the graph changes its states with every batch, as networks do while they train: "
          "results depend on what else is in a batch (Eval() before it is captured)");
    }
    if (DrawsNumbers(graph_.captured())) {
      terminal_.Warn(
          "firn: the graph draws numbers by chance, as dropout does while a network trains: each "
          "run has other results (Eval() before it is captured)");
    }
    ForwardTable table(o_.output, columns_);
    for (int64_t begin = 0; begin < n; begin += batch) {
      RunBatch(begin, std::min(n, begin + batch), &table);
    }
    nlohmann::json value = {{"samples", n}, {"normalization", NormalizationText(info_)}};
    std::string text = table.Finish(1 + (labelled_ ? 1 : 0) + (classifies_ ? 1 : 0), &value);
    if (!o_.output.empty()) {
      value["output"] = o_.output;
      absl::StrAppend(&text, o_.output, ": ", n, n == 1 ? " sample\n" : " samples\n");
    }
    if (labelled_) {
      const double accuracy = static_cast<double>(right_) / static_cast<double>(n);
      value["accuracy"] = accuracy;
      absl::StrAppend(&text, "accuracy: ", accuracy, " (", right_, " of ", n, ")\n");
    }
    if (nan_ > 0) {
      value["without_class"] = nan_;
      terminal_.Warn(absl::StrCat("firn: ", nan_, " of ", n,
                                  " samples have NaN among their scores and get no class"));
    }
    terminal_.Print(text, value);
    return 0;
  }

 private:
  void CheckNormalization() const {
    if (!IsFloating(spec_.dtype)) {
      if (from_.empty()) return;
      Refuse(o_.graph.path, ": takes ", spec_.ToString(), ", whole numbers, which ", from_,
             " would normalise");
    }
    const auto n = static_cast<int64_t>(info_.mean.size());
    if (n > 1 && (spec_.shape.rank() < 2 || spec_.shape[1] != n)) {
      Refuse("expected a mean and a deviation for each channel, or one, got ", n,
             "; the graph takes ", spec_.ToString());
    }
  }

  void RunBatch(int64_t begin, int64_t end, ForwardTable* table) {
    std::vector<io::Sample> samples;
    std::vector<Tensor> inputs;
    for (int64_t i = begin; i < end; ++i) {
      samples.push_back(input_.samples->Get(i));
      inputs.push_back(samples.back().input);
    }
    while (static_cast<int64_t>(inputs.size()) < spec_.shape[0]) inputs.push_back(inputs.back());
    const TensorList results = graph_.Call({Stack(inputs)});
    std::vector<Numbers> numbers;
    for (const Tensor& r : results) {
      // f64 does not hold all whole numbers.
      Numbers& n = numbers.emplace_back();
      if (IsFloating(r.dtype()) || (classifies_ && numbers.size() == 1)) {
        n.real = r.ToVector<double>();
      } else {
        n.whole = r.ToVector<int64_t>();
      }
    }
    for (int64_t i = begin; i < end; ++i) {
      AddSample(i, static_cast<size_t>(i - begin), samples[static_cast<size_t>(i - begin)].target,
                numbers, table);
    }
  }

  // `at`: in the batch.
  void AddSample(int64_t i, size_t at, const Tensor& label, const std::vector<Numbers>& numbers,
                 ForwardTable* table) {
    std::vector<io::RecordValue> cells = {input_.files ? io::RecordValue(input_.name(i))
                                                       : io::RecordValue(i)};
    if (classifies_) {
      const size_t k = info_.classes.size();
      const BestClass best = BestOf(&numbers[0].real[at * k], k, info_.probabilities);
      const bool known = !std::isnan(best.probability);
      if (!known) ++nan_;
      if (labelled_) {
        const auto want = static_cast<size_t>(label.Item<int64_t>());
        cells.emplace_back(info_.classes[want]);
        if (known && want == best.number) ++right_;
      }
      cells.emplace_back(known ? info_.classes[best.number] : "");
      cells.emplace_back(best.probability);
    }
    if (o_.numbers || !classifies_) {
      const auto batch = static_cast<size_t>(spec_.shape[0]);
      for (const Numbers& all : numbers) {
        const size_t reals = all.real.size() / batch, wholes = all.whole.size() / batch;
        for (size_t j = 0; j < reals; ++j) cells.emplace_back(all.real[at * reals + j]);
        for (size_t j = 0; j < wholes; ++j) cells.emplace_back(all.whole[at * wholes + j]);
      }
    }
    table->Add(cells);
  }

  const Options& o_;
  Terminal& terminal_;
  io::GraphInfo info_;  // set with graph_, whose file gives it
  StaticGraph graph_;
  TensorSpec spec_;
  std::string from_;  // who says how to normalise; "" if nobody does
  bool classifies_ = false, labelled_ = false;
  ForwardInput input_;
  std::vector<std::string> columns_;
  int64_t right_ = 0, nan_ = 0;
};

}  // namespace

FIRN_COMMAND(forward, "Runs a saved graph on images, a table or a data set") {
  auto o = std::make_shared<Options>();
  AddGraphSource(app, o->graph);
  app.add_option("DATA", o->input.data,
                 "images; or a folder of images, or with a folder for each class; or a CSV file, a "
                 "cache, .npz, .h5, .npy, MNIST or CIFAR")
      ->required()
      ->expected(1, CLI::detail::expected_max_vector_size);
  app.add_option("-o,--output", o->output, "the CSV file to write, instead of printing");
  app.add_flag("--numbers", o->numbers,
               "prints all numbers that the graph outputs, also if they are scores of classes");
  app.add_option("--scale", o->scale,
                 "multiplies stored numbers by this, such as 1/255; --scale, --mean and --std "
                 "replace the normalisation that the graph file describes");
  app.add_option("--mean", o->mean,
                 "then subtracts this: one number, or one for each channel (0.5,0.4,0.3)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--std", o->stddev, "then divides by this: one number, or one for each channel")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--classes", o->classes,
                 "the names of the classes, in the order of their scores: a,b")
      ->delimiter(',')
      ->allow_extra_args(false);
  auto* const resize = app.add_flag("--resize", o->input.convert.resize,
                                    "stretches images to the size that the graph takes");
  auto* const crop =
      app.add_option(
             "--crop", o->input.convert.crop,
             "resizes the shorter side of images to this many pixels and cuts out the middle")
          ->check(AtLeast(1))
          ->excludes(resize);
  app.add_flag("--bicubic", o->input.convert.bicubic, "resizes images by bicubic interpolation")
      ->needs(crop);
  app.add_flag("!--no-labels", o->input.labels, "ignores labels in the data");
  app.add_option("--from", o->input.format, "the kind of a data set (default: the path tells it)")
      ->check(CLI::IsMember(DataFormats()));
  app.add_option("--x", o->input.x, "the variable of a data set that is the input (default: x)");
  app.add_option("--y", o->input.y, "the variable of its labels (default: y, if there is one)");
  app.add_flag("--test", o->input.test, "takes the test images of MNIST and CIFAR");
  app.add_option("--separator", o->input.separator,
                 "the separator of the columns of a table (default: a comma)")
      ->check([](const std::string& text) {
        return text.size() == 1 ? "" : "expected one character, got '" + text + "'";
      });
  app.add_option("--skip-lines", o->input.skip_lines,
                 "the number of lines of a table before its heading (default: 0)")
      ->check(AtLeast(0));
  app.add_flag("--round", o->input.round, "rounds whole numbers of CSV that f32 cannot hold");
  app.footer(
      "Numbers are normalised as the graph file describes it; firn train writes that. The class\n"
      "with the largest score is printed with its probability. Examples:\n"
      "  firn forward run/model.firn cat.png dog.png --resize\n"
      "  firn forward run/model.firn test.csv -o results.csv\n"
      "  firn forward resnet50.onnx photos --resize --scale 1/255 --batch 8 -o scores.csv");
  return [o](Terminal& terminal) {
    o->input.convert.any_type = !o->scale.empty();
    std::vector<std::string> read = o->input.data;
    read.push_back(o->graph.path);
    for (const std::string& path : read) {
      std::error_code error;
      if (!std::filesystem::equivalent(path, o->output, error)) continue;
      throw UsageError(absl::StrCat("the output would replace ", path));
    }
    return ForwardRun(*o, terminal)();
  };
}

}  // namespace firn::cli
