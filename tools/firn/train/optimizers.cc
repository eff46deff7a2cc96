// An optimizer's options are read by the visitor that also writes them into state dicts, so an
// option that an optimizer gets is an option here.
#include "tools/firn/train/optimizers.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "firn/device/inner.h"
#include "firn/optim/adafactor.h"
#include "firn/optim/adagrad.h"
#include "firn/optim/adam.h"
#include "firn/optim/adam_family.h"
#include "firn/optim/rmsprop.h"
#include "firn/optim/sgd.h"
#include "firn/optim/sign_steps.h"
#include "firn/optim/trust_ratio.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"
#include "tools/firn/train/muon.h"

namespace firn::cli {
namespace {

class OptionReader final : public inner::AttrVisitor {
 public:
  explicit OptionReader(const Config& config) : config_(config) {}
  void Field(const char* name, double& value) override { value = config_.Number(name, value); }
  void Field(const char* name, bool& value) override { value = config_.Flag(name, value); }
  void Field(const char* name, int64_t& value) override {
    value = config_.Integer(name, value, 0, int64_t{1} << 31);
  }
  // Options of optimizers are numbers.
  void Field(const char*, std::string&) override {}
  void Field(const char*, std::vector<int64_t>&) override {}

 private:
  void Enumerator(const char* name, int64_t& value, const inner::WordList& words) override {
    std::vector<std::string> choices;
    for (const inner::EnumWord& w : words) choices.emplace_back(w.word);
    value = words.Find(config_.Choice(name, choices, words.WordFor(value)))->value;
  }

  const Config& config_;
};

template <class O>
OptimizerMaker Make(const Config& config) {
  typename O::Options options;
  options.lr = config.Number("lr", options.lr);
  OptionReader reader(config);
  options.Visit(static_cast<inner::AttrVisitor&>(reader));
  return [options](const optim::ParameterList& parameters) -> std::unique_ptr<optim::Optimizer> {
    return std::make_unique<O>(parameters, options);
  };
}

struct Kind {
  const char* name;
  OptimizerMaker (*parse)(const Config& config);
};
constexpr Kind kKinds[] = {
    {"adabelief", Make<optim::Adabelief>}, {"adabound", Make<optim::Adabound>},
    {"adadelta", Make<optim::Adadelta>},   {"adafactor", Make<optim::Adafactor>},
    {"adagrad", Make<optim::Adagrad>},     {"adam", Make<optim::Adam>},
    {"adamax", Make<optim::Adamax>},       {"adamw", Make<optim::AdamW>},
    {"lamb", Make<optim::Lamb>},           {"lars", Make<optim::Lars>},
    {"lion", Make<optim::Lion>},           {"muon", Make<MuonAndAdamW>},
    {"nadam", Make<optim::Nadam>},         {"radam", Make<optim::Radam>},
    {"rmsprop", Make<optim::Rmsprop>},     {"rmsprop_graves", Make<optim::RmspropGraves>},
    {"rprop", Make<optim::Rprop>},         {"sgd", Make<optim::Sgd>},
    {"sgdw", Make<optim::SgdW>},
};

}  // namespace

OptimizerMaker ParseOptimizer(const Config& config) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  if (config.Text("name", "") == "lbfgs") {
    config.Refuse("name",
                  "lbfgs computes the loss of all samples several times a step: use optim::Lbfgs "
                  "in a program");
  }
  const std::string name = config.Choice("name", names, "adam");
  const OptimizerMaker make =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) {
        return name == kind.name;
      })->parse(config);
  try {
    Tensor parameter = Zeros({1, 1});  // muon wants a matrix
    make({parameter.SetRequiresGrad()});
  } catch (const Error& e) {
    config.Refuse("", e.what());
  }
  return make;
}

}  // namespace firn::cli
