// Prints what registries say, for tools/scripts/reference_pages.py: a line for each thing, its kind
// first and tabs between its parts. Layers and optimizers are followed by lines of their options,
// commands by lines of their arguments.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "firn/device/enum_words.h"
#include "firn/io/formats/formats.h"
#include "firn/nn/make_layer.h"
#include "firn/optim/registry.h"
#include "firn/tensor/attrs.h"
#include "tools/firn/command.h"

namespace firn::testing {
namespace {

// Line feeds of the parts become 0x1f.
void Line(std::vector<std::string> parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    std::replace(parts[i].begin(), parts[i].end(), '\t', ' ');
    std::replace(parts[i].begin(), parts[i].end(), '\n', '\x1f');
    std::cout << (i == 0 ? "" : "\t") << parts[i];
  }
  std::cout << "\n";
}

void ListLayers() {
  for (const std::string& name : nn::LayerNames()) {
    Line({"layer", name});
    for (const nn::OptionText& o : nn::LayerOptions(name)) {
      const char* const by_itself = o.deferred ? "the first input tells"
                                    : o.tensor ? "undefined"
                                               : "";
      Line({"option", o.name, *by_itself != 0 ? by_itself : o.value});
    }
  }
}

// Prints the fields that it sees.
class OptionLines final : public inner::AttrVisitor {
 public:
  using AttrVisitor::Field;
  void Field(const char* name, int64_t& value) override { Put(name, std::to_string(value)); }
  void Field(const char* name, double& value) override {
    std::ostringstream text;
    text << value;
    Put(name, text.str());
  }
  void Field(const char* name, bool& value) override { Put(name, value ? "true" : "false"); }
  void Field(const char* name, std::string& value) override { Put(name, value); }
  void Field(const char* name, std::vector<int64_t>& value) override {
    std::string list;
    for (const int64_t x : value) list += (list.empty() ? "" : ", ") + std::to_string(x);
    Put(name, "{" + list + "}");
  }

 private:
  void Enumerator(const char* name, int64_t& value, const inner::WordList& words) override {
    Put(name, words.WordFor(value));
  }
  static void Put(const char* name, const std::string& value) { Line({"option", name, value}); }
};

void ListOptimizers() {
  for (const std::string& name : optim::OptimizerNames()) {
    Line({"optimizer", name});
    OptionLines lines;
    optim::ConfigureOptimizer(name, lines);
  }
}

std::string Joined(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

void ListFormats() {
  for (const io::Format* f : io::Formats()) {
    std::vector<std::string> reads, writes;
    if (f->read_tensors) reads.push_back("tensors");
    if (f->read_array) reads.push_back("one tensor");
    if (f->read_network) reads.push_back("a network");
    if (f->write_tensors) writes.push_back("tensors");
    if (f->write_graph) writes.push_back("a graph");
    std::vector<std::string> written = f->suffixes;
    for (const std::string& suffix : f->graph_suffixes) {
      if (std::find(written.begin(), written.end(), suffix) == written.end()) {
        written.push_back(suffix);
      }
    }
    Line({"format", f->name, io::FileHoldsName(f->holds), Joined(written), Joined(f->read_suffixes),
          Joined(reads), Joined(writes), f->instead});
  }
}

// `firn` adds this option to every command, so the pages of commands leave it out.
constexpr char kJson[] = "print one JSON value, for programs";

void ListArguments(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames() == std::vector<std::string>{"help"}) continue;
    if (option->get_description() == kJson) continue;
    const bool flag = option->get_items_expected_max() == 0;
    Line({"argument", option->get_name(true, true), flag ? "" : option->get_type_name(),
          option->get_default_str(), option->get_required() ? "required" : "",
          option->get_description()});
  }
}

void ListCommands() {
  for (const cli::Command& command : cli::Commands()) {
    if (command.declare == nullptr) {
      Line({"group", command.name, command.summary});
      continue;
    }
    CLI::App app(command.summary, command.name);
    bool json = false;  // as RunCommandLine adds it, before a command declares its own
    app.add_flag("--json", json, kJson);
    const cli::Run run = command.declare(app);
    Line({"command", command.name, command.summary, app.get_footer()});
    ListArguments(app);
  }
}

}  // namespace
}  // namespace firn::testing

int main() {
  firn::testing::ListLayers();
  firn::testing::ListOptimizers();
  firn::testing::ListFormats();
  firn::testing::ListCommands();
}
