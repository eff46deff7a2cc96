// Every optimizer and every schedule that a configuration can name: it trains, and its options
// arrive.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "firn/optim/adam.h"
#include "firn/optim/muon.h"
#include "firn/optim/option_samples.h"
#include "firn/optim/registry.h"
#include "firn/optim/scheduler.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/state_dict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tools/firn/train/config.h"
#include "tools/firn/train/optimizers.h"

namespace firn::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

Config Read(const std::string& text) { return Config::Parse(text, "train.json"); }

// The names that an error offers for an unknown one.
template <class F>
std::vector<std::string> NamesOf(F parse) {
  const std::string error = firn::testing::ErrorOf([&] { parse(Read(R"({"name": "?"})")); });
  const std::string begin = "expected one of ";
  const size_t at = error.find(begin), end = error.find(", got the text");
  if (at == std::string::npos || end == std::string::npos) return {error};
  return absl::StrSplit(error.substr(at + begin.size(), end - at - begin.size()), ", ");
}

template <class T>
std::vector<std::string> Keys(const std::map<std::string, T>& table) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : table) keys.push_back(key);
  return keys;
}

// Options as a configuration says them, but for enums, which have words there.
class JsonWriter final : public inner::AttrVisitor {
 public:
  void Field(const char* name, double& v) override { Add(name, absl::StrCat(v), v); }
  void Field(const char* name, bool& v) override { Add(name, v ? "true" : "false", v ? 1 : 0); }
  void Field(const char* name, int64_t& v) override {
    if (name == std::string("semantics") || name == std::string("scale")) return;
    Add(name, absl::StrCat(v), static_cast<double>(v));
  }
  void Field(const char* name, std::string&) override { FAIL() << name; }
  void Field(const char* name, std::vector<int64_t>&) override { FAIL() << name; }

  std::string json;
  std::map<std::string, double> values;

 private:
  void Add(const char* name, const std::string& text, double value) {
    absl::StrAppend(&json, ", \"", name, "\": ", text);
    values[name] = value;
  }
};

TEST(OptimizerNamesTest, AreThoseOfOptim) {
  EXPECT_THAT(NamesOf(ParseOptimizer), UnorderedElementsAreArray(optim::OptimizerNames()));
}

TEST(OptimizerNamesTest, EachTrainsAStepWithItsOptions) {
  for (const std::string& name : optim::OptimizerNames()) {
    SCOPED_TRACE(name);
    inner::Attrs options = firn::testing::OptionSamplesOf(name).bases.back();
    JsonWriter written;
    options.ref().type()->visit(options.mutable_data(), written);
    const OptimizerMaker make =
        ParseOptimizer(Read(absl::StrCat(R"({"name": ")", name, "\"", written.json, "}")));
    Tensor w = Full({2, 3}, 2.0);
    w.SetRequiresGrad();
    const std::unique_ptr<optim::Optimizer> optimizer = make({{"w", w}});
    Sum(w * w).Backward();
    optimizer->Step();
    EXPECT_LT(Amax(w).Item(), 2);
    const StateDict state = optimizer->state_dict();
    for (const auto& [option, value] : written.values) {
      // Options that follow from the learning rate do not count as given.
      if (option == "base_lr" && value == 0) continue;
      EXPECT_EQ(state["groups.0." + option].Item<double>(), value) << option;
    }
  }
}

TEST(OptimizerNamesTest, ReadsWordsOfEnums) {
  const auto saved = [](const std::string& name, const std::string& option, const char* word) {
    const OptimizerMaker make = ParseOptimizer(
        Read(absl::StrCat(R"({"name": ")", name, R"(", ")", option, R"(": ")", word, "\"}")));
    Tensor w = Full({2, 3}, 2.0);
    w.SetRequiresGrad();
    return make({{"w", w}})->state_dict()["groups.0." + option].Item<double>();
  };
  EXPECT_EQ(saved("adam", "semantics", "nnabla"), 1);
  EXPECT_EQ(saved("muon", "scale", "match_rms_adamw"), 1);
}

TEST(OptimizerNamesTest, MuonLeavesToAdamWWhatIsNoMatrix) {
  const auto parameters = [] {
    std::vector<NamedTensor> named = {{"w", Full({2, 3}, 2.0)}, {"b", FromVector<float>({1, -2})}};
    for (NamedTensor& p : named) p.tensor.SetRequiresGrad();
    return named;
  };
  const std::vector<NamedTensor> both = parameters(), apart = parameters();
  const OptimizerMaker make =
      ParseOptimizer(Read(R"({"name": "muon", "lr": 0.01, "weight_decay": 0.2})"));
  const std::unique_ptr<optim::Optimizer> muon = make(both);
  optim::Muon matrices({apart[0]}, {.lr = 0.01, .weight_decay = 0.2});
  optim::AdamW others({apart[1]}, {.lr = 0.01, .weight_decay = 0.2});
  for (int i = 0; i < 5; ++i) {
    for (const auto* named : {&both, &apart}) {
      for (const NamedTensor& p : *named) Sum(Exp(p.tensor)).Backward();
    }
    for (optim::Optimizer* o : {muon.get(), static_cast<optim::Optimizer*>(&matrices),
                                static_cast<optim::Optimizer*>(&others)}) {
      o->Step();
      o->ZeroGrad();
    }
  }
  EXPECT_TRUE(both[0].tensor.Equals(apart[0].tensor));
  EXPECT_LT(Amax(Abs(both[1].tensor - apart[1].tensor)).Item(), 1e-6);
  EXPECT_NE(both[1].tensor.ToVector<float>()[0], 1);
  EXPECT_EQ(muon->num_groups(), 2u);  // a schedule moves the rates of both
  EXPECT_THAT(firn::testing::ErrorOf([&] { make({both[1]}); }),
              HasSubstr("the network has no matrices"));
}

