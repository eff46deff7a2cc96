// Ten steps of each optimizer, against PyTorch's. Each file of tests/golden/optim must have a
// factory here.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "optim/adam.h"
#include "optim/sgd.h"
#include "tensor/ops/shape/copies.h"
#include "tests/golden/vectors.h"

namespace firn::optim {
namespace {

using testing::GoldenCase;
using Made = std::unique_ptr<Optimizer>;

Made MakeSgd(const std::vector<Tensor>& p, const GoldenCase& c) {
  const SgdOptions standard;
  return std::make_unique<Sgd>(p, SgdOptions{.lr = c.Number("lr", standard.lr),
                                             .momentum = c.Number("momentum", 0),
                                             .dampening = c.Number("dampening", 0),
                                             .weight_decay = c.Number("weight_decay", 0),
                                             .nesterov = c.Flag("nesterov", false)});
}

template <class A>
Made MakeAdam(const std::vector<Tensor>& p, const GoldenCase& c) {
  const typename A::Options standard;
  return std::make_unique<A>(
      p, typename A::Options{.lr = c.Number("lr", standard.lr),
                             .beta1 = c.Number("beta1", standard.beta1),
                             .beta2 = c.Number("beta2", standard.beta2),
                             .eps = c.Number("eps", standard.eps),
                             .weight_decay = c.Number("weight_decay", standard.weight_decay),
                             .amsgrad = c.Flag("amsgrad", false)});
}

const std::map<std::string, std::function<Made(const std::vector<Tensor>&, const GoldenCase&)>>&
Factories() {
  static const auto* factories =
      new std::map<std::string, std::function<Made(const std::vector<Tensor>&, const GoldenCase&)>>{
          {"adam", MakeAdam<Adam>}, {"adamw", MakeAdam<AdamW>}, {"sgd", MakeSgd}};
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
