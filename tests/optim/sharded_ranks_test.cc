// Ranks that differ, or fail, and steps of other than plain parameters.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/graph.h"
#include "firn/device/comm/communicator.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/optim/sgd.h"
#include "firn/optim/sharded.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "tests/error_of.h"
#include "tests/optim/on_ranks.h"

namespace firn::optim {
namespace {

using ::testing::AllOf;
using testing::ErrorOf;
using ::testing::HasSubstr;

TEST(ShardedOptimizerTest, RanksThatDifferAreAnErrorOnAllThatNamesBoth) {
  const auto refused = [](const std::function<std::unique_ptr<Optimizer>(int rank)>& make,
                          const auto& matcher) {
    for (const std::string& error : ErrorsOfRanks(
             3, [&](comm::Communicator& c) { ShardedOptimizer sharded(make(c.rank()), c); })) {
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
  for (const std::string& error : ErrorsOfRanks(2, [](comm::Communicator& c) {
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
  for (const std::string& error : ErrorsOfRanks(2, [](comm::Communicator& c) {
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
  ExpectNoErrors(ErrorsOfRanks(2, [](comm::Communicator& c) {
    Tensor w = Ones({40}).SetRequiresGrad();
    Sharded<Sgd> sgd(std::vector<NamedTensor>{{"w", w}}, {.lr = 0.5}, c);
    if (c.rank() == 1) w.SetGrad(Ones({40}));
    sgd.Step();
    EXPECT_TRUE(w.Equals(Full({40}, 0.75)));
    EXPECT_EQ(w.grad().defined(), c.rank() == 1);
  }));
}

TEST(ShardedOptimizerTest, HooksAndGroupsAreAsEver) {
  ExpectNoErrors(ErrorsOfRanks(2, [](comm::Communicator& c) {
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
  ExpectNoErrors(ErrorsOfRanks(2, [](comm::Communicator& c) {
    nn::Linear linear({.out = 30});
    Sharded<Adam> adam(linear.named_parameters(), {.lr = 0.5}, c);
    EXPECT_THAT(ErrorOf([&] { adam.Step(); }), HasSubstr("weight"));
    const Tensor y = linear(Ones({2, 5}));
    {
      const NoGradScope no_grad;
      inner::Assign(linear.weight(), Ones({30, 5}));
    }
    Sum(linear(Ones({2, 5}))).Backward();
    adam.Step();
    EXPECT_TRUE(Allclose(linear.weight(), Full({30, 5}, 0.5)));
    EXPECT_EQ(adam.state_dict().Find("state.weight.exp_avg")->shape(), Shape({30, 5}));
  }));
}

// The parameter's whole shape is not known, so its state would be written without elements.
TEST(ShardedOptimizerTest, StatesOfPendingParametersAreNotWritten) {
  ExpectNoErrors(ErrorsOfRanks(2, [](comm::Communicator& c) {
    StateDict saved;
    {
      nn::Linear linear({.in = 5, .out = 30});
      Sharded<Adam> adam(linear.named_parameters(), {.lr = 0.5}, c);
      Sum(linear(Ones({2, 5}))).Backward();
      adam.Step();
      saved = adam.state_dict();
    }
    nn::Linear linear({.out = 30});
    Sharded<Adam> adam(linear.named_parameters(), {.lr = 0.5}, c);
    adam.LoadStateDict(saved);
    EXPECT_THAT(ErrorOf([&] { adam.state_dict(); }), HasSubstr("has no size yet"));
    linear(Ones({2, 5}));
    EXPECT_EQ(adam.state_dict().Find("state.weight.exp_avg")->shape(), Shape({30, 5}));
  }));
}

TEST(ShardedOptimizerTest, AParameterThatOneRankAloneKnowsIsNamed) {
  for (const std::string& error : ErrorsOfRanks(2, [](comm::Communicator& c) {
         nn::Linear linear({.out = 30});
         Sharded<Adam> adam(linear.named_parameters(), {.lr = 0.5}, c);
         if (c.rank() == 1) linear(Ones({2, 5}));
         adam.Step();
       })) {
    EXPECT_THAT(error, AllOf(HasSubstr("rank 0 has \"parameter weight, pending\""),
                             HasSubstr("rank 1 has \"parameter weight, f32 [30, 5] on cpu\"")));
  }
}

TEST(ShardedOptimizerTest, ARankThatFailsAloneEndsTheOthersWork) {
  const std::vector<std::string> errors = ErrorsOfRanks(2, [](comm::Communicator& c) {
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
  ExpectNoErrors(ErrorsOfRanks(1, [](comm::Communicator& c) {
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
