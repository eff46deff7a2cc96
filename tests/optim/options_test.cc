// Checks every registered optimizer: its steps are those of its formula, each of its options
// changes them as the formula says, and each is in its state dict.

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/optim/adam.h"
#include "firn/optim/option_samples.h"
#include "firn/optim/registry.h"
#include "firn/optim/sgd.h"
#include "firn/optim/sign_steps.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/optim/by_name.h"

namespace firn::optim {
namespace {

using inner::Attrs;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::Moved;
using testing::OptionSamples;
using testing::OptionSamplesOf;
using testing::OptionsIn;
using ::testing::UnorderedElementsAreArray;
using testing::WithOption;

constexpr int kSteps = 8;  // Radam takes to second moments after some
constexpr std::string_view kGroup = "groups.0.";

class OptionsTest : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Optimizers, OptionsTest, ::testing::ValuesIn(OptimizerNames()),
                         [](const auto& name) { return name.param; });

// Numbers without a pattern, of both signs.
Moved::Matrix Numbers(double seed) {
  Moved::Matrix numbers;
  for (size_t i = 0; i < Moved::kSize; ++i) {
    numbers[i] = 2 * std::sin(seed + 1.7 * static_cast<double>(i * i + 1));
  }
  return numbers;
}

Tensor AsTensor(const Moved::Matrix& m) {
  return FromVector(std::vector<double>(m.begin(), m.end()),
                    {int64_t{Moved::kRows}, int64_t{Moved::kColumns}});
}

// The rate of a step, which does not stay the first one.
double RateOf(double lr, int step) { return step < 2 ? lr : lr / 2; }

// The parameters after steps of the optimizer. Throws for options that make no sense.
std::vector<double> Walk(const std::string& name, const Attrs& options) {
  Tensor x = AsTensor(Numbers(0)).SetRequiresGrad();
  const std::unique_ptr<Optimizer> optimizer = Make(name, {x}, OptionsIn(options));
  const double lr = optimizer->lr();
  for (int step = 0; step < kSteps; ++step) {
    optimizer->SetLr(RateOf(lr, step));
    x.SetGrad(AsTensor(Numbers(step + 1)));
    optimizer->Step();
  }
  return x.ToVector<double>();
}

// The parameters after steps by its formula.
std::vector<double> Expected(const std::string& name, const Attrs& options) {
  const double lr = OptionsIn(options)[0].value;
  Moved moved;
  moved.x = Numbers(0);
  for (int step = 0; step < kSteps; ++step) {
    moved.grad = Numbers(step + 1);
    OptionSamplesOf(name).step(options.ref(), RateOf(lr, step), step + 1, moved);
  }
  return {moved.x.begin(), moved.x.end()};
}

// The largest difference, relative for numbers above 1.
double Distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double distance = std::abs(a[i] - b[i]) / std::fmax(1, std::abs(b[i]));
    if (!(distance <= most)) most = distance;
  }
  return most;
}

TEST_P(OptionsTest, EveryOptionChangesStepsAsTheFormulaSays) {
  const OptionSamples& samples = OptionSamplesOf(GetParam());
  std::set<std::string> idle;
  for (const NamedOption& o : OptionsOf(GetParam())) idle.insert(o.name);
  for (const Attrs& base : samples.bases) {
    const std::vector<double> walked = Walk(GetParam(), base);
    ASSERT_LT(Distance(walked, Expected(GetParam(), base)), 1e-12);
    for (const auto& [name, value] : OptionsIn(base)) {
      for (const double other : {value / 2, value * 2, value + 0.3, 1 - value, value + 1}) {
        const Attrs changed = WithOption(base, name, other);
        std::vector<double> got;
        try {
          got = Walk(GetParam(), changed);
        } catch (const Error&) {
          continue;  // this option makes no sense with the others
        }
        EXPECT_LT(Distance(got, Expected(GetParam(), changed)), 1e-12) << name << " = " << other;
        if (Distance(got, walked) > 1e-9) idle.erase(name);
      }
    }
  }
  std::vector<std::string> want;
  if (!samples.without.empty()) want.push_back(samples.without);
  EXPECT_THAT(idle, UnorderedElementsAreArray(want)) << "options without an effect";
}

// An option that a file lacks would be the default again after loading.
TEST_P(OptionsTest, StateDictsHaveEveryOption) {
  const std::vector<NamedOption> defaults = OptionsOf(GetParam());
  std::vector<std::string> names, saved;
  for (const NamedOption& o : defaults) names.push_back(o.name);
  EXPECT_EQ(names.size(), OptionSamplesOf(GetParam()).members) << "Visit leaves members out";
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  // No member is in the state dict under two names.
  const Attrs& base = OptionSamplesOf(GetParam()).bases[0];
  const std::vector<NamedOption> before = OptionsIn(base);
  for (const auto& [name, value] : before) {
    const std::vector<NamedOption> after =
        OptionsIn(WithOption(base, name, value == 1 ? 0 : value + 1));
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(before[i].value != after[i].value, before[i].name == name) << before[i].name;
    }
  }
  const Tensor x = AsTensor(Numbers(0)).SetRequiresGrad();
  for (const auto& [name, value] : Make(GetParam(), {x})->state_dict()) {
    if (name.starts_with(kGroup)) saved.push_back(name.substr(kGroup.size()));
  }
  EXPECT_THAT(saved, UnorderedElementsAreArray(names));
}

