#include "firn/autograd/function.h"

#include "firn/autograd/backward.h"
#include "firn/autograd/gradcheck.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "tests/autograd/testing.h"

namespace firn {
namespace {

using testing::ErrorOf;
using testing::ExpectContains;
using testing::Floats;
using testing::Leaf;

// Its gradient is a multiple of the true one, so that only this function can have made it.
struct Scale {
  static Tensor Forward(FunctionContext& ctx, const Tensor& x, double factor) {
    ctx.Put("factor", factor);
    return Mul(x, factor);
  }
  static Tensor Backward(FunctionContext& ctx, const Tensor& dy) {
    return Mul(dy, 100 * ctx.Get<double>("factor"));
  }
};

struct Product {
  static Tensor Forward(FunctionContext& ctx, const Tensor& x, const Tensor& y) {
    ctx.Save({x, y});
    return Mul(x, y);
  }
  static std::vector<Tensor> Backward(FunctionContext& ctx, const Tensor& dz) {
    return {ctx.needs(0) ? Mul(dz, ctx.saved(1)) : Tensor(),
            ctx.needs(1) ? Mul(dz, ctx.saved(0)) : Tensor()};
  }
};

// x^2 by way of its result: d(x^2) = 2 x dx, with the result kept as well.
struct Square {
  static Tensor Forward(FunctionContext& ctx, const Tensor& x) {
    Tensor y = Mul(x, x);
    ctx.Save({x, y});
    return y;
  }
  static Tensor Backward(FunctionContext& ctx, const Tensor& dy) {
    EXPECT_EQ(ctx.saved(1).shape(), dy.shape());
    return Mul(Mul(dy, ctx.saved(0)), 2);
  }
};

struct Cube {  // keeps x^2, which is neither argument nor result
  static Tensor Forward(FunctionContext& ctx, const Tensor& x) {
    Tensor square = Mul(x, x);
    ctx.Save({square});
    return Mul(square, x);
  }
  static Tensor Backward(FunctionContext& ctx, const Tensor& dy) {
    return Mul(Mul(dy, ctx.saved(0)), 3);
  }
};

struct SumAndDifference {
  static std::vector<Tensor> Forward(FunctionContext&, const std::vector<Tensor>& xy) {
    return {Add(xy[0], xy[1]), Add(xy[0], xy[1], -1)};
  }
  static std::vector<Tensor> Backward(FunctionContext&, const std::vector<Tensor>& d) {
    return {Add(d[0], d[1]), Add(d[0], d[1], -1)};
  }
};

struct Identity {
  static Tensor Forward(FunctionContext&, const Tensor& x) { return x; }
  static Tensor Backward(FunctionContext&, const Tensor& dy) { return Mul(dy, 7); }
};

struct WrongShape {
  static Tensor Forward(FunctionContext&, const Tensor& x) { return Mul(x, 2); }
  static Tensor Backward(FunctionContext&, const Tensor& dy) { return Sum(dy); }
};

struct WrongCount {
  static Tensor Forward(FunctionContext&, const Tensor& x, const Tensor& y) { return Mul(x, y); }
  static Tensor Backward(FunctionContext&, const Tensor& dy) { return dy; }
};

TEST(FunctionTest, UsesItsOwnBackward) {
  Tensor x = Leaf({1, 2});
  Tensor y = Call<Scale>(x, 3.0);
  EXPECT_EQ(y.ToVector<float>(), (Floats{3, 6}));
  Sum(y).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{300, 300}));
}

