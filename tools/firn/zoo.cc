// firn zoo list, info, export: list, describe and write the networks of nn/zoo.

#include "firn/nn/zoo/zoo.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "firn/autograd/graph/freeze_list.h"
#include "firn/device/status_macros.h"
#include "firn/device/text_table.h"
#include "firn/io/graph/save.h"
#include "firn/io/parameters.h"
#include "firn/nn/summary.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "tools/firn/command.h"

namespace firn::cli {
namespace {

namespace internal = inner::internal;

std::string InputText(const zoo::Input& input) {
  return absl::StrCat(input.shape.ToString(),
                      input.count > 0 ? absl::StrCat(" below ", input.count) : "");
}

std::string InputsText(const zoo::Network& network) {
  return absl::StrJoin(network.inputs, ", ", [](std::string* out, const zoo::Input& input) {
    out->append(InputText(input));
  });
}

nlohmann::json Json(const zoo::Network& network) {
  nlohmann::json inputs = nlohmann::json::array();
  for (const zoo::Input& input : network.inputs) {
    std::vector<int64_t> sizes(input.shape.begin(), input.shape.end());
    inputs.push_back({{"name", input.name}, {"shape", sizes}, {"below", input.count}});
  }
  return {{"name", network.name},
          {"paper", network.paper},
          {"parameter_names", network.origin},
          {"inputs", inputs},
          {"classes", network.classes},
          {"class_names", network.class_set},
          {"resize", network.resize},
          {"interpolation", network.bicubic ? "bicubic" : "bilinear"},
          {"mean", network.colours.mean},
          {"stddev", network.colours.stddev},
          {"parameters", network.parameters},
          {"giga_multiply_adds", network.giga_multiply_adds}};
}

// Loads a file of weights, and reports how it fits.
std::string LoadWeights(nn::Module& net, const std::string& path, const std::string& prefix,
                        bool with_others) {
  const nn::LoadReport report = net.LoadStateDict(
      io::Load(path), {.strict = !with_others, .strip_prefix = prefix, .source = path});
  if (!report.missing.empty()) {
    RaiseStatus(InvalidArgument("the network needs more than the file has: ", report.ToString()),
                "load " + path);
  }
  return report.ToString();
}

// Zeros, of a batch.
std::vector<Tensor> Examples(const zoo::Network& network, int64_t batch = 1) {
  std::vector<Tensor> inputs;
  for (const zoo::Input& input : network.inputs) {
    std::vector<int64_t> sizes = {batch};
    sizes.insert(sizes.end(), input.shape.begin(), input.shape.end());
    inputs.push_back(Zeros(Shape(sizes), input.count > 0 ? DType::kI64 : kDefaultFloat));
  }
  return inputs;
}

}  // namespace

FIRN_COMMAND_GROUP(zoo, "Lists published networks and writes them as files");

FIRN_SUBCOMMAND(zoo, list, "Lists the networks with their inputs, classes and sizes") {
  app.footer("Example: firn zoo list");
  return [](Terminal& terminal) {
    std::vector<std::vector<std::string>> lines = {
        {"network", "input", "classes", "parameters", "10^9 multiply-adds"}};
    nlohmann::json json = nlohmann::json::array();
    for (const std::string& name : zoo::Names()) {
      const zoo::Network& n = zoo::Find(name);
      lines.push_back(
          {n.name, InputsText(n), n.classes > 0 ? absl::StrCat(n.classes) : "",
           internal::GroupedDigits(n.parameters),
           n.giga_multiply_adds > 0 ? absl::StrFormat("%.3f", n.giga_multiply_adds) : ""});
      json.push_back(Json(n));
    }
    terminal.Print(internal::AlignedText(lines, 2), json);
    return 0;
  };
}

FIRN_SUBCOMMAND(zoo, info, "Shows a network's paper, input and layers") {
  auto name = std::make_shared<std::string>();
  app.add_option("NAME", *name, "a network of `firn zoo list`")->required();
  app.footer("Example: firn zoo info resnet18");
  return [name](Terminal& terminal) {
    const zoo::Network& n = zoo::Find(*name);
    const std::unique_ptr<nn::Module> net = zoo::MakeModule(*name);
    const std::vector<Tensor> inputs = Examples(n);
    const nn::SummaryTable table =
        nn::Summarise(*net, InputsText(n), [&] { zoo::Call(*net, inputs); });
    std::string text = absl::StrCat(n.name, ": ", n.paper, "\nnames of parameters: ", n.origin,
                                    "\ninput: ", InputsText(n), "\n");
    if (n.resize > 0) {
      absl::StrAppend(&text, "images: shorter side resized to ", n.resize, " (",
                      n.bicubic ? "bicubic" : "bilinear", ", antialias), the middle cut out\n");
    }
    if (!n.colours.mean.empty()) {
      absl::StrAppend(&text, "colours: 0 to 1, less ", absl::StrJoin(n.colours.mean, ", "),
                      ", divided by ", absl::StrJoin(n.colours.stddev, ", "), "\n");
    }
    if (n.classes > 0) {
      absl::StrAppend(&text, "classes: ", n.classes, n.class_set.empty() ? "" : " of ", n.class_set,
                      "\n");
    }
    terminal.Print(text + table.ToString(), Json(n));
    return 0;
  };
}

FIRN_SUBCOMMAND(zoo, export, "Writes a network as a graph: .onnx, .firn, .nnp") {
  struct Given {
    std::string name, out, weights, prefix;
    int64_t classes = 0;
    bool others = false, any_batch = false;
  };
  auto given = std::make_shared<Given>();
  app.add_option("NAME", given->name, "a network of `firn zoo list`")->required();
  app.add_option("OUT", given->out, "the file to write; its suffix tells the format")->required();
  app.add_option("--weights", given->weights,
                 "a file of its parameters; without it they are those of a new network");
  app.add_option("--strip-prefix", given->prefix,
                 "a prefix that names of weights have only in the file, such as bert.");
  app.add_flag("--with-others", given->others,
               "allows the file to have tensors that the network lacks, such as heads and masks");
  app.add_option("--classes", given->classes,
                 "the number of classes of the last layer, instead of the published one")
      ->check(AtLeast(1));
  app.add_flag("--any-batch", given->any_batch,
               "leaves the batch size open, if the format can do so");
  app.footer("Example: firn zoo export resnet18 resnet18.onnx --weights resnet18.safetensors");
  return [given](Terminal& terminal) {
    const std::unique_ptr<nn::Module> net =
        zoo::MakeModule(given->name, {.classes = given->classes});
    net->Eval();
    // A size of 1 in an operation's options would be taken for a batch of 1 that is left open.
    const std::vector<Tensor> inputs = Examples(zoo::Find(given->name), given->any_batch ? 2 : 1);
    const NoGradScope no_grad;
    zoo::Call(*net, inputs);  // sizes that are left to the first input
    std::string report;
    if (!given->weights.empty()) {
      report = LoadWeights(*net, given->weights, given->prefix, given->others);
    }
    const StaticGraph graph =
        Freeze([&](const std::vector<Tensor>& in) { return zoo::Call(*net, in); }, inputs);
    for (const std::string& note :
         io::Save(given->out, graph, {.names = net->state_dict(), .any_batch = given->any_batch})) {
      terminal.Warn(note);
    }
    terminal.Print(absl::StrCat(report, report.empty() ? "" : "\n", "wrote ", given->out, "\n"),
                   {{"file", given->out}, {"parameters", net->num_parameters()}});
    return 0;
  };
}

}  // namespace firn::cli
