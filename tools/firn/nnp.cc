// firn nnp info, firn nnp unpack: NNabla's model files. What runs graphs runs them, too.
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/device/text_table.h"
#include "firn/io/nnabla_model/nnabla_file.h"
#include "firn/io/parameters.h"
#include "firn/tensor/error.h"
#include "tools/firn/command.h"

namespace firn::cli {
namespace {

namespace nnabla = io::nnabla;
using inner::internal::AlignedText;
using inner::internal::GroupedDigits;
using Lines = std::vector<std::vector<std::string>>;

// "x [-1, 3, 32, 32]": a variable as its network has it.
std::string VariableText(const nnabla::Model& model, const std::string& network,
                         const std::string& name) {
  for (const nnabla::Network& n : model.networks) {
    if (n.name != network) continue;
    for (const nnabla::Variable& v : n.variables) {
      if (v.name == name) return absl::StrCat(name, " [", absl::StrJoin(v.shape, ", "), "]");
    }
  }
  return name;
}

void AddNetworks(const nnabla::Model& model, Lines* lines, nlohmann::json* value) {
  nlohmann::json& all = (*value)["networks"] = nlohmann::json::array();
  for (const nnabla::Network& network : model.networks) {
    std::map<std::string, int64_t> counts;
    for (const nnabla::Function& f : network.functions) ++counts[f.type];
    all.push_back({{"name", network.name},
                   {"batch_size", network.batch_size},
                   {"variables", network.variables.size()},
                   {"functions", counts}});
    lines->push_back({"network " + network.name,
                      absl::StrCat("batch ", network.batch_size, ", ", network.functions.size(),
                                   " functions, ", network.variables.size(), " variables")});
    for (const auto& [type, count] : counts) lines->push_back({"  " + type, absl::StrCat(count)});
  }
}

void AddExecutors(const nnabla::Model& model, Lines* lines, nlohmann::json* value) {
  nlohmann::json& all = (*value)["executors"] = nlohmann::json::array();
  for (const nnabla::Executor& executor : model.executors) {
    nlohmann::json one = {{"name", executor.name}, {"network", executor.network_name}};
    lines->push_back({"executor " + executor.name, "of network " + executor.network_name});
    for (const auto& v : executor.data_variable) {
      const std::string text = VariableText(model, executor.network_name, v.variable_name);
      one["inputs"].push_back(text);
      lines->push_back({"  input", text});
    }
    for (const auto& v : executor.output_variable) {
      const std::string text = VariableText(model, executor.network_name, v.variable_name);
      one["outputs"].push_back(text);
      lines->push_back({"  output", text});
    }
    all.push_back(std::move(one));
  }
}

// What a network is trained by.
void AddTraining(const nnabla::Model& model, Lines* lines, nlohmann::json* value) {
  for (const nnabla::Optimizer& o : model.optimizers) {
    const std::string solver = o.solver.has_value() ? o.solver->type : "no solver";
    (*value)["optimizers"].push_back(
        {{"name", o.name}, {"network", o.network_name}, {"solver", solver}});
    lines->push_back(
        {"optimizer " + o.name, absl::StrCat(solver, " of network ", o.network_name, ", data of ",
                                             absl::StrJoin(o.dataset_name, ", "))});
  }
  for (const nnabla::Dataset& d : model.datasets) {
    (*value)["datasets"].push_back({{"name", d.name}, {"uri", d.uri}});
    lines->push_back({"data set " + d.name, d.uri});
  }
}

int Info(Terminal& terminal, const std::string& path) {
  const nnabla::Model model = io::LoadNnabla(path);
  int64_t elements = 0;
  for (const auto& [name, tensor] : model.parameters) elements += tensor.num_elements();
  nlohmann::json value = {
      {"version", model.version}, {"parameters", model.parameters.size()}, {"elements", elements}};
  Lines lines = {{"NNabla", model.version.empty() ? "version not said" : model.version},
                 {"parameters", absl::StrCat(model.parameters.size(), " tensors, ",
                                             GroupedDigits(elements), " elements")}};
  AddNetworks(model, &lines, &value);
  AddExecutors(model, &lines, &value);
  AddTraining(model, &lines, &value);
  terminal.Print(AlignedText(lines, 2), value);
  return 0;
}

int Unpack(Terminal& terminal, const std::string& path, const std::string& folder, bool force) {
  const nnabla::Model model = io::LoadNnabla(path);
  const std::vector<std::string> made = {folder + "/network.nntxt", folder + "/parameter.h5"};
  std::error_code error;
  for (const std::string& file : made) {
    if (!force && std::filesystem::exists(file, error)) {
      RaiseStatus(FailedPrecondition(file, ": expected no file, got one (--force replaces it)"),
                  "unpack");
    }
  }
  std::filesystem::create_directories(folder, error);
  io::SaveNnabla(made[0], model);
  io::Save(made[1], model.parameters);
  terminal.Print(absl::StrJoin(made, "\n") + "\n", {{"output", made}});
  return 0;
}

}  // namespace

FIRN_COMMAND_GROUP(nnp, "Inspects, unpacks, trains and runs NNabla's model files");

FIRN_SUBCOMMAND(nnp, info, "Lists the networks, executors, optimizers and data sets of an .nnp") {
  auto path = std::make_shared<std::string>();
  app.add_option("MODEL", *path, "an .nnp, .nntxt or .protobuf of NNabla")->required();
  app.footer(
      "It runs no network: firn infer, forward and profile do that. firn draw-graph draws one. "
      "Example:\n"
      "  firn nnp info lenet.nnp");
  return [path](Terminal& terminal) { return Info(terminal, *path); };
}

FIRN_SUBCOMMAND(nnp, unpack, "Writes the text and the parameters of an .nnp as two files") {
  struct Options {
    std::string path, folder;
    bool force = false;
  };
  auto o = std::make_shared<Options>();
  app.add_option("MODEL", o->path, "an .nnp of NNabla")->required();
  app.add_option("FOLDER", o->folder, "the folder to write network.nntxt and parameter.h5 into")
      ->required();
  app.add_flag("--force", o->force, "replaces files that exist");
  app.footer("No name in the file becomes a path. Example: firn nnp unpack lenet.nnp lenet");
  return [o](Terminal& terminal) { return Unpack(terminal, o->path, o->folder, o->force); };
}

}  // namespace firn::cli