TEST(OptimizerNamesTest, SaysWhyLbfgsIsNone) {
  EXPECT_THAT(firn::testing::ErrorOf([] { ParseOptimizer(Read(R"({"name": "lbfgs"})")); }),
              HasSubstr("$.name: lbfgs computes the loss of all samples several times a step"));
}

struct Rates {
  std::string options;
  std::vector<double> rates;  // at steps 0, 2, 4, ..., the first of each of five epochs
};

TEST(ScheduleNamesTest, EachGivesTheRatesOfItsOptions) {
  const std::map<std::string, Rates> table = {
      {"constant", {R"("factor": 0.5, "steps": 2)", {0.5, 0.5, 1, 1, 1}}},
      {"step", {R"("interval": 2, "gamma": 0.5)", {1, 1, 0.5, 0.5, 0.25}}},
      {"multi_step", {R"("milestones": [1, 4], "gamma": 0.5)", {1, 0.5, 0.5, 0.5, 0.25}}},
      {"exponential", {R"("gamma": 0.5)", {1, 0.5, 0.25, 0.125, 0.0625}}},
      {"polynomial", {R"("power": 2, "steps": 4)", {1, 0.5625, 0.25, 0.0625, 0}}},
      {"linear", {R"("start_factor": 0.2, "end_factor": 1, "steps": 4)", {0.2, 0.4, 0.6, 0.8, 1}}},
      {"cosine", {R"("min_lr": 0.2, "steps": 2)", {1, 0.6, 0.2, 0.2, 0.2}}},
      {"cosine_restarts", {R"("steps": 2)", {1, 0.5, 1, 0.5, 1}}},
      {"one_cycle",
       {R"("max_lr": 2, "div_factor": 4, "linear": true, "steps": 5, "pct_start": 0.6,
           "final_div_factor": 1)",
        {0.5, 1.1, 1.7, 1.625, 0.875}}},
      // The first has two epochs, the second the three that are left.
      {"sequential",
       {R"("milestones": [2], "schedules": [{"name": "linear", "start_factor": 0.5}, )" +
            std::string(R"({"name": "polynomial"}])"),
        {0.5, 0.75, 1, 2.0 / 3, 1.0 / 3}}},
      {"chained",
       {R"("schedules": [{"name": "step", "interval": 1, "gamma": 0.5}, )" +
            std::string(R"({"name": "constant", "factor": 0.1, "steps": 1}])"),
        {0.1, 0.5, 0.25, 0.125, 0.0625}}},
      {"reduce_on_plateau", {R"("factor": 0.5, "patience": 1)", {1, 1, 1, 0.5, 0.5}}},
  };
  EXPECT_THAT(NamesOf(ParseSchedule), UnorderedElementsAreArray(Keys(table)));
  for (const auto& [name, expected] : table) {
    SCOPED_TRACE(name);
    const RateChanges changes =
        ParseSchedule(Read(absl::StrCat(R"({"name": ")", name, "\", ", expected.options, "}")));
    Tensor w = Ones({1});
    optim::Sgd sgd({w.SetRequiresGrad()}, {.lr = 1});
    std::vector<double> rates;
    if (const optim::Schedule schedule = changes.schedule(2, 5)) {
      optim::Scheduler scheduler(sgd, schedule);
      for (int i = 0; i < 5; ++i) {
        rates.push_back(sgd.lr());
        scheduler.SetStep(2 * (i + 1));
      }
    } else {
      optim::ReduceOnPlateau plateau(sgd, changes.plateau.value());
      for (int i = 0; i < 5; ++i) {
        rates.push_back(sgd.lr());
        plateau.Step(1);
      }
    }
    ASSERT_EQ(rates.size(), expected.rates.size());
    for (size_t i = 0; i < rates.size(); ++i) EXPECT_NEAR(rates[i], expected.rates[i], 1e-9) << i;
  }
}

TEST(ScheduleNamesTest, RefusesWhatMakesNoSense) {
  const auto error = [](const std::string& text) {
    return firn::testing::ErrorOf([&] {
      const Config config = Read(text);
      ParseSchedule(config);
      config.Finish();
    });
  };
  EXPECT_THAT(error(R"({"name": "sequential", "schedules": [{"name": "cosine"}, {}]})"),
              HasSubstr("$.milestones: expected one number fewer than schedules, 1, got 0"));
  EXPECT_THAT(error(R"({"name": "sequential", "milestones": [4, 2], "schedules": [{}, {}, {}]})"),
              HasSubstr("want numbers that rise"));
  EXPECT_THAT(error(R"({"name": "chained"})"), HasSubstr("$.schedules: expected a list"));
  EXPECT_THAT(error(R"({"name": "chained", "schedules": [3]})"),
              HasSubstr("$.schedules[0]: expected an object, got 3"));
  EXPECT_THAT(error(R"({"name": "chained", "schedules": [{"nam": "step"}]})"),
              HasSubstr("$.schedules[0]: there is no key \"nam\" (did you mean 'name'?)"));
  EXPECT_THAT(error(R"({"name": "chained", "schedules": [{"name": "reduce_on_plateau"}]})"),
              HasSubstr("$.schedules[0].name: expected one of chained"));
  EXPECT_THAT(error(R"({"name": "reduce_on_plateau", "factor": 2})"),
              HasSubstr("factor 2 must be in (0, 1)"));
  EXPECT_THAT(error(R"({"name": "reduce_on_plateau", "warmup": 2})"),
              HasSubstr("there is no key \"warmup\""));
}

}  // namespace
}  // namespace firn::cli
