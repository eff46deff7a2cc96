// EvalScope sets a network to evaluation mode and gives each module its own mode back.
#include "firn/nn/eval_scope.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "firn/nn/batch_norm.h"
#include "firn/nn/dropout.h"
#include "firn/nn/linear.h"
#include "firn/nn/sequential.h"

namespace firn::nn {
namespace {

struct EvalScopeTest : ::testing::Test {
  Sequential net{New<Linear>({.in = 4, .out = 4}), New<BatchNorm1d>({.channels = 4}),
                 New<Dropout>({.p = 0.5})};
};

TEST_F(EvalScopeTest, GivesEachModuleItsOwnModeBack) {
  net.child(1).Eval();  // its running statistics are kept while the network is trained
  {
    const EvalScope eval(net);
    EXPECT_FALSE(net.training());
    for (size_t i = 0; i < net.num_children(); ++i) EXPECT_FALSE(net.child(i).training()) << i;
  }
  EXPECT_TRUE(net.training());
  EXPECT_TRUE(net.child(0).training());
  EXPECT_FALSE(net.child(1).training());
  EXPECT_TRUE(net.child(2).training());
}

TEST_F(EvalScopeTest, LeavesANetworkInEvaluationModeThere) {
  net.Eval();
  net.child(2).Train();  // dropout that estimates uncertainty
  { const EvalScope eval(net); }
  EXPECT_FALSE(net.training());
  EXPECT_TRUE(net.child(2).training());
}

TEST_F(EvalScopeTest, GivesModesBackAfterAnError) {
  net.child(1).Eval();
  const auto fail = [&] {
    const EvalScope eval(net);
    throw std::runtime_error("stopped");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_TRUE(net.training());
  EXPECT_FALSE(net.child(1).training());
}

}  // namespace
}  // namespace firn::nn
