// Sharded optimizers move parameters to the bits of the optimizer alone, for every optimizer that
// goes element by element and 1 to 4 ranks, and keep 1/n of its state.

#include "firn/optim/sharded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/comm/communicator.h"
#include "firn/optim/adam.h"
#include "firn/optim/registry.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"
#include "tests/optim/by_name.h"
#include "tests/optim/on_ranks.h"

namespace firn::optim {
namespace {

using testing::ErrorOf;
using ::testing::HasSubstr;

// Small whole numbers, whose means over 1, 2 and 4 ranks are exact.
Tensor Numbers(const Shape& shape, int seed, DType dtype = DType::kF32) {
  std::vector<double> x;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    x.push_back(std::round(8 * std::sin(1.7 * static_cast<double>(i * i + 1) + seed)));
  }
  return Cast(FromVector(x, shape), dtype);
}

// Shapes that 1, 2 and 4 ranks cut evenly, or unevenly; with fewer elements than ranks; of half
// precision.
std::vector<NamedTensor> Parameters() {
  std::vector<NamedTensor> list = {{"conv.weight", Numbers({8, 4, 5, 5}, 1)},
                                   {"fc.weight", Numbers({7, 19}, 2)},
                                   {"fc.bias", Numbers({7}, 3)},
                                   {"scale", Numbers({}, 4)},
                                   {"half", Numbers({33, 3}, 5, DType::kBF16)},
                                   {"double", Numbers({64}, 6, DType::kF64)},
                                   {"unused", Numbers({20}, 7)}};
  for (NamedTensor& p : list) p.tensor.SetRequiresGrad();
  return list;
}

// The gradient of rank `rank` in step `step`; their mean for rank -1. Some steps leave one out.
void SetGradients(std::vector<NamedTensor>& params, int rank, int ranks, int step) {
  for (size_t i = 0; i < params.size(); ++i) {
    Tensor& p = params[i].tensor;
    if (params[i].name == "unused" || (params[i].name == "fc.bias" && step == 2)) {
      p.ZeroGrad();
      continue;
    }
    const auto of = [&](int r) {
      return Numbers(p.shape(), step * 31 + static_cast<int>(i) + 100 * r, p.dtype());
    };
    Tensor grad = of(rank < 0 ? 0 : rank);
    for (int r = 1; rank < 0 && r < ranks; ++r) grad = grad + of(r);
    p.SetGrad(rank < 0 ? grad / ranks : grad);
  }
}

constexpr int kSteps = 6;

// The optimizer alone, on the means.
StateDict WalkAlone(const std::string& name, int ranks, int steps,
                    std::vector<NamedTensor>& params) {
  const std::unique_ptr<Optimizer> optimizer = Make(name, params);
  for (int step = 0; step < steps; ++step) {
    if (step == 3) optimizer->SetLr(optimizer->lr() / 2);
    SetGradients(params, -1, ranks, step);
    optimizer->Step(step == 4 ? Full(Shape(), 1, DType::kBool) : Tensor());
  }
  return optimizer->state_dict();
}

void ExpectEqualParameters(const std::vector<NamedTensor>& got,
                           const std::vector<NamedTensor>& want, const std::string& where) {
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(got[i].tensor.Equals(want[i].tensor)) << where << " " << got[i].name;
  }
}

// Optimizers that sum over parameters, or multiply matrices.
bool NeedsWholeParameters(const std::string& name) {
  return std::set<std::string>{"adafactor", "lamb", "lars", "muon"}.contains(name);
}

class ShardedTest : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Optimizers, ShardedTest, ::testing::ValuesIn(OptimizerNames()),
                         [](const auto& name) { return name.param; });

TEST_P(ShardedTest, StepsAreThoseOfTheOptimizerAloneToTheBit) {
  const std::string name = GetParam();
  if (NeedsWholeParameters(name)) {
    for (const std::string& error : ErrorsOfRanks(2, [&](comm::Communicator& c) {
           ShardedOptimizer sharded(Make(name, std::vector<Tensor>{Ones({2, 2}).SetRequiresGrad()}),
                                    c);
         })) {
      EXPECT_THAT(error, HasSubstr("goes element by element"));
    }
    return;
  }
  for (const int ranks : {1, 2, 4}) {
    std::vector<NamedTensor> alone = Parameters();
    const StateDict want = WalkAlone(name, ranks, kSteps, alone);
    for (const bool average : {true, false}) {
      ExpectNoErrors(ErrorsOfRanks(ranks, [&](comm::Communicator& c) {
        const std::string where =
            absl::StrCat(name, ", rank ", c.rank(), " of ", ranks, average ? "" : ", averaged");
        std::vector<NamedTensor> params = Parameters();
        ShardedOptimizer sharded(Make(name, params), c, {.average = average});
        for (int step = 0; step < kSteps; ++step) {
          if (step == 3) sharded.SetLr(sharded.lr() / 2);
          SetGradients(params, average ? c.rank() : -1, ranks, step);
          const bool skips = step == 4 && c.rank() == ranks - 1;  // one rank says so
          sharded.Step(skips ? Full(Shape(), 1, DType::kBool) : Tensor());
        }
        ExpectEqualParameters(params, alone, where);
        ExpectEqual(sharded.state_dict(), want, where);
      }));
    }
  }
}

