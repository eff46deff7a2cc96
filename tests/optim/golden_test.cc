// Ten steps of each optimizer, against PyTorch's. Each file of tests/golden/optim must have a
// factory here.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/optim/adafactor.h"
#include "firn/optim/adagrad.h"
#include "firn/optim/adam.h"
#include "firn/optim/adam_family.h"
#include "firn/optim/muon.h"
#include "firn/optim/rmsprop.h"
#include "firn/optim/sgd.h"
#include "firn/optim/sign_steps.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/ops/shape/copies.h"
#include "tests/golden/vectors.h"

namespace firn::optim {
namespace {

using testing::GoldenCase;
using Made = std::unique_ptr<Optimizer>;

// Options by the case's attributes; what a case does not say is the default.
class OptionsOf final : public inner::AttrVisitor {
 public:
  explicit OptionsOf(const GoldenCase& c) : case_(c) {}
  using inner::AttrVisitor::Field;
  void Field(const char* name, double& v) override { v = case_.Number(name, v); }
  void Field(const char* name, bool& v) override { v = case_.Flag(name, v); }
  void Field(const char* name, int64_t& v) override { v = case_.Int(name, v); }
  void Field(const char*, std::string&) override { FAIL(); }
  void Field(const char*, std::vector<int64_t>&) override { FAIL(); }

 private:
  void Enumerator(const char* name, int64_t& v, const inner::WordList& words) override {
    const std::string word = case_.Text(name, words.WordFor(v));
    const inner::EnumWord* const known = words.Find(word);
    ASSERT_NE(known, nullptr) << word << " is none of " << words.Text();
    v = known->value;
  }

  const GoldenCase& case_;
};

template <class O>
Made Make(const std::vector<Tensor>& parameters, const GoldenCase& c) {
  typename O::Options options;
  OptionsOf visitor(c);
  options.Visit(visitor);
  options.lr = c.Number("lr", options.lr);
  return std::make_unique<O>(parameters, options);
}

const std::map<std::string, Made (*)(const std::vector<Tensor>&, const GoldenCase&)>& Factories() {
  static const auto* factories =
      new std::map<std::string, Made (*)(const std::vector<Tensor>&, const GoldenCase&)>{
          {"adafactor", Make<Adafactor>}, {"muon", Make<Muon>},   {"adadelta", Make<Adadelta>},
          {"adagrad", Make<Adagrad>},     {"adam", Make<Adam>},   {"adamax", Make<Adamax>},
          {"adamw", Make<AdamW>},         {"nadam", Make<Nadam>}, {"radam", Make<Radam>},
          {"rmsprop", Make<Rmsprop>},     {"rprop", Make<Rprop>}, {"sgd", Make<Sgd>}};
  return *factories;
}

class OptimizerGoldenTest : public ::testing::TestWithParam<std::string> {};

// The parameter stands between two others, one of which never gets a gradient.
TEST_P(OptimizerGoldenTest, MovesAsPyTorchs) {
  const auto factory = Factories().find(GetParam());
  ASSERT_NE(factory, Factories().end()) << "nothing here makes the optimizer of this file";
  for (const GoldenCase& c : testing::ReadGolden(absl::StrCat("optim/", GetParam(), ".txt"))) {
    const auto copy = [&] { return Clone(c.inputs["param"]).SetRequiresGrad(); };
    Tensor idle = copy(), param = copy(), twin = copy();
    const Made optimizer = factory->second({idle, param, twin}, c);
    for (int step = 0; c.outputs.Contains(absl::StrCat("param.", step)); ++step) {
      for (Tensor* p : {&param, &twin}) p->SetGrad(c.inputs[absl::StrCat("grad.", step)]);
      optimizer->Step();
      EXPECT_EQ(testing::Compare(param, c.outputs[absl::StrCat("param.", step)]), "")
          << c.name << " step " << step;
    }
    EXPECT_TRUE(twin.Equals(param)) << c.name;
    EXPECT_TRUE(idle.Equals(c.inputs["param"])) << c.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, OptimizerGoldenTest,
                         ::testing::ValuesIn(testing::GoldenFiles("optim")),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace firn::optim
