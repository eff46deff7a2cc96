// Of every class of optimizer: its steps are those of its formula, each of its options changes them
// as the formula says, and each is in its state dict.

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/optim/all_optimizers.h"
#include "tests/optim/formulas.h"

namespace firn::optim {
namespace {

using ::testing::UnorderedElementsAreArray;

constexpr int kSteps = 8;  // Radam takes to second moments after some
constexpr std::string_view kGroup = "groups.0.";

struct NameOfClass {
  template <class Optimizer>
  static std::string GetName(int) {
    return Formula<Optimizer>::kName;
  }
};

template <class Optimizer>
class OptionsTest : public ::testing::Test {};
TYPED_TEST_SUITE(OptionsTest, AllOptimizers, NameOfClass);

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

// Where steps of the optimizer lead. Throws for options that make no sense.
template <class Optimizer>
std::vector<double> Walk(const typename Optimizer::Options& options) {
  Tensor x = AsTensor(Numbers(0)).SetRequiresGrad();
  Optimizer optimizer({x}, options);
  for (int step = 0; step < kSteps; ++step) {
    optimizer.SetLr(RateOf(options.lr, step));
    x.SetGrad(AsTensor(Numbers(step + 1)));
    optimizer.Step();
  }
  return x.ToVector<double>();
}

// And those of its formula.
template <class Optimizer>
std::vector<double> Expected(typename Optimizer::Options options) {
  if constexpr (requires { options.Complete(); }) options.Complete();
  Moved moved;
  moved.x = Numbers(0);
  for (int step = 0; step < kSteps; ++step) {
    moved.grad = Numbers(step + 1);
    Formula<Optimizer>::Step(options, RateOf(options.lr, step), step + 1, moved);
  }
  return {moved.x.begin(), moved.x.end()};
}

// The largest difference, of what is larger than 1 as a share of it.
double Distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double distance = std::abs(a[i] - b[i]) / std::fmax(1, std::abs(b[i]));
    if (!(distance <= most)) most = distance;
  }
  return most;
}

TYPED_TEST(OptionsTest, EveryOptionChangesStepsAsTheFormulaSays) {
  std::set<std::string> idle;
  for (const NamedOption& o : OptionsIn(typename TypeParam::Options())) idle.insert(o.name);
  for (const auto& base : Formula<TypeParam>::Bases()) {
    const std::vector<double> walked = Walk<TypeParam>(base);
    ASSERT_LT(Distance(walked, Expected<TypeParam>(base)), 1e-12);
    for (const auto& [name, value] : OptionsIn(base)) {
      for (const double other : {value / 2, value * 2, value + 0.3, 1 - value, value + 1}) {
        const auto changed = WithOption(base, name, other);
        std::vector<double> got;
        try {
          got = Walk<TypeParam>(changed);
        } catch (const Error&) {
          continue;  // it makes no sense beside the others
        }
        EXPECT_LT(Distance(got, Expected<TypeParam>(changed)), 1e-12) << name << " = " << other;
        if (Distance(got, walked) > 1e-9) idle.erase(name);
      }
    }
  }
  std::vector<std::string> want;
  if (!Formula<TypeParam>::kWithout.empty()) want.emplace_back(Formula<TypeParam>::kWithout);
  EXPECT_THAT(idle, UnorderedElementsAreArray(want)) << "options without an effect";
}

// What a file lacks would be the default again after loading.
TYPED_TEST(OptionsTest, StateDictsHaveEveryOption) {
  using Options = typename TypeParam::Options;
  std::vector<std::string> names, saved;
  for (const NamedOption& o : OptionsIn(Options())) names.push_back(o.name);
  EXPECT_EQ(names.size(), CountMembers<Options>()) << "Visit leaves members out";
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  // No member stands there under two names.
  for (const auto& [name, value] : OptionsIn(Options())) {
    const std::vector<NamedOption> before = OptionsIn(Options());
    const std::vector<NamedOption> after =
        OptionsIn(WithOption(Options(), name, value == 1 ? 0 : value + 1));
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(before[i].value != after[i].value, before[i].name == name) << before[i].name;
    }
  }
  const Tensor x = AsTensor(Numbers(0)).SetRequiresGrad();
  TypeParam optimizer({x});
  for (const auto& [name, value] : optimizer.state_dict()) {
    if (name.starts_with(kGroup)) saved.push_back(name.substr(kGroup.size()));
  }
  EXPECT_THAT(saved, UnorderedElementsAreArray(names));
}

// Options of a file replace all that the optimizer had.
TYPED_TEST(OptionsTest, LoadsEveryOption) {
  const auto bases = Formula<TypeParam>::Bases();
  const Tensor x = AsTensor(Numbers(0)).SetRequiresGrad();
  TypeParam saved({x}, bases.back()), loaded({x});
  loaded.LoadStateDict(saved.state_dict());
  const StateDict got = loaded.state_dict();
  for (const auto& [name, value] : saved.state_dict()) {
    EXPECT_EQ(got[name].Item(), value.Item()) << name;
  }
}

// The classes that headers of optim/ have.
TEST(AllOptimizersTest, HasEveryClass) {
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
      there.insert((*i)[1]);
    }
  }
  ASSERT_GT(headers, 10);
  there.erase("OptimizerByRule");  // what those are made of
  const auto add = [&]<class... Optimizer>(::testing::Types<Optimizer...>) {
    (here.insert(Formula<Optimizer>::kName), ...);
  };
  add(AllOptimizers());
  EXPECT_EQ(here, there);
}

}  // namespace
}  // namespace firn::optim
