// Ten training losses of each model against PyTorch's (tests/golden/README.md), from the same
// parameters and batches: in f64, where only the order of sums differs, and in f32.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/trainer.h"
#include "gtest/gtest.h"
#include "tensor/precision.h"

namespace firn::benchmarks {
namespace {

struct GoldenLosses {
  std::map<std::string, std::string> about;  // model, depth, batch_size, ...
  std::vector<std::string> parameters;       // names, in order
  struct Run {
    std::string optimizer;
    std::vector<double> f32, f64;
  };
  std::vector<Run> runs;
};

GoldenLosses Read(const std::string& model) {
  GoldenLosses golden;
  std::ifstream file("tests/golden/losses/" + model + ".txt");
  EXPECT_TRUE(file.good()) << model;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string what, second, third;
    words >> what >> second;
    if (what == "param") {
      words >> third;
      golden.parameters.push_back(third);
    } else if (what == "run") {
      golden.runs.push_back({.optimizer = second, .f32 = {}, .f64 = {}});
    } else if (what == "loss") {
      double f32 = 0, f64 = 0;
      words >> f32 >> f64;
      golden.runs.back().f32.push_back(f32);
      golden.runs.back().f64.push_back(f64);
    } else {
      golden.about[what] = second;
    }
  }
  return golden;
}

// The arithmetic of a run, and how far its losses may be from PyTorch's f64 ones: `absolute`, and
// so many times the distance of PyTorch's own f32 losses up to that step.
//
// In f64 the two agree to 2e-14 after ten steps. In f32 rounding grows with the steps, as PyTorch's
// own distance shows; ours is at most 26 times that, in deep_cnn's last steps. Winograd's rounding
// is 10 times as large, enough to decide who wins a max pooling: lenet's losses under plain SGD
// then come to differ by 1.3e-3, all others by less than 2e-4.
struct Arithmetic {
  const char* name;
  DType dtype;
  bool winograd;
  double absolute, distances;
};
constexpr Arithmetic kArithmetics[] = {
    {"f64", DType::kF64, true, 1e-12, 0},
    {"f32 without Winograd", DType::kF32, false, 1e-6, 30},
    {"f32", DType::kF32, true, 2e-3, 0},
};

class GoldenLossesTest : public ::testing::TestWithParam<std::string> {
 protected:
  void TearDown() override { SetWinogradAllowed(true); }
};

TEST_P(GoldenLossesTest, FollowPyTorch) {
  const GoldenLosses golden = Read(GetParam());
  ASSERT_FALSE(golden.runs.empty());
  for (const GoldenLosses::Run& run : golden.runs) {
    for (const Arithmetic& arithmetic : kArithmetics) {
      SCOPED_TRACE(run.optimizer + " " + arithmetic.name);
      SetWinogradAllowed(arithmetic.winograd);
      TrainerOptions options{
          .workload = GetParam(), .optimizer = run.optimizer, .dtype = arithmetic.dtype};
      options.batch = std::stoll(golden.about.at("batch_size"));
      if (golden.about.contains("depth")) options.depth = std::stoll(golden.about.at("depth"));
      auto trainer = Trainer::Make(options);
      ASSERT_TRUE(trainer.ok()) << trainer.status();
      std::vector<std::string> names;
      for (const NamedTensor& p : (*trainer)->net().named_parameters()) names.push_back(p.name);
      EXPECT_EQ(names, golden.parameters);
      ASSERT_EQ(run.f64.size(), 10u);
      double grown = 0;
      for (size_t step = 0; step < run.f64.size(); ++step) {
        const double want = run.f64[step];
        grown = std::max(grown, std::abs(run.f32[step] - want));
        const double allowed = arithmetic.absolute + arithmetic.distances * grown;
        EXPECT_NEAR((*trainer)->Step().Item(), want, allowed) << "step " << step;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenLossesTest,
                         ::testing::Values("lenet", "mlp", "resnet", "deep_cnn"),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace firn::benchmarks
