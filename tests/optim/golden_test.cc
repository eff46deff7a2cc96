// Ten steps of each optimizer that PyTorch has, against PyTorch's: each file of tests/golden/optim
// has the name of one.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/optim/registry.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/ops/shape/copies.h"
#include "tests/golden/vectors.h"

namespace firn::optim {
namespace {

using testing::GoldenCase;

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

class OptimizerGoldenTest : public ::testing::TestWithParam<std::string> {};

// The parameter stands between two others, one of which never gets a gradient.
TEST_P(OptimizerGoldenTest, MovesAsPyTorchs) {
  for (const GoldenCase& c : testing::ReadGolden(absl::StrCat("optim/", GetParam(), ".txt"))) {
    const auto copy = [&] { return Clone(c.inputs["param"]).SetRequiresGrad(); };
    Tensor idle = copy(), param = copy(), twin = copy();
    OptionsOf options(c);
    const std::unique_ptr<Optimizer> optimizer =
        ConfigureOptimizer(GetParam(), options)({idle, param, twin});
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
