#include "firn/nn/summary.h"

#include <gtest/gtest.h>

#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/nn/sequential.h"
#include "firn/nn/shape_layers.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/linear/matmul.h"

namespace firn::nn {
namespace {

struct Net : Module {
  Sequential& body = Add<Sequential>("body", {New<Flatten>(), New<Linear>({.out = 300})});
  Linear& fc = Add<Linear>("fc", {.out = 10});
  Linear& spare = Add<Linear>("spare", {.in = 2, .out = 2});
  Tensor Forward(const Tensor& x) {
    EXPECT_FALSE(body.training());
    return fc(body(x));
  }
};

TEST(SummaryTest, TellsWhatEveryLayerMakes) {
  Net net;
  EXPECT_EQ(Summary(net, {64, 1, 28, 28}).ToString(),
            R"(Net on [64, 1, 28, 28]; parameters take 931.7 KiB
layer   type     output       parameters  multiply-adds     memory
body.0  Flatten  [64, 784]             0              0  196.0 KiB
body.1  Linear   [64, 300]       235,500     15,052,800   75.0 KiB
fc      Linear   [64, 10]          3,010        192,000    2.5 KiB
spare   Linear   not reached           6              0        0 B
total                            238,516     15,244,800  273.5 KiB
)");
}

TEST(SummaryTest, LeavesModesAndHooksAsTheyWere) {
  Net net;
  net.fc.Eval();
  Summary(net, {1, 784});
  EXPECT_TRUE(net.training());
  EXPECT_TRUE(net.body.training());
  EXPECT_FALSE(net.fc.training());
  EXPECT_THROW(Summary(net, {1, 5}), Error);
  EXPECT_TRUE(net.body.training());
}

TEST(SummaryTest, CountsRepeatedCallsAndSharedParametersOnce) {
  struct Loop : Layer {
    Linear& step = Add<Linear>("step", {.in = 4, .out = 4, .bias = false});

   protected:
    Tensor Forward(const Tensor& x) override { return step(step(x)); }
  };
  Loop loop;
  const SummaryTable table = Summary(loop, {2, 4});
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].calls, 2);
  EXPECT_EQ(table.parameters, 16);
  EXPECT_EQ(table.multiply_adds, 2 * 2 * 16);
}

TEST(SummaryTest, SummarisesAnyForward) {
  Linear one({.in = 3, .out = 2});
  const SummaryTable table = Summarise(one, "twice", [&] {
    one(Ones({4, 3}));
    one(Ones({5, 3}));
  });
  EXPECT_EQ(table.input, "twice");
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].calls, 2);
  EXPECT_EQ(table.rows[0].output, Shape({5, 2}));
  EXPECT_EQ(table.multiply_adds, (4 + 5) * 3 * 2);
}

// Products that belong to no layer: of a module that also has layers, and of one that is no layer
// itself.
struct Scores : Layer {
  Linear& query = Add<Linear>("query", {.in = 4, .out = 4, .bias = false});

 protected:
  Tensor Forward(const Tensor& x) override { return Matmul(query(x), x.T()); }
};
struct Pair : Module {
  Scores& scores = Add<Scores>("scores");
  Tensor Forward(const Tensor& x) { return Matmul(scores(x), x); }
};

TEST(SummaryTest, CountsProductsForTheLayerThatCallsThem) {
  Pair net;
  EXPECT_EQ(Summary(net, {3, 4}).ToString(), R"(Pair on [3, 4]; parameters take 64 B
layer         type    output  parameters  multiply-adds  memory
(itself)      Pair                     0             36     0 B
scores        Scores  [3, 3]           0             36    36 B
scores.query  Linear  [3, 4]          16             48    48 B
total                                 16            120    84 B
)");
}

TEST(SummaryTest, CountsConvolutions) {
  Sequential net({New<Conv2d>({.in = 2, .out = 3, .kernel = 3, .padding = 1}),
                  New<ConvTranspose2d>({.in = 3, .out = 2, .kernel = 2, .stride = 2})});
  const SummaryTable table = Summary(net, {1, 2, 4, 5});
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].multiply_adds, 3 * 4 * 5 * (2 * 3 * 3));
  EXPECT_EQ(table.rows[1].multiply_adds, 3 * 4 * 5 * (2 * 2 * 2));
}

}  // namespace
}  // namespace firn::nn
