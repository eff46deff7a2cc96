// firn convert: weights from one format of files to another, all of them or none.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/io/formats/formats.h"
#include "firn/io/parameters.h"
#include "firn/tensor/error.h"
#include "tools/firn/command.h"

namespace firn::cli {
namespace {

struct Options {
  std::string from, to;
  bool weights = false, widen = false, force = false;
};

[[noreturn]] void Refuse(const absl::Status& status) { RaiseStatus(status, "convert"); }

// What reads it; a graph only where the rest of it may stay behind.
const io::Format& FormatToRead(const Options& o) {
  const io::Format* const format = io::FormatOfFile(o.from);
  if (format == nullptr || !format->read_tensors) {
    io::Load(o.from);  // which says why not
    Refuse(InvalidArgument(o.from, ": expected a file of weights"));
  }
  if (format->holds == io::FileHolds::kGraph && !o.weights) {
    Refuse(InvalidArgument(o.from,
                           " holds a graph, which files of weights do not (--weights takes "
                           "its weights alone)"));
  }
  return *format;
}

// Elements of types that the target does not have; with --widen it makes wider ones of them.
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

int Convert(Terminal& terminal, const Options& o) {
  std::error_code error;
  if (std::filesystem::equivalent(o.from, o.to, error)) {
    throw UsageError(absl::StrCat(o.from, " is what is to be written"));
  }
  if (!o.force && std::filesystem::exists(o.to, error)) {
    Refuse(FailedPrecondition(o.to, ": expected no file, got one (--force replaces it)"));
  }
  const io::Format& from = FormatToRead(o);
  const StateDict state = from.read_tensors(o.from, {});
  CheckTypes(o, state);
  io::Save(o.to, state);
  terminal.Print(absl::StrCat(o.to, ": ", state.size(), " tensors of ", from.name, "\n"),
                 {{"output", o.to}, {"tensors", state.size()}, {"from", from.name}});
  return 0;
}

}  // namespace

FIRN_COMMAND(convert, "Writes the weights of a file as a file of another format") {
  auto o = std::make_shared<Options>();
  app.add_option("IN", o->from, "a file of tensors; what it holds tells the format")->required();
  app.add_option("OUT", o->to, "its suffix tells the format; .safetensors where it has none")
      ->required();
  app.add_flag("--weights", o->weights, "of a graph the weights alone");
  app.add_flag("--widen", o->widen, "elements of types that OUT does not have become wider ones");
  app.add_flag("--force", o->force, "replace what is there");
  app.footer(
      "Names and types stay as they are, or nothing is written. Examples:\n"
      "  firn convert model.pt model.safetensors\n"
      "  firn convert net.h5 net.npz\n"
      "  firn convert net.firn net.pt --weights");
  return [o](Terminal& terminal) { return Convert(terminal, *o); };
}

}  // namespace firn::cli
