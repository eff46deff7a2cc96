// Tensors, modules and optimizers that live longer than main(): their destructors run after those
// of other static objects, in an arbitrary order, and must find what they need.

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "firn/autograd/backward.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

struct Net : nn::Module {
  nn::Conv2d& conv = Add<nn::Conv2d>("conv", {.out = 2, .kernel = 3});
  nn::BatchNorm2d& norm = Add<nn::BatchNorm2d>("norm");
  nn::Linear& fc = Add<nn::Linear>("fc", {.out = 2});
  Tensor Forward(const Tensor& x) { return fc(Flatten(norm(conv(x)), 1)); }
};

// Made before main(), and perhaps before the globals of other translation units.
Tensor global_tensor = FromVector<float>({1, 2, 3});
Net global_net;
optim::Adam global_adam(global_net.parameters());
Tensor global_loss;  // holds a tape when the program ends

void TrainGlobals() {
  global_loss = Sum(global_net.Forward(Ones({2, 1, 6, 6})));
  global_loss.Backward({}, /*retain_graph=*/true);
  global_adam.Step();
}

TEST(GlobalsTest, WorkAsOthersDo) {
  TrainGlobals();
  EXPECT_EQ(global_tensor.ToVector<float>(), (std::vector<float>{1, 2, 3}));
  EXPECT_TRUE(global_net.fc.weight().grad().defined());
}

TEST(GlobalsTest, AreDestroyedAtExitWithoutAFault) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        TrainGlobals();
        static thread_local Tensor of_the_thread = global_net.Forward(Ones({1, 1, 6, 6}));
        std::exit(of_the_thread.defined() ? 7 : 1);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST(GlobalsTest, AreDestroyedWhenAnotherThreadExits) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        TrainGlobals();
        std::thread([] {
          static thread_local Tensor of_the_thread = global_net.Forward(Ones({1, 1, 6, 6}));
          std::exit(of_the_thread.defined() ? 7 : 1);
        }).join();
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace firn
