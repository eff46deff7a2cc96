// Sharded optimizers move parameters to the bits of the optimizer alone, for every optimizer that
// goes element by element and 1 to 4 ranks, and keep 1/n of its state.

#include "firn/optim/sharded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/graph.h"
#include "firn/device/comm/thread_ranks.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/optim/registry.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"
#include "tests/optim/by_name.h"

namespace firn::optim {
namespace {

using ::testing::AllOf;
using testing::ErrorOf;
using ::testing::HasSubstr;

// The text of each rank's error, "" where it has none.
std::vector<std::string> OnRanks(int size, const std::function<void(comm::Communicator&)>& f) {
  const auto ranks = comm::ThreadRanks(size, {.timeout = absl::Seconds(20)});
  std::vector<std::string> errors(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (size_t r = 0; r < errors.size(); ++r) {
    threads.emplace_back([&, r] {
      try {
        f(*ranks[r]);
      } catch (const std::exception& e) {
        errors[r] = e.what();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  return errors;
}

void ExpectNoErrors(const std::vector<std::string>& errors) {
  for (const std::string& e : errors) EXPECT_EQ(e, "");
}

// Small whole numbers, whose means over 1, 2 and 4 ranks are exact.
Tensor Numbers(const Shape& shape, int seed, DType dtype = DType::kF32) {
  std::vector<double> x;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    x.push_back(std::round(8 * std::sin(1.7 * static_cast<double>(i * i + 1) + seed)));
  }
  return Cast(FromVector(x, shape), dtype);
}

// Cut evenly by 1, 2 and 4; by none; of fewer elements than ranks have; of half precision.
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

void ExpectEqual(const StateDict& got, const StateDict& want, const std::string& where) {
  ASSERT_EQ(got.size(), want.size()) << where;
  auto w = want.begin();
  for (const auto& [name, value] : got) {
    EXPECT_EQ(name, w->first) << where;
    EXPECT_EQ(value.dtype(), w->second.dtype()) << where << " " << name;
    EXPECT_TRUE(value.Equals(w->second)) << where << " " << name;
    ++w;
  }
}

void ExpectEqual(const std::vector<NamedTensor>& got, const std::vector<NamedTensor>& want,
                 const std::string& where) {
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(got[i].tensor.Equals(want[i].tensor)) << where << " " << got[i].name;
  }
}

// Those that sum over parameters, or multiply them.
bool NeedsWholeParameters(const std::string& name) {
  return std::set<std::string>{"adafactor", "lamb", "lars", "muon"}.contains(name);
}

class ShardedTest : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Optimizers, ShardedTest, ::testing::ValuesIn(OptimizerNames()),
                         [](const auto& name) { return name.param; });

TEST_P(ShardedTest, StepsAreThoseOfTheOptimizerAloneToTheBit) {
  const std::string name = GetParam();
  if (NeedsWholeParameters(name)) {
    for (const std::string& error : OnRanks(2, [&](comm::Communicator& c) {
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
      ExpectNoErrors(OnRanks(ranks, [&](comm::Communicator& c) {
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
        ExpectEqual(params, alone, where);
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
  ExpectNoErrors(OnRanks(3, [&](comm::Communicator& c) {
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
    ExpectEqual(params, alone, name);
    const StateDict whole = sharded.state_dict();
    ExpectEqual(whole, want, name);
    // And the optimizer alone takes it.
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
    ExpectNoErrors(OnRanks(ranks, [&](comm::Communicator& c) {
      const std::vector<NamedTensor> mine = params();
      Sharded<Adam> sharded(mine, {}, c, {.sharded_state = true});
      sharded.Step();
      const StateDict part = sharded.state_dict();
      EXPECT_LE(StateBytes(part), (all / ranks) * 101 / 100);
      // It goes on from there, and from no other rank's.
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

TEST(ShardedOptimizerTest, RanksThatDifferAreAnErrorOnAllThatNamesBoth) {
  const auto refused = [](const std::function<std::unique_ptr<Optimizer>(int rank)>& make,
                          const auto& matcher) {
    for (const std::string& error :
         OnRanks(3, [&](comm::Communicator& c) { ShardedOptimizer sharded(make(c.rank()), c); })) {
      EXPECT_THAT(error, matcher);
    }
  };
  const auto tensor = [](const Shape& shape) { return Ones(shape).SetRequiresGrad(); };
  refused(
      [&](int rank) {
        return std::make_unique<Adam>(
            std::vector<NamedTensor>{{"w", tensor({rank == 1 ? 3 : 2, 4})}});
      },
      AllOf(HasSubstr("rank 0 has \"parameter w, f32 [2, 4] on cpu\""),
            HasSubstr("rank 1 has \"parameter w, f32 [3, 4] on cpu\"")));
  refused(
      [&](int rank) {
        return std::make_unique<Adam>(std::vector<Tensor>{tensor({2})},
                                      AdamOptions{.lr = 1e-3, .beta1 = rank == 2 ? 0.8 : 0.9});
      },
      AllOf(HasSubstr("beta1 = 0.9"), HasSubstr("rank 2 has"), HasSubstr("beta1 = 0.8")));
  refused(
      [&](int rank) {
        std::vector<Tensor> list = {tensor({2})};
        if (rank == 2) list.push_back(tensor({2}));
        return std::make_unique<Adam>(list);
      },
      AllOf(HasSubstr("a group of 1 parameters"), HasSubstr("a group of 2 parameters")));
  refused(
      [&](int rank) -> std::unique_ptr<Optimizer> {
        if (rank == 1) return std::make_unique<Sgd>(std::vector<Tensor>{tensor({2})});
        return std::make_unique<Adam>(std::vector<Tensor>{tensor({2})});
      },
      AllOf(HasSubstr("Adam of 1 groups"), HasSubstr("Sgd of 1 groups")));
}

TEST(ShardedOptimizerTest, StepsThatDifferAreAnErrorOnAllAndMoveNothing) {
  for (const std::string& error : OnRanks(2, [](comm::Communicator& c) {
         Tensor w = Ones({40}).SetRequiresGrad();
         Sharded<Sgd> sgd(std::vector<NamedTensor>{{"w", w}}, {.lr = 0.5}, c);
         w.SetGrad(Ones({40}));
         if (c.rank() == 1) sgd.SetLr(0.25);
         const std::string said = ErrorOf([&] { sgd.Step(); });
         EXPECT_TRUE(w.Equals(Ones({40})));
         sgd.SetLr(0.5);
         sgd.Step();  // the ranks agree again
         EXPECT_TRUE(w.Equals(Full({40}, 0.5)));
         throw std::runtime_error(said);
       })) {
    EXPECT_THAT(error, AllOf(HasSubstr("is 0.5 on rank 0"), HasSubstr("0.25 on rank 1")));
  }
  for (const std::string& error : OnRanks(2, [](comm::Communicator& c) {
         Tensor w = Ones({40}).SetRequiresGrad();
         Sharded<Sgd> sgd(std::vector<NamedTensor>{{"w", w}}, {.lr = 0.5}, c, {.average = false});
         if (c.rank() == 1) w.SetGrad(Ones({40}));
         sgd.Step();
       })) {
    EXPECT_THAT(error, AllOf(HasSubstr("parameter w has no gradient on rank 0"),
                             HasSubstr("one on rank 1")));
  }
}

TEST(ShardedOptimizerTest, AGradientThatOneRankHasCountsAsZerosElsewhere) {
  ExpectNoErrors(OnRanks(2, [](comm::Communicator& c) {
    Tensor w = Ones({40}).SetRequiresGrad();
    Sharded<Sgd> sgd(std::vector<NamedTensor>{{"w", w}}, {.lr = 0.5}, c);
    if (c.rank() == 1) w.SetGrad(Ones({40}));
    sgd.Step();
    EXPECT_TRUE(w.Equals(Full({40}, 0.75)));
    EXPECT_EQ(w.grad().defined(), c.rank() == 1);
  }));
}

TEST(ShardedOptimizerTest, HooksAndGroupsAreAsEver) {
  ExpectNoErrors(OnRanks(2, [](comm::Communicator& c) {
    Tensor a = Ones({40}).SetRequiresGrad(), b = Ones({3}).SetRequiresGrad();
    auto sgd = std::make_unique<Sgd>(std::vector<NamedTensor>{{"a", a}}, SgdOptions{.lr = 0.5});
    sgd->AddGroup(std::vector<NamedTensor>{{"b", b}}, {.lr = 0.25, .momentum = 0.5});
    ShardedOptimizer sharded(std::move(sgd), c);
    bool whole = false;
    sharded.AddHooks(
        [&] {
          a.SetGrad(Ones({40}));
          b.SetGrad(Ones({3}));
        },
        [&] { whole = a.Equals(Full({40}, 0.5)) && b.Equals(Full({3}, 0.75)); });
    sharded.Step();
    EXPECT_TRUE(whole);
    EXPECT_EQ(sharded.num_groups(), 2u);
    EXPECT_THAT(sharded.ToString(), HasSubstr("Sgd{lr=0.25, momentum=0.5"));
    EXPECT_EQ(sharded.state_dict().Find("state.b.momentum_buffer")->shape(), Shape({3}));
    // Others are agreed on anew.
    Tensor other = Ones({5}).SetRequiresGrad();
    sharded.SetParameters({{"other", other}}, {.group = 1});
    EXPECT_EQ(sharded.parameters().size(), 2u);
    sharded.AddHooks([&] { other.SetGrad(Ones({5})); }, nullptr);
    sharded.Step();
    EXPECT_TRUE(other.Equals(Full({5}, 0.75)));
  }));
}

TEST(ShardedOptimizerTest, ParametersMayBePending) {
  ExpectNoErrors(OnRanks(2, [](comm::Communicator& c) {
    nn::Linear linear({.out = 30});
    Sharded<Adam> adam(linear.named_parameters(), {.lr = 0.5}, c);
    EXPECT_THAT(ErrorOf([&] { adam.Step(); }), HasSubstr("weight"));
    const Tensor y = linear(Ones({2, 5}));
    {
      const NoGradScope no_grad;
      Assign(linear.weight(), Ones({30, 5}));
    }
    Sum(linear(Ones({2, 5}))).Backward();
    adam.Step();
    EXPECT_TRUE(Allclose(linear.weight(), Full({30, 5}, 0.5)));
    EXPECT_EQ(adam.state_dict().Find("state.weight.exp_avg")->shape(), Shape({30, 5}));
  }));
}

TEST(ShardedOptimizerTest, ARankThatFailsAloneEndsTheOthersWork) {
  const std::vector<std::string> errors = OnRanks(2, [](comm::Communicator& c) {
    Tensor w = Ones({40}).SetRequiresGrad();
    Sharded<Sgd> sgd(std::vector<NamedTensor>{{"w", w}}, {.lr = 0.5}, c);
    w.SetGrad(Ones({40}));
    sgd.AddHooks(
        [&] {
          if (c.rank() == 1) throw std::runtime_error("no such file");
        },
        nullptr);
    sgd.Step();
  });
  EXPECT_THAT(errors[0], AllOf(HasSubstr("rank 1"), HasSubstr("no such file")));
  EXPECT_EQ(errors[1], "no such file");
}

TEST(ShardedOptimizerTest, WhatCannotBeShardedIsRefused) {
  ExpectNoErrors(OnRanks(1, [](comm::Communicator& c) {
    EXPECT_THAT(ErrorOf([&] { ShardedOptimizer sharded(nullptr, c); }),
                HasSubstr("there is no optimizer"));
    Tensor w = Ones({40}).SetRequiresGrad();
    w.SetGrad(Ones({40}));
    auto moved = std::make_unique<Adam>(std::vector<NamedTensor>{{"w", w}});
    moved->Step();
    const StateDict state = moved->state_dict();
    EXPECT_THAT(ErrorOf([&] { ShardedOptimizer sharded(std::move(moved), c); }),
                HasSubstr("has moved w already"));
    Sharded<Adam> adam(std::vector<NamedTensor>{{"w", w}}, {}, c);
    adam.LoadStateDict(state);
    StateDict wrong = state;
    *wrong.Find("state.w.exp_avg") = Zeros({41});
    EXPECT_THAT(ErrorOf([&] { adam.LoadStateDict(wrong); }),
                HasSubstr("state.w.exp_avg is [41], the parameter [40]"));
    ExpectEqual(adam.state_dict(), state, "as before");
    EXPECT_THAT(ErrorOf([&] {
                  const Tensor in[] = {Ones({1})};
                  Capture(
                      [&](absl::Span<const Tensor> x) {
                        adam.Step();
                        return TensorList{x[0] + 1};
                      },
                      in);
                }),
                HasSubstr("a capture cannot record"));
  }));
}

}  // namespace
}  // namespace firn::optim
