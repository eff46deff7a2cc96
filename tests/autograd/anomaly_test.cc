#include "firn/autograd/anomaly.h"

#include <cmath>
#include <limits>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/expand.h"
#include "tests/autograd/testing.h"

namespace firn {
namespace {

using testing::ErrorOf;
using testing::ExpectContains;
using testing::Leaf;

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(AnomalyTest, NamesTheOperationAndItsPathAndDescribesTheInputs) {
  const std::string outer = "encoder", inner = "act";
  Tensor x = FromValues({1.f, 3e38f, -2e38f});
  AnomalyScope anomaly;
  const std::string message = ErrorOf([&] {
    PathScope a(outer), b(inner);
    Mul(Mul(x, 0.5), x);
  });
  EXPECT_EQ(message.substr(0, message.find(';')),
            "anomaly: mul at encoder.act made 2 infinite of 3 elements (f32 [3] on cpu, the first "
            "at 1)");
  ExpectContains(message,
                 "; inputs: x f32 [3] on cpu, min -1e+38, max 1.5e+38, mean 1.66667e+37; y ");
}

TEST(AnomalyTest, NamesTheForwardOperationInBackward) {
  const std::string path = "net.scale";
  Tensor x = Leaf({3e38f}), w = Leaf({1e-30f});
  Tensor y;
  {
    PathScope scope(path);
    y = Mul(x, w);
  }
  Tensor z = Mul(y, 1e20f);
  AnomalyScope anomaly;
  ExpectContains(ErrorOf([&] { Sum(z).Backward(); }),
                 "anomaly: backward of mul at net.scale: mul made 1 infinite of 1 elements");
  EXPECT_FALSE(x.grad().defined());
}

TEST(AnomalyTest, SaysThatNanCameInWithAnInput) {
  AnomalyScope anomaly;
  const std::string message = ErrorOf([] { Add(FromValues({1.f, NAN}), FromValues({1.f, 2.f})); });
  ExpectContains(message, "add made 1 NaN of 2 elements");
  ExpectContains(message, "x f32 [2] on cpu, min 1, max 1, mean 1, 1 NaN; y");
}

TEST(AnomalyTest, LetsInfinitiesPassThatWereGiven) {
  AnomalyScope anomaly;
  EXPECT_NO_THROW(Full({2}, -kInf));
  EXPECT_NO_THROW(Add(FromValues({1.f, -kInf}), 1));
  EXPECT_NO_THROW(Expand(FromValues({-kInf}), {3}));
  // Infinity minus infinity is NaN, though.
  EXPECT_THROW(Add(FromValues({kInf}), FromValues({-kInf})), Error);
}

TEST(AnomalyTest, CanIgnoreInfinities) {
  AnomalyScope anomaly({.check_infinities = false});
  EXPECT_NO_THROW(Mul(FromValues({3e38f}), 10));
}

TEST(AnomalyTest, EndsWithItsScope) {
  {
    AnomalyScope outer;
    { AnomalyScope inner; }
    EXPECT_THROW(Mul(FromValues({3e38f}), 10), Error);
  }
  EXPECT_NO_THROW(Mul(FromValues({3e38f}), 10));
}

TEST(AnomalyTest, NamesOperationModuleAndInputsInFrozenGraphs) {
  const std::string outer = "encoder", inner = "act";
  const auto fn = [&](const Tensor& x) {
    const PathScope a(outer), b(inner);
    return Mul(Mul(x, 0.5), x);
  };
  StaticGraph graph = Freeze(fn, FromValues({1.f, 2.f, 3.f}));
  const Tensor x = FromValues({1.f, 3e38f, -2e38f});
  {
    const AnomalyScope anomaly;
    EXPECT_NO_THROW(graph(FromValues({1.f, 2.f, 3.f})));
    const std::string message = ErrorOf([&] { graph(x); });
    EXPECT_EQ(message.substr(0, message.find(';')),
              "graph: anomaly: mul at encoder.act made 2 infinite of 3 elements (f32 [3] on cpu, "
              "the first at 1)");
    ExpectContains(message,
                   "; inputs: x f32 [3] on cpu, min -1e+38, max 1.5e+38, mean 1.66667e+37; y ");
  }
  EXPECT_NO_THROW(graph(x));
}

TEST(AnomalyTest, ChecksBackwardAndWhatIsWrittenInPlaceInFrozenGraphs) {
  Tensor w = Leaf({1e-30f}), state = FromValues({0.f});
  StaticGraph backward = Freeze(
      [&](const Tensor& x) {
        w.ZeroGrad();
        const Tensor y = Mul(w, x);
        y.Backward(x);
        return y;
      },
      FromValues({1.f}));
  StaticGraph writes = Freeze(
      [&](const Tensor& x) {
        state.CopyFrom(x);
        return x;
      },
      FromValues({1.f}));
  const AnomalyScope anomaly;
  ExpectContains(ErrorOf([&] { backward(FromValues({3e38f})); }),
                 "anomaly: mul (backward) made 1 infinite of 1 elements");
  ExpectContains(ErrorOf([&] { writes(FromValues({NAN})); }), " made 1 NaN of 1 elements");
}

TEST(AnomalyTest, ShowsWhatWasOverwrittenAsItWasBefore) {
  Tensor x = FromValues({1.f, 2.f});
  const AnomalyScope anomaly;
  ExpectContains(
      ErrorOf([&] {
        x.CopyFrom(FromValues({NAN, 1.f}));
      }),
      "made 1 NaN of 2 elements (f32 [2] on cpu, the first at 0); inputs: target f32 [2] on "
      "cpu, min 1, max 2, mean 1.5; ");
}

TEST(AnomalyTest, LooksThroughViews) {
  AnomalyScope anomaly;
  EXPECT_THROW(Mul(Expand(FromValues({3e38f}), {2, 3}), 10), Error);
}

}  // namespace
}  // namespace firn
