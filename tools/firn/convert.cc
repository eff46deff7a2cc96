// firn convert: weights from one format of files to another, all of them or none; and graphs, those
// of Firn and networks of other frameworks, to each other.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/io/formats/formats.h"
#include "firn/io/graph/graph_file_contents.h"
#include "firn/io/graph/save.h"
#include "firn/io/parameters.h"
#include "firn/tensor/error.h"
#include "tools/firn/command.h"
#include "tools/firn/graph_source.h"

namespace firn::cli {
namespace {

struct Options {
  GraphSource from;
  std::string to;
  bool weights = false, widen = false, force = false, any_batch = false;
};

[[noreturn]] void Refuse(const absl::Status& status) { RaiseStatus(status, "convert"); }

// The format that reads the file; a graph counts only if the rest of it may be left out.
const io::Format& FormatToRead(const Options& o) {
  const io::Format* const format = io::FormatOfFile(o.from.path);
  if (format == nullptr || !format->read_tensors) {
    io::Load(o.from.path);  // its error says why
    Refuse(InvalidArgument(o.from.path, ": expected a file of weights"));
  }
  if (format->holds == io::FileHolds::kGraph && !o.weights) {
    const io::Format* const to = io::FormatOfName(o.to);
    if (to == nullptr ? std::filesystem::path(o.to).has_extension() : !to->write_tensors) {
      Refuse(InvalidArgument(
          o.from.path, " holds a graph, and '", o.to, "' ",
          to == nullptr ? "is of no known format"
                        : absl::StrCat("is of the format ", to->name, ", which is not written"),
          " (want ", io::GraphSuffixesText(), ")"));
    }
    Refuse(InvalidArgument(o.from.path,
                           " holds a graph, which files of weights do not (--weights takes "
                           "its weights alone, and ",
                           io::GraphSuffixesText(), " hold it)"));
  }
  return *format;
}

// Refuses elements of types that the target does not have; with --widen makes them wider.
void CheckTypes(const Options& o, const StateDict& state) {
  const io::Format* format = io::FormatOfName(o.to);
  if (format == nullptr || o.widen) return;
  std::vector<std::string> names;
  std::string dtype;
  for (const auto& [name, tensor] : state) {
    if (std::count(format->widened.begin(), format->widened.end(), tensor.dtype()) == 0) continue;
    dtype = DTypeName(tensor.dtype());
    names.push_back(name);
  }
  if (names.empty()) return;
  const size_t shown = std::min<size_t>(names.size(), 3);
  const std::string more =
      names.size() > shown ? absl::StrCat(" and ", names.size() - shown, " more") : "";
  names.resize(shown);
  Refuse(InvalidArgument(o.to, ": ", absl::StrJoin(names, ", "), more, ": expected a type that ",
                         format->name, " has, got ", dtype, " (--widen writes a wider one)"));
}

bool HoldsGraph(const std::string& path) {
  const io::Format* const format = io::FormatOfFile(path);
  return IsNetworkFile(path) || (format != nullptr && format->holds == io::FileHolds::kGraph);
}

// A network becomes a graph for one size of inputs; the batch may be left open.
int ConvertGraph(Terminal& terminal, const Options& o, const io::Format& to) {
  if (o.any_batch && !to.any_batch) {
    throw UsageError(absl::StrCat("--any-batch: a file of ", to.name, " has one size of batches"));
  }
  const io::GraphFile file = ReadGraph(o.from);
  const std::vector<std::string> warnings = io::Save(
      o.to, file.graph, {.names = file.states, .info = file.info, .any_batch = o.any_batch});
  const size_t operations = file.graph.instrs.size();
  std::string text =
      absl::StrCat(o.to, ": ", operations, " operations, ", file.states.size(), " parameters\n");
  for (const std::string& warning : warnings) absl::StrAppend(&text, "warning: ", warning, "\n");
  terminal.Print(text, {{"output", o.to},
                        {"operations", operations},
                        {"tensors", file.states.size()},
                        {"warnings", warnings}});
  return 0;
}

int Convert(Terminal& terminal, const Options& o) {
  io::RefuseForeign(o.from.path, "convert");
  std::error_code error;
  if (std::filesystem::equivalent(o.from.path, o.to, error)) {
    throw UsageError(absl::StrCat(o.from.path, " is what is to be written"));
  }
  if (!o.force && std::filesystem::exists(o.to, error)) {
    Refuse(FailedPrecondition(o.to, ": expected no file, got one (--force replaces it)"));
  }
  const io::Format* const of_graphs = io::GraphFormatOfName(o.to);
  if (of_graphs != nullptr && !o.weights && HoldsGraph(o.from.path)) {
    return ConvertGraph(terminal, o, *of_graphs);
  }
  if (o.any_batch) throw UsageError("--any-batch is for graphs");
  const io::Format& from = FormatToRead(o);
  const StateDict state = from.read_tensors(o.from.path, {});
  CheckTypes(o, state);
  io::Save(o.to, state);
  terminal.Print(absl::StrCat(o.to, ": ", state.size(), " tensors of ", from.name, "\n"),
                 {{"output", o.to}, {"tensors", state.size()}, {"from", from.name}});
  return 0;
}

}  // namespace

FIRN_COMMAND(convert, "Writes weights, or a graph, in another format") {
  auto o = std::make_shared<Options>();
  app.add_option("IN", o->from.path, "a file of tensors, or a graph; its contents tell the format")
      ->required();
  app.add_option("OUT", o->to, "the file to write; its suffix tells the format (none: safetensors)")
      ->required();
  AddGraphSizes(app, o->from);
  app.add_flag(
      "--any-batch", o->any_batch,
      "leaves the batch size open in OUT; needs a --batch that differs from all other sizes");
  app.add_flag("--weights", o->weights, "writes only the weights of a graph");
  app.add_flag("--widen", o->widen,
               "converts elements to a wider type if OUT does not have theirs");
  app.add_flag("--force", o->force, "replaces OUT if it exists");
  app.footer(
      "Names and types stay as they are; if OUT cannot hold them, nothing is written. Examples:\n"
      "  firn convert model.pt model.safetensors\n"
      "  firn convert net.h5 net.npz\n"
      "  firn convert net.firn net.pt --weights\n"
      "  firn convert net.onnx net.firn --batch 8\n"
      "  firn convert net.onnx net.nnp --batch 3 --any-batch\n"
      "  firn convert net.firn net.onnx");
  return [o](Terminal& terminal) { return Convert(terminal, *o); };
}

}  // namespace firn::cli
