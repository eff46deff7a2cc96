// An optimizer's options are read by the visitor that also writes them into state dicts, so an
// option that an optimizer gets is an option here.
#include "tools/firn/train/optimizers.h"

#include <algorithm>
#include <string>
#include <vector>

#include "firn/device/inner.h"
#include "firn/optim/registry.h"
#include "firn/optim/semantics.h"
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

}  // namespace

OptimizerMaker ParseOptimizer(const Config& config) {
  if (config.Text("name", "") == "lbfgs") {
    config.Refuse("name",
                  "lbfgs computes the loss of all samples several times a step: use optim::Lbfgs "
                  "in a program");
  }
  const std::string name = config.Choice("name", optim::OptimizerNames(), "adam");
  OptionReader reader(config);
  const OptimizerMaker make = name == "muon" ? inner::ConfigureOptimizerOf<MuonAndAdamW>(reader)
                                             : optim::ConfigureOptimizer(name, reader);
  try {
    Tensor parameter = Zeros({1, 1});  // muon wants a matrix
    make({parameter.SetRequiresGrad()});
  } catch (const Error& e) {
    config.Refuse("", e.what());
  }
  return make;
}

}  // namespace firn::cli