TEST_P(OptionsTest, PrintsEveryOption) {
  const Attrs& base = OptionSamplesOf(GetParam()).bases[0];
  const Tensor x = AsTensor(Numbers(0)).SetRequiresGrad();
  const std::string text = Make(GetParam(), {x}, OptionsIn(base))->ToString();
  for (const NamedOption& o : OptionsIn(base)) {
    EXPECT_THAT(text, HasSubstr(o.name + "=")) << o.name;
  }
  EXPECT_THAT(text, HasSubstr("{lr=" + absl::StrCat(OptionsIn(base)[0].value) + ", "));
  EXPECT_THAT(text, EndsWith("}: 1 parameter"));
}

TEST(OptionsOfGroupsTest, ArePrintedOneALine) {
  const auto parameter = [] { return AsTensor(Numbers(0)).SetRequiresGrad(); };
  Lion lion({parameter(), parameter()}, {.lr = 0.25, .beta1 = 0.5, .beta2 = 0.75});
  lion.AddGroup({parameter()}, {.lr = 0.5, .beta1 = 0.5, .beta2 = 0.75, .weight_decay = 2});
  EXPECT_EQ(lion.ToString(),
            "Lion{lr=0.25, beta1=0.5, beta2=0.75, weight_decay=0}: 2 parameters\n"
            "Lion{lr=0.5, beta1=0.5, beta2=0.75, weight_decay=2}: 1 parameter");
  lion.SetLr(1, 0.125);
  EXPECT_THAT(lion.ToString(), HasSubstr("Lion{lr=0.125,"));
}

// Options of a file replace all that the optimizer had.
TEST_P(OptionsTest, LoadsEveryOption) {
  const Attrs& base = OptionSamplesOf(GetParam()).bases.back();
  const Tensor x = AsTensor(Numbers(0)).SetRequiresGrad();
  const std::unique_ptr<Optimizer> saved = Make(GetParam(), {x}, OptionsIn(base));
  const std::unique_ptr<Optimizer> loaded = Make(GetParam(), {x});
  loaded->LoadStateDict(saved->state_dict());
  const StateDict got = loaded->state_dict();
  for (const auto& [name, value] : saved->state_dict()) {
    EXPECT_EQ(got[name].Item(), value.Item()) << name;
  }
}

std::string LettersOf(std::string name) {
  std::erase(name, '_');
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

// The classes that headers of optim/ have: one that is not registered is neither tested nor found
// by its name.
TEST(RegistryTest, HasEveryClass) {
  const std::regex is_class(
      R"((?:using|class) (\w+) (?:=|(?:final )?: public) Optimizer(?:ByRule|Of)<)");
  std::set<std::string> there, here;
  int headers = 0;
  for (const auto& entry : std::filesystem::directory_iterator("optim")) {
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    headers += text.empty() ? 0 : 1;
    for (std::sregex_iterator i(text.begin(), text.end(), is_class), end; i != end; ++i) {
      there.insert(LettersOf((*i)[1]));
    }
  }
  ASSERT_GT(headers, 10);
  there.erase("optimizerbyrule");  // bases of optimizers
  for (const std::string& name : OptimizerNames()) here.insert(LettersOf(name));
  EXPECT_EQ(here, there);
}

TEST(RegistryTest, MakesWhatItIsAskedForWithTheOptionsThatTheVisitorLeaves) {
  const Tensor x = AsTensor(Numbers(0)).SetRequiresGrad();
  const std::unique_ptr<Optimizer> adam = Make("adam", {x}, {{"lr", 0.25}, {"beta2", 0.5}});
  EXPECT_NE(dynamic_cast<Adam*>(adam.get()), nullptr);
  EXPECT_EQ(adam->lr(), 0.25);
  EXPECT_EQ(adam->state_dict()["groups.0.beta1"].Item(), 0.9);
  EXPECT_EQ(adam->state_dict()["groups.0.beta2"].Item(), 0.5);
  const std::vector<NamedOption> seen = OptionsOf("adam");
  EXPECT_EQ(seen[0].name, "lr");
  EXPECT_EQ(seen[0].value, 1e-3);
}

TEST(RegistryTest, MakesAClassThatHasNoName) {
  const Tensor x = AsTensor(Numbers(0)).SetRequiresGrad();
  NumberVisitor faster([](std::string_view name, double v) { return name == "lr" ? 0.5 : v; });
  const std::unique_ptr<Optimizer> sgd = inner::ConfigureOptimizerOf<Sgd>(faster)({x});
  EXPECT_NE(dynamic_cast<Sgd*>(sgd.get()), nullptr);
  EXPECT_EQ(sgd->lr(), 0.5);
}

TEST(RegistryTest, NamesWhatIsWrong) {
  const Tensor x = AsTensor(Numbers(0)).SetRequiresGrad();
  EXPECT_EQ(
      testing::ErrorOf([&] { Make("adm", {x}); }).find("optimizer: there is no optimizer 'adm'; "),
      0u);
  EXPECT_NE(testing::ErrorOf([&] { Make("adm", {x}); }).find("adam"), std::string::npos);
  EXPECT_NE(testing::ErrorOf([&] {
              Make("adam", {x}, {{"beta1", 2}});
            }).find("must be in [0, 1)"),
            std::string::npos);
}

// Kernels of another level of processors register the same names once more.
TEST(RegistryTest, KeepsTheFirstOfAName) {
  const std::vector<std::string> before = OptimizerNames();
  const inner::OptimizerRegistration again("adam", inner::ConfigureOptimizerOf<Sgd>);
  EXPECT_EQ(OptimizerNames(), before);
  const Tensor x = AsTensor(Numbers(0)).SetRequiresGrad();
  EXPECT_NE(dynamic_cast<Adam*>(Make("adam", {x}).get()), nullptr);
}

}  // namespace
}  // namespace firn::optim
