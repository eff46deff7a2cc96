// Parameters and buffers keep their identity: the optimizer, graphs and state dicts hold the tensor
// that was registered, so no assignment may silently put another one in its place.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/linear.h"
#include "firn/nn/module.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using Values = std::vector<float>;
using testing::ErrorOf;

struct Scale : nn::Module {
  Tensor& w = AddParameter("w", Ones({2}));
  Tensor& mean = AddBuffer("mean", Zeros({2}));
  Tensor& count = AddBuffer("count", Zeros({}, DType::kI64));
  Tensor& bias = AddParameter("bias", {});
};

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(IdentityTest, AnUpdateLoopMovesParametersInPlace) {
  Scale m;
  optim::Sgd sgd(m.parameters(), {.lr = 1});
  const Tensor same = m.w;
  Sum(m.w * 2).Backward();
  {
    const NoGradScope no_grad;
    for (Tensor p : m.parameters()) p -= 0.25 * p.grad();
    m.w *= FromValues({1.f, 3.f});
    m.w /= 2;
    m.w += 1;
  }
  EXPECT_EQ(m.w.ToVector<float>(), (Values{1.25f, 1.75f}));
  EXPECT_TRUE(m.w.Is(same));
  EXPECT_TRUE(m.w.requires_grad());
  sgd.ZeroGrad();
  Sum(m.w).Backward();
  sgd.Step();
  EXPECT_EQ(m.w.ToVector<float>(), (Values{0.25f, 0.75f}));
}

TEST(IdentityTest, ALeafOfNoModuleIsUpdatedInPlaceToo) {
  Tensor w = Ones({2});
  w.SetRequiresGrad();
  const Tensor same = w;
  const std::string why = ErrorOf([&] { w += 1; });
  EXPECT_TRUE(Has(why, "a leaf f32 [2]") && Has(why, "NoGradScope")) << why;
  const NoGradScope no_grad;
  w += 1;
  EXPECT_TRUE(w.Is(same));
  EXPECT_EQ(same.ToVector<float>(), (Values{2, 2}));
}

TEST(IdentityTest, AnUpdateThatIsRecordedIsRefused) {
  Scale m;
  const std::string why = ErrorOf([&] { m.w -= 0.5; });
  EXPECT_TRUE(Has(why, "parameter scale.w") && Has(why, "NoGradScope")) << why;
  Tensor copy = m.w;
  EXPECT_THROW(copy *= 2, Error);
  EXPECT_THROW(m.mean += m.w, Error);  // its history would be lost
  EXPECT_EQ(m.w.ToVector<float>(), (Values{1, 1}));
  EXPECT_EQ(m.mean.ToVector<float>(), (Values{0, 0}));
}

TEST(IdentityTest, AnUpdateKeepsShapeAndDtype) {
  Scale m;
  const NoGradScope no_grad;
  const std::string shape = ErrorOf([&] { m.w += Ones({3, 2}); });
  EXPECT_TRUE(Has(shape, "f32 [2]") && Has(shape, "f32 [3, 2]")) << shape;
  EXPECT_THROW(m.count += 0.5, Error);
  m.count += 2;
  EXPECT_EQ(m.count.Item<int64_t>(), 2);
  m.w += FromValues<double>({1, 2});  // of more precision: converted
  EXPECT_EQ(m.w.ToVector<float>(), (Values{2, 3}));
}

TEST(IdentityTest, AssigningToARegisteredTensorIsRefused) {
  Scale m;
  for (const std::string& why : {ErrorOf([&] { m.w = Ones({2}) * 5; }), ErrorOf([&] {
                                   const Tensor x = Ones({2});
                                   m.w = x;
                                 }),
                                 ErrorOf([&] { m.w = Tensor(); }), ErrorOf([&] {
                                   Tensor x = Ones({2});
                                   std::swap(m.w, x);
                                 })}) {
    EXPECT_TRUE(Has(why, "parameter scale.w") && Has(why, "CopyFrom")) << why;
  }
  EXPECT_TRUE(Has(ErrorOf([&] { m.mean = Ones({2}); }), "buffer scale.mean"));
  EXPECT_EQ(m.w.ToVector<float>(), (Values{1, 1}));
  m.w = m.w;  // the same tensor
  Tensor other = m.w;
  other = Zeros({2});  // a program's own handle may name any tensor
  const Tensor moved = std::move(m.w);
  EXPECT_TRUE(m.w.Is(moved));
}

TEST(IdentityTest, AParameterThatTheModuleLacksIsNotAssigned) {
  Scale m;
  m.bias = Zeros({2});
  EXPECT_TRUE(Has(ErrorOf([&] { m.parameters(); }), "parameter scale.bias"));
}

TEST(IdentityTest, AModulesTensorIsFreeWhenTheModuleIsGone) {
  Tensor w;
  {
    Scale m;
    w = m.w;
    w.SetRequiresGrad(false);
  }
  w += 1;  // names a new tensor
  EXPECT_EQ(w.ToVector<float>(), (Values{2, 2}));
}

TEST(IdentityTest, ABufferIsUpdatedByFrozenRuns) {
  Scale frozen, ordinary;
  const auto track = [](Scale& m, const Tensor& x) {
    m.mean *= 0.5;
    m.mean += 0.5 * x;
    return x - m.mean;
  };
  const Tensor x = FromValues({1.f, 2.f});
  StaticGraph graph = Freeze([&](const Tensor& t) { return track(frozen, t); }, x);
  track(ordinary, x);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(graph(x * i).Equals(track(ordinary, x * i)));
    EXPECT_TRUE(frozen.mean.Equals(ordinary.mean));
  }
}

TEST(IdentityTest, EveryAssignmentToAnIndexedTensorWritesIntoIt) {
  const Tensor x = Full({3, 2}, 8.0);
  x[0] /= 4;
  x[1] -= 1;
  x[{2, 0}].Fill(5);
  x[x == 8].CopyFrom(3);
  EXPECT_EQ(x.ToVector<float>(), (Values{2, 2, 7, 7, 5, 3}));
  Scale m;
  EXPECT_THROW(m.w[0] /= 2, Error);
  const NoGradScope no_grad;
  m.w[0] /= 2;
  EXPECT_EQ(m.w.ToVector<float>(), (Values{0.5f, 1}));
}

}  // namespace
}  // namespace firn