// On three ranks means of gradients round, as those of an all-reduce do: whole gradients that
// agree.
TEST_P(ShardedTest, ThreeRanksGoOnFromWhatTwoHaveSaved) {
  const std::string name = GetParam();
  if (NeedsWholeParameters(name)) return;
  std::vector<NamedTensor> alone = Parameters();
  const StateDict want = WalkAlone(name, 2, kSteps, alone);
  std::vector<NamedTensor> half = Parameters();
  const StateDict saved = WalkAlone(name, 2, 3, half);
  ExpectNoErrors(ErrorsOfRanks(3, [&](comm::Communicator& c) {
    std::vector<NamedTensor> params = Parameters();
    {
      const NoGradScope no_grad;
      for (size_t i = 0; i < params.size(); ++i) Assign(params[i].tensor, half[i].tensor);
    }
    ShardedOptimizer sharded(Make(name, params, {{"lr", 7}}), c, {.average = false});
    sharded.LoadStateDict(saved);
    for (int step = 3; step < kSteps; ++step) {
      if (step == 3) sharded.SetLr(sharded.lr() / 2);
      SetGradients(params, -1, 2, step);
      sharded.Step(step == 4 ? Full(Shape(), 1, DType::kBool) : Tensor());
    }
    ExpectEqualParameters(params, alone, name);
    const StateDict whole = sharded.state_dict();
    ExpectEqual(whole, want, name);
    // The optimizer alone can load this state.
    const std::unique_ptr<Optimizer> one = Make(name, params);
    one->LoadStateDict(whole);
    ExpectEqual(one->state_dict(), want, name);
  }));
}

int64_t StateBytes(const StateDict& state) {
  int64_t bytes = 0;
  for (const auto& [name, value] : state) {
    if (name.starts_with("state.")) bytes += static_cast<int64_t>(value.spec().bytes());
  }
  return bytes;
}

TEST(ShardedOptimizerTest, ARankKeepsItsPartOfTheState) {
  const auto params = [] {
    std::vector<NamedTensor> list;
    for (int i = 0; i < 6; ++i) {
      list.push_back({absl::StrCat("w", i), Ones({128 + i, 129}).SetRequiresGrad()});
      list.push_back({absl::StrCat("b", i), Ones({128 + i}).SetRequiresGrad()});
    }
    for (NamedTensor& p : list) p.tensor.SetGrad(Ones(p.tensor.shape()));
    return list;
  };
  Adam alone(params(), {});
  alone.Step();
  const int64_t all = StateBytes(alone.state_dict());
  for (const int ranks : {2, 3, 4}) {
    ExpectNoErrors(ErrorsOfRanks(ranks, [&](comm::Communicator& c) {
      const std::vector<NamedTensor> mine = params();
      Sharded<Adam> sharded(mine, {}, c, {.sharded_state = true});
      sharded.Step();
      const StateDict part = sharded.state_dict();
      EXPECT_LE(StateBytes(part), (all / ranks) * 101 / 100);
      // The optimizer goes on from this state, and refuses that of another rank.
      Sharded<Adam> again(mine, {}, c, {.sharded_state = true});
      again.LoadStateDict(part);
      ExpectEqual(again.state_dict(), part, "part");
      StateDict other = part;
      *other.Find("groups.0.shard_rank") = FromVector(std::vector<double>{1.0 - c.rank()}, Shape());
      if (c.rank() < 2) {
        EXPECT_THAT(ErrorOf([&] { again.LoadStateDict(other); }),
                    HasSubstr(absl::StrCat("this is rank ", c.rank(), " of ", ranks)));
      }
    }));
  }
}

}  // namespace
}  // namespace firn::optim