TEST(FunctionTest, PassesGradCheckOfBothOrders) {
  const auto product = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{Call<Product>(in[0], in[1])};
  };
  const std::vector<Tensor> inputs = {FromValues({1.0, 2.0}), FromValues({3.0, -1.0})};
  EXPECT_TRUE(GradCheck(product, inputs).ok());
  EXPECT_TRUE(GradGradCheck(product, inputs).ok());
  const auto square = [](const Tensor& x) { return Call<Square>(x); };
  EXPECT_TRUE(GradCheck(square, inputs[0]).ok());
  EXPECT_TRUE(GradGradCheck(square, inputs[0]).ok());
  const absl::Status wrong =
      GradCheck([](const Tensor& x) { return Call<Scale>(x, 3.0); }, inputs[0]);
  EXPECT_FALSE(wrong.ok());
}

TEST(FunctionTest, TakesAndGivesLists) {
  const auto both = [](const std::vector<Tensor>& in) { return Call<SumAndDifference>(in); };
  EXPECT_TRUE(GradCheck(both, {FromValues({1.0, 2.0}), FromValues({3.0, -1.0})}).ok());
  // One result unused: its gradient arrives as zeros.
  Tensor x = Leaf({1}), y = Leaf({2});
  Sum(Call<SumAndDifference>(std::vector<Tensor>{x, y})[1]).Backward();
  EXPECT_EQ(y.grad().ToVector<float>(), (Floats{-1}));
}

TEST(FunctionTest, RecordsNothingWithoutNeed) {
  EXPECT_FALSE(Call<Scale>(FromValues({1.f}), 2.0).requires_grad());
  NoGradScope no_grad;
  EXPECT_FALSE(Call<Scale>(Leaf({1}), 2.0).requires_grad());
}

TEST(FunctionTest, KeepsTheHistoryOfAnArgumentThatItReturns) {
  Tensor x = Leaf({1});
  Tensor y = Call<Identity>(x);
  EXPECT_TRUE(x.is_leaf());
  Sum(Add(y, x)).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{8}));
}

TEST(FunctionTest, RefusesDerivativesThroughSavedIntermediates) {
  Tensor x = Leaf({2});
  EXPECT_EQ(Grad(Sum(Call<Cube>(x)), x).ToVector<float>(), (Floats{12}));
  ExpectContains(ErrorOf([&] { Grad(Sum(Call<Cube>(x)), x, {.create_graph = true}); }),
                 "backward: Cube saved tensor 0, which is neither an argument nor a result");
}

TEST(FunctionTest, RefusesSavedTensorsThatWereChanged) {
  Tensor x = Leaf({2, 3});
  Tensor z = Mul(x, 1);
  Tensor y = Call<Product>(z, x);
  {
    NoGradScope no_grad;
    z.mutable_host_view<float>()[0] = 7;
  }
  ExpectContains(ErrorOf([&] { Sum(y).Backward(); }),
                 "backward: Product was computed from a tensor");
}

TEST(FunctionTest, RefusesASecondPassWithoutRetain) {
  Tensor x = Leaf({2, 3});
  Tensor y = Sum(Call<Product>(x, x));
  y.Backward();
  ExpectContains(ErrorOf([&] { y.Backward(); }), "retain_graph");
}

TEST(FunctionTest, NamesTheFunctionWhenItsGradientsDoNotFit) {
  Tensor x = Leaf({2, 3});
  ExpectContains(
      ErrorOf([&] { Sum(Call<WrongShape>(x)).Backward(); }),
      "backward: WrongShape returned f32 [] on cpu as the gradient of tensor argument 0, "
      "f32 [2] on cpu");
  ExpectContains(ErrorOf([&] { Sum(Call<WrongCount>(x, x)).Backward(); }),
                 "WrongCount returned 1 gradients for 2 tensor arguments");
}

TEST(FunctionTest, ChecksValuesKeptByName) {
  FunctionContext ctx;
  ctx.Put("k", 3);
  EXPECT_EQ(ctx.Get<int>("k"), 3);
  EXPECT_THROW(ctx.Get<double>("k"), Error);
  EXPECT_THROW(ctx.Get<int>("n"), Error);
  EXPECT_THROW(ctx.saved(0), Error);
}

}  // namespace
}  // namespace firn
