// firn infer, firn profile: run a saved graph.

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/dot.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/profile.h"
#include "firn/device/status_macros.h"
#include "firn/io/parameters.h"
#include "firn/tensor/error.h"
#include "firn/tensor/format.h"
#include "firn/tensor/ops.h"
#include "tools/firn/command.h"
#include "tools/firn/files.h"
#include "tools/firn/graph_source.h"

namespace firn::cli {
namespace {

[[noreturn]] void Refuse(const std::string& what) { RaiseStatus(InvalidArgument(what), "input"); }

struct Found {
  Tensor tensor;
  bool picture = false;
};

// "FILE:NAME", a tensor of a file, or "FILE", its only one.
Found FindTensor(const std::string& text) {
  std::error_code error;
  if (std::filesystem::is_regular_file(text, error)) {
    const FileContents file = ReadFileOfTensors(text);
    const StateDict& tensors = file.tensors;
    if (tensors.size() == 1) return {tensors.begin()->second, file.format == "image"};
    Refuse(absl::StrCat(text, " has ", tensors.size(), " tensors: say which by FILE:NAME"));
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    Refuse(absl::StrCat("'", text, "' is no number, not 'random', no file and no FILE:NAME"));
  }
  const std::string path = text.substr(0, colon), name = text.substr(colon + 1);
  const StateDict tensors = ReadTensors(path);
  const Tensor* const t = tensors.Find(name);
  if (t == nullptr) Refuse(absl::StrCat(path, " has no tensor ", name));
  return {*t};
}

// A picture never has the batch of a graph's input.
void RequireShape(const std::string& text, const Found& found, const TensorSpec& spec) {
  if (found.tensor.shape() == spec.shape) return;
  std::string advice = "give FILE:NAME, a tensor of that shape";
  if (found.picture && spec.shape.rank() == 4) {
    advice = absl::StrCat("firn forward GRAPH ", text,
                          " makes a batch of it, with --resize of that"
                          " size and with --scale, --mean and --std as it was for training");
  }
  Refuse(absl::StrCat(text, " is ", found.picture ? "a picture, " : "",
                      found.tensor.spec().ToString(), "; the graph wants ", spec.ToString(), ": ",
                      advice));
}

// Integers and floats have different meanings: a network that was trained with numbers about 0 does
// not expect pixels from 0 to 255. Widths may differ, for integers as far as the values fit.
void RequireSameKind(const std::string& text, const Tensor& t, const TensorSpec& spec) {
  const std::string what =
      absl::StrCat(text, " is ", DTypeName(t.dtype()), ", the graph wants ", DTypeName(spec.dtype));
  if (IsFloating(t.dtype()) != IsFloating(spec.dtype)) {
    Refuse(absl::StrCat(what,
                        ": convert it first, as it was converted for training (pixels are often"
                        " divided by 255), or use firn forward, which goes by the graph file"));
  }
  if (!IsFloating(t.dtype()) &&
      !All(Eq(t.To(spec.dtype).To(DType::kI64), t.To(DType::kI64))).Item<bool>()) {
    Refuse(absl::StrCat(what, ", which does not hold all of its numbers"));
  }
}

// "0.5", "random" or a tensor of a file, as an input of that spec.
Tensor InputFrom(const std::string& text, const TensorSpec& spec) {
  double number = 0;
  if (absl::SimpleAtod(text, &number)) {
    return InNameOf("input", [&] { return Full(spec.shape, number, spec.dtype); });
  }
  if (text == "random") {
    return IsFloating(spec.dtype) ? Randn(spec.shape, spec.dtype) : Zeros(spec.shape, spec.dtype);
  }
  const Found found = FindTensor(text);
  RequireShape(text, found, spec);
  RequireSameKind(text, found.tensor, spec);
  return found.tensor.To(spec.dtype).Detach();
}

// The inputs of the graph, one a line.
std::string Wanted(const StaticGraph& graph) {
  std::string text;
  for (const ValueId id : graph.captured().inputs) {
    absl::StrAppend(&text, "\n  ", graph.captured().value(id).spec.ToString());
  }
  return text;
}

TensorList InputsOf(const StaticGraph& graph, std::vector<std::string> texts) {
  const std::vector<ValueId>& wanted = graph.captured().inputs;
  if (texts.empty()) texts.assign(wanted.size(), "random");
  if (texts.size() != wanted.size()) {
    Refuse(absl::StrCat(texts.size(), " are given, the graph has ", wanted.size(), ":",
                        Wanted(graph)));
  }
  TensorList inputs;
  for (size_t i = 0; i < wanted.size(); ++i) {
    inputs.push_back(InputFrom(texts[i], graph.captured().value(wanted[i]).spec));
  }
  return inputs;
}

struct Options {
  GraphSource graph;
  std::string output;
  std::vector<std::string> inputs;
  int64_t runs = 10;
  bool by_module = false, by_operation = false;
};

void AddGraph(CLI::App& app, Options& o, const std::string& without) {
  AddGraphSource(app, o.graph);
  app.add_option(
         "--input", o.inputs,
         "one for each input of the graph, in order: a number for all elements, `random` (zeros "
         "for integers), or FILE:NAME, a tensor of a file (FILE alone if it has only one);" +
             without)
      ->expected(1, CLI::detail::expected_max_vector_size);
}

}  // namespace

FIRN_COMMAND(infer, "Runs a saved graph and prints its results") {
  auto o = std::make_shared<Options>();
  AddGraph(app, *o, " required if the graph has inputs");
  app.add_option("--output", o->output,
                 "the .h5 file to write the results to; only their shapes are then printed");
  app.footer(
      "Examples:\n"
      "  firn infer net.firn --input batch.h5:images --output scores.h5\n"
      "  firn infer net.onnx --batch 8 --input random");
  return [o](Terminal& terminal) {
    StaticGraph graph = LoadGraph(o->graph);
    if (o->inputs.empty() && !graph.captured().inputs.empty()) {
      Refuse(absl::StrCat("--input is missing; the graph wants (`random` is one):", Wanted(graph)));
    }
    const TensorList results = graph.Call(InputsOf(graph, o->inputs));
    std::string text;
    nlohmann::json value = nlohmann::json::array();
    StateDict written;
    for (size_t i = 0; i < results.size(); ++i) {
      const Tensor& r = results[i];
      const std::string name = absl::StrCat("output.", i);
      const absl::Span<const int64_t> sizes = r.shape().span();
      nlohmann::json j = {{"name", name},
                          {"dtype", DTypeName(r.dtype())},
                          {"shape", std::vector<int64_t>(sizes.begin(), sizes.end())}};
      if (o->output.empty() && IsFloating(r.dtype())) j["elements"] = r.ToVector<double>();
      if (o->output.empty() && !IsFloating(r.dtype())) j["elements"] = r.ToVector<int64_t>();
      value.push_back(std::move(j));
      absl::StrAppend(&text, name, " ", r.spec().ToString(), "\n",
                      o->output.empty() ? Format(r) + "\n" : "");
      written.Insert(name, r);
    }
    if (!o->output.empty()) io::Save(o->output, written);
    terminal.Print(text, {{"outputs", value}});
    return 0;
  };
}

FIRN_COMMAND(profile, "Times the operations of a saved graph") {
  auto o = std::make_shared<Options>();
  AddGraph(app, *o, " default: random");
  app.add_option("--runs", o->runs, "the number of runs (default: 10)")->check(AtLeast(1));
  app.add_flag("--by-module", o->by_module,
               "prints a tree of modules instead of a list of operations");
  app.footer("Example: firn profile net.firn --runs 100");
  return [o](Terminal& terminal) {
    StaticGraph graph = LoadGraph(o->graph);
    const Profile profile = ProfileGraph(graph, InputsOf(graph, o->inputs), o->runs);
    nlohmann::json rows = nlohmann::json::array();
    for (const Profile::Row& r : profile.rows) {
      rows.push_back({{"operation", r.operation},
                      {"path", r.path},
                      {"calls", r.calls},
                      {"seconds", r.seconds},
                      {"median_seconds", r.median_seconds},
                      {"bytes", r.bytes},
                      {"share", r.share}});
    }
    terminal.Print(o->by_module ? profile.ByModule() : profile.ByOperation(),
                   {{"runs", profile.runs},
                    {"median_run_seconds", profile.median_run_seconds},
                    {"rows", rows}});
    return 0;
  };
}

FIRN_COMMAND(draw_graph, "Draws a saved graph") {
  auto o = std::make_shared<Options>();
  AddGraphSource(app, o->graph);
  app.add_option("-o,--output", o->output, "the picture: .svg or .png by GraphViz, or its .dot")
      ->required();
  auto* const by_operation = app.add_flag(
      "--by-operation", o->by_operation,
      "draws a box for each operation, which makes large pictures, instead of one for each module");
  app.add_flag("--by-module", o->by_module, "draws a box for each module, which is the default")
      ->excludes(by_operation);
  app.footer("Example: firn draw-graph net.firn -o net.svg");
  return [o](Terminal& terminal) {
    const io::GraphFile file = ReadGraph(o->graph);
    WriteGraphPicture(file.graph, o->output, {.names = file.states, .modules = !o->by_operation});
    terminal.Print(absl::StrCat(o->output, "\n"), {{"output", o->output}});
    return 0;
  };
}

}  // namespace firn::cli
