// Rates of 40 steps against PyTorch's; each file of tests/golden/schedules must have a factory
// here.

#include "firn/optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/tensor/from.h"
#include "tests/error_of.h"
#include "tests/golden/vectors.h"

namespace firn::optim {
namespace {

using testing::ErrorOf;
using testing::GoldenCase;
using Make = Schedule (*)(const GoldenCase&);

const std::map<std::string, Make>& Factories() {
  static const auto* factories = new std::map<std::string, Make>{
      {"constant",
       [](const GoldenCase& c) {
         const ConstantLrOptions d;
         return ConstantLr({c.Number("factor", d.factor), c.Int("steps", d.steps)});
       }},
      {"linear",
       [](const GoldenCase& c) {
         const LinearLrOptions d;
         return LinearLr({c.Number("start_factor", d.start_factor),
                          c.Number("end_factor", d.end_factor), c.Int("steps", d.steps)});
       }},
      {"step",
       [](const GoldenCase& c) {
         return StepLr({c.Int("interval", 1), c.Number("gamma", StepLrOptions().gamma)});
       }},
      {"multi_step",
       [](const GoldenCase& c) {
         return MultiStepLr(
             {c.Ints("milestones", {}), c.Number("gamma", MultiStepLrOptions().gamma)});
       }},
      {"exponential",
       [](const GoldenCase& c) { return ExponentialLr({.gamma = c.Number("gamma", 0)}); }},
      {"polynomial",
       [](const GoldenCase& c) {
         const PolynomialLrOptions d;
         return PolynomialLr({c.Int("steps", d.steps), c.Number("power", d.power)});
       }},
      {"cosine",
       [](const GoldenCase& c) {
         return CosineLr({c.Int("steps", 0), c.Number("min_lr", 0)});
       }},
      {"cosine_restarts",
       [](const GoldenCase& c) {
         const CosineRestartsLrOptions d;
         return CosineRestartsLr(
             {c.Int("steps", 0), c.Int("mult", d.mult), c.Number("min_lr", d.min_lr)});
       }},
      {"one_cycle", [](const GoldenCase& c) {
         const OneCycleLrOptions d;
         return OneCycleLr({c.Number("max_lr", 0), c.Int("steps", 0),
                            c.Number("pct_start", d.pct_start), c.Flag("linear", d.linear),
                            c.Number("div_factor", d.div_factor),
                            c.Number("final_div_factor", d.final_div_factor),
                            c.Flag("three_phase", d.three_phase)});
       }}};
  return *factories;
}

class ScheduleGoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ScheduleGoldenTest, SaysWhatPyTorchSays) {
  const auto factory = Factories().find(GetParam());
  ASSERT_NE(factory, Factories().end()) << "nothing here makes the schedule of this file";
  for (const GoldenCase& c : testing::ReadGolden(absl::StrCat("schedules/", GetParam(), ".txt"))) {
    const Schedule schedule = factory->second(c);
    const double base = c.Number("base_lr", 0);
    const Tensor want = c.outputs["rates"];
    std::vector<double> rates;
    for (int64_t step = 0; step < want.num_elements(); ++step) {
      rates.push_back(schedule(step, base));
    }
    EXPECT_EQ(testing::Compare(FromVector(rates, want.shape()), want, 1e-6, 1e-12), "") << c.name;
    for (const auto& [name, values] : c.attrs) EXPECT_TRUE(c.asked.count(name)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, ScheduleGoldenTest,
                         ::testing::ValuesIn(testing::GoldenFiles("schedules")),
                         [](const auto& file) { return file.param; });

std::vector<double> Rates(const Schedule& schedule, int64_t steps, double base = 1) {
  std::vector<double> rates;
  for (int64_t step = 0; step < steps; ++step) rates.push_back(schedule(step, base));
  return rates;
}

// The formulas of nnabla.utils.learning_rate_scheduler; iterations count from 0.
TEST(ScheduleTest, SaysWhatNnablaSays) {
  constexpr double kRate = 0.25, kGamma = 0.7;
  constexpr int64_t kMax = 12;
  const std::vector<int64_t> milestones = {3, 4, 9};
  const auto polynomial = [](double power) {
    return
        [power](int64_t i) { return kRate * std::pow(1 - static_cast<double>(i) / kMax, power); };
  };
  const auto cosine = [](int64_t i) {
    return kRate * ((std::cos(static_cast<double>(i) / kMax * M_PI) + 1) * 0.5);
  };
  const auto exponential = [](int64_t interval) {
    return [interval](int64_t i) {
      return kRate * std::pow(kGamma, static_cast<double>(i / interval));
    };
  };
  const auto steps = [&](int64_t i) {
    double lr = kRate;
    for (const int64_t milestone : milestones) {
      if (i >= milestone) lr *= kGamma;
    }
    return lr;
  };
  const auto warmup = [](std::function<double(int64_t)> inner, int64_t iterations) {
    return [=](int64_t i) {
      const double share = static_cast<double>(i + 1) / static_cast<double>(iterations);
      return i < iterations ? inner(i) * share : inner(i);
    };
  };
  struct Pair {
    const char* name;
    Schedule ours;
    std::function<double(int64_t)> theirs;
  };
  const std::vector<Pair> pairs = {
      {"Polynomial", PolynomialLr({.steps = kMax, .power = 2.5}), polynomial(2.5)},
      {"Polynomial, a line", PolynomialLr({.steps = kMax, .power = 1}), polynomial(1)},
      {"Cosine", CosineLr({.steps = kMax}), cosine},
      {"Exponential", ExponentialLr({.gamma = kGamma}), exponential(1)},
      {"Exponential, now and then", ExponentialLr({.gamma = kGamma, .interval = 5}),
       exponential(5)},
      {"Step", MultiStepLr({.milestones = milestones, .gamma = kGamma}), steps},
      {"LinearWarmup of Cosine", WarmupLr({.steps = 5}, CosineLr({.steps = kMax})),
       warmup(cosine, 5)},
      {"LinearWarmup of Step",
       WarmupLr({.steps = 4}, MultiStepLr({.milestones = milestones, .gamma = kGamma})),
       warmup(steps, 4)}};
  for (const Pair& p : pairs) {
    for (int64_t i = 0; i <= kMax; ++i) {
      EXPECT_NEAR(p.ours(i, kRate), p.theirs(i), 1e-15) << p.name << " at " << i;
    }
  }
}

TEST(ScheduleTest, WarmsUpToAnyOther) {
  EXPECT_EQ(Rates(WarmupLr({.steps = 4}, StepLr({.interval = 2, .gamma = 0.5})), 6),
            (std::vector<double>{0.25, 0.5, 0.375, 0.5, 0.25, 0.25}));
}

TEST(ScheduleTest, ExponentialFallsAtIntervals) {
  EXPECT_EQ(Rates(ExponentialLr({.gamma = 0.5, .interval = 2}), 5, 8),
            (std::vector<double>{8, 8, 4, 4, 2}));
}

TEST(ScheduleTest, StaysAtTheEnd) {
  EXPECT_EQ(CosineLr({.steps = 3, .min_lr = 0.5})(10, 1), 0.5);
  EXPECT_EQ(PolynomialLr({.steps = 3})(10, 1), 0);
  EXPECT_NEAR(OneCycleLr({.max_lr = 1, .steps = 5})(100, 1), 1.0 / 25 / 1e4, 1e-18);
}

TEST(ScheduleTest, RestartsFarOut) {
  const Schedule s = CosineRestartsLr({.steps = 1, .mult = 2});
  EXPECT_EQ(s((int64_t{1} << 40) - 1, 1), 1);
  EXPECT_NEAR(s((int64_t{1} << 40) - 1 + (int64_t{1} << 39), 1), 0.5, 1e-9);
  EXPECT_GE(s(INT64_MAX, 1), 0);
}

TEST(ScheduleTest, OneAfterTheOther) {
  const Schedule twice = SequentialLr(
      {ConstantLr({.factor = 0.5, .steps = 100}), StepLr({.interval = 2, .gamma = 0.5})}, {3});
  EXPECT_EQ(Rates(twice, 8), (std::vector<double>{0.5, 0.5, 0.5, 1, 1, 0.5, 0.5, 0.25}));
}

TEST(ScheduleTest, OneOnTopOfTheOther) {
  const Schedule both = ChainedLr(
      {ConstantLr({.factor = 0.5, .steps = 2}), [](int64_t, double lr) { return lr * 10; }});
  EXPECT_EQ(Rates(both, 3), (std::vector<double>{5, 5, 10}));
}

TEST(ScheduleTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(ErrorOf([] { CosineLr({.steps = 0}); }), "CosineLr: steps is 0 (want >= 1)");
  EXPECT_EQ(ErrorOf([] {
              MultiStepLr({.milestones = {3, 2}});
            }),
            "MultiStepLr: milestones are {3, 2} (want numbers that rise, from 0 on)");
  EXPECT_EQ(ErrorOf([] { SequentialLr({StepLr({})}, {1}); }),
            "SequentialLr: schedules: 1, milestones: 1 (want one milestone fewer than schedules)");
  EXPECT_EQ(ErrorOf([] { WarmupLr({.steps = 2}, nullptr); }),
            "WarmupLr: there is no schedule to warm up for");
  EXPECT_NE(ErrorOf([] { OneCycleLr({.steps = 4, .pct_start = 0.6, .three_phase = true}); }), "");
  EXPECT_NE(ErrorOf([] { LinearLr({.start_factor = 0}); }), "");
  EXPECT_EQ(ErrorOf([] { ConstantLr({.factor = 2}); }), "ConstantLr: factor is 2 (want 0 to 1)");
  EXPECT_NE(ErrorOf([] { ChainedLr({}); }), "");
}

}  // namespace
}  // namespace firn::optim
