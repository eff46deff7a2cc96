#include "firn/autograd/gradient_listener.h"

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/checkpoint.h"
#include "firn/autograd/function.h"
#include "firn/autograd/hooks.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "tests/autograd/testing.h"

namespace firn {
namespace {

using testing::ErrorOf;
using testing::ExpectContains;
using testing::Floats;
using testing::Leaf;

// Notes its calls, and does with gradients what the test sets.
class Notes : public GradientListener {
 public:
  std::optional<double> Weight() override {
    ++asked;
    return weight;
  }
  void Ready(const Tensor& leaf, Tensor& grad) override {
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (leaves[i].impl() == leaf.impl()) said += std::to_string(i) + " ";
    }
    found.push_back(grad.ToVector<float>());
    if (change) change(grad);
  }
  void Finish() override {
    said += "finish ";
    if (finish) finish();
  }
  void Cancel() noexcept override { said += "cancel "; }

  std::vector<Tensor> leaves;
  std::string said;
  int asked = 0;
  std::optional<double> weight;
  std::vector<Floats> found;
  std::function<void(Tensor&)> change;
  std::function<void()> finish;
};

class GradientListenerTest : public ::testing::Test {
 protected:
  GradientListenerTest() {
    for (int i = 0; i < 3; ++i) notes_->leaves.push_back(Leaf({1, 2}));
    listening_ = ListenToGradients(notes_->leaves, notes_);
  }
  const Tensor& leaf(size_t i) const { return notes_->leaves[i]; }

  std::shared_ptr<Notes> notes_ = std::make_shared<Notes>();
  GradientListening listening_;
};

TEST_F(GradientListenerTest, IsToldWhileThePassGoesOn) {
  Tensor before = Leaf({3, 4});
  Tensor x = Mul(before, leaf(0));
  RegisterHook(x, [&](const Tensor&) {
    notes_->said += "hook ";
    return Tensor();
  });
  Sum(Mul(Mul(x, leaf(1)), leaf(2))).Backward();
  EXPECT_EQ(notes_->said, "2 1 hook 0 finish ");
  EXPECT_EQ(notes_->found, (std::vector<Floats>{{3, 16}, {3, 16}, {3, 16}}));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(leaf(i).grad().ToVector<float>(), (Floats{3, 16})) << i;
}

TEST_F(GradientListenerTest, WaitsForTheLastUse) {
  Tensor y = Mul(leaf(0), leaf(1));
  y = Mul(Mul(y, leaf(2)), leaf(0));
  Sum(y).Backward();
  EXPECT_EQ(notes_->said, "2 0 1 finish ");
  EXPECT_EQ(notes_->found[1], (Floats{2, 16}));
}

struct NoGradient {
  static Tensor Forward(FunctionContext&, const Tensor& x) { return Mul(x, 1); }
  static Tensor Backward(FunctionContext&, const Tensor&) { return {}; }
};

// The pass goes by the product, which gets no gradient, and so by the last user of leaf 0.
TEST_F(GradientListenerTest, IsToldWhereTheLastUserIsPassedBy) {
  const Tensor first = Mul(leaf(2), 2);
  const Tensor product = Mul(leaf(0), leaf(1));
  Sum(Mul(Mul(first, leaf(0)), Call<NoGradient>(product))).Backward();
  EXPECT_EQ(notes_->said, "0 2 finish ");
  EXPECT_EQ(notes_->found[0], (Floats{2, 16}));
  EXPECT_FALSE(leaf(1).grad().defined());
}

TEST_F(GradientListenerTest, SeesWhatHooksMade) {
  RegisterHook(leaf(0), [](const Tensor& g) { return Mul(g, -1); });
  Sum(Mul(leaf(0), 3)).Backward();
  EXPECT_EQ(notes_->found, (std::vector<Floats>{{-3, -3}}));
  EXPECT_EQ(leaf(0).grad().ToVector<float>(), (Floats{-3, -3}));
}

TEST_F(GradientListenerTest, ChangesWhatIsAdded) {
  Tensor held;
  notes_->change = [&](Tensor& grad) { held = grad = Mul(grad, 10); };
  notes_->finish = [&] { held.mutable_host_view<float>()[0] = 7; };
  for (int i = 0; i < 2; ++i) Sum(Mul(leaf(0), 3)).Backward();
  EXPECT_EQ(leaf(0).grad().ToVector<float>(), (Floats{14, 60}));
}

// Hooks on the way see it, and so do leaves that nobody listens to.
TEST_F(GradientListenerTest, WeighsThePass) {
  notes_->weight = 2;
  Tensor other = Leaf({3, 4});
  Floats seen;
  RegisterHook(other, [&](const Tensor& g) {
    seen = g.ToVector<float>();
    return Tensor();
  });
  const Tensor y = Sum(Mul(Mul(other, leaf(1)), leaf(2)));
  Backward({y, leaf(1)}, {.seeds = {Tensor(), leaf(2)}});
  EXPECT_EQ(notes_->asked, 1);
  EXPECT_EQ(seen, (Floats{2, 8}));
  EXPECT_EQ(other.grad().ToVector<float>(), (Floats{2, 8}));
  EXPECT_EQ(leaf(1).grad().ToVector<float>(), (Floats{2 * (3 + 1), 2 * (8 + 2)}));
  Grad(Sum(leaf(0)), leaf(0));  // has none
  EXPECT_EQ(notes_->asked, 1);
}

TEST_F(GradientListenerTest, WeighsByNothing) {
  notes_->weight = 0;
  const Tensor seed = Leaf({HUGE_VALF, 1}).Detach();
  Backward({Mul(leaf(0), leaf(1))}, {.seeds = {seed}});
  EXPECT_EQ(leaf(0).grad().ToVector<float>(), (Floats{0, 0}));
  Floats seen;
  RegisterHook(leaf(2), [&](const Tensor& g) {
    seen = g.ToVector<float>();
    return Tensor();
  });
  Sum(Mul(leaf(2), seed)).Backward();  // 0 times infinity on the way
  EXPECT_EQ(seen, (Floats{0, 0}));
  EXPECT_EQ(leaf(2).grad().ToVector<float>(), (Floats{0, 0}));
}

TEST_F(GradientListenerTest, AgreesWithOthersOnTheWeight) {
  const auto others = std::make_shared<Notes>();
  others->leaves = {Leaf({5, 6})};
  const GradientListening listening = ListenToGradients(others->leaves, others);
  const auto pass = [&] { Sum(Mul(leaf(0), others->leaves[0])).Backward(); };
  others->weight = 3;
  pass();
  EXPECT_EQ(leaf(0).grad().ToVector<float>(), (Floats{15, 18}));
  notes_->weight = 2;
  notes_->said.clear();
  ExpectContains(ErrorOf(pass), "listeners of one pass weigh it by ");
  EXPECT_EQ(notes_->said, "cancel ");
  EXPECT_EQ(others->said, "0 finish cancel ");
  EXPECT_EQ(leaf(0).grad().ToVector<float>(), (Floats{15, 18}));
}

TEST_F(GradientListenerTest, MayKeepAGradient) {
  notes_->change = [](Tensor& grad) { grad = Tensor(); };
  Sum(Mul(leaf(0), 3)).Backward();
  EXPECT_FALSE(leaf(0).grad().defined());
}

TEST_F(GradientListenerTest, OfARootThatIsALeaf) {
  leaf(0).Backward(leaf(1));
  EXPECT_EQ(notes_->said, "0 finish ");
}

TEST_F(GradientListenerTest, IsToldOnceOfParametersOfACheckpoint) {
  const Tensor y =
      Checkpoint([&](const Tensor& x) { return Mul(Mul(x, leaf(0)), leaf(0)); }, leaf(1));
  Sum(Mul(y, leaf(2))).Backward();
  EXPECT_EQ(notes_->said, "2 0 1 finish ");
}

TEST_F(GradientListenerTest, HearsNothingOfGrad) {
  Grad(Sum(Mul(leaf(0), 3)), leaf(0));
  EXPECT_EQ(notes_->said, "");
}

TEST_F(GradientListenerTest, HearsOfAPassThatFails) {
  Tensor x = Mul(leaf(0), 3);
  RegisterHook(x, [](const Tensor&) -> Tensor { throw std::runtime_error("no"); });
  EXPECT_THROW(Sum(Mul(x, leaf(1))).Backward(), std::runtime_error);
  EXPECT_EQ(notes_->said, "1 cancel ");
  EXPECT_FALSE(leaf(1).grad().defined());
}

TEST_F(GradientListenerTest, HearsOfAHookThatFailsElsewhere) {
  Tensor other = Leaf({3, 4});
  RegisterHook(other, [](const Tensor&) -> Tensor { throw std::runtime_error("no"); });
  EXPECT_THROW(Sum(Mul(leaf(0), other)).Backward(), std::runtime_error);
  EXPECT_EQ(notes_->said, "0 cancel ");
}

// Both operands of a sum have one gradient.
TEST_F(GradientListenerTest, WritesIntoNobodyElsesGradient) {
  notes_->change = [](Tensor& grad) { grad.mutable_host_view<float>()[0] += 10; };
  Sum(Add(leaf(0), leaf(1))).Backward();
  EXPECT_EQ(leaf(0).grad().ToVector<float>(), (Floats{11, 1}));
  EXPECT_EQ(leaf(1).grad().ToVector<float>(), (Floats{11, 1}));
}

TEST_F(GradientListenerTest, EndsAPassByAnException) {
  notes_->finish = [] { throw std::runtime_error("a rank died"); };
  EXPECT_THROW(Sum(Mul(leaf(0), 3)).Backward(), std::runtime_error);
  EXPECT_EQ(notes_->said, "0 finish cancel ");
  EXPECT_FALSE(leaf(0).grad().defined());
}

TEST_F(GradientListenerTest, MustKeepTheShape) {
  notes_->change = [](Tensor& grad) { grad = Sum(grad); };
  ExpectContains(ErrorOf([&] { Sum(Mul(leaf(0), 3)).Backward(); }),
                 "a listener made f32 [] on cpu of the gradient f32 [2] on cpu");
  EXPECT_FALSE(leaf(0).grad().defined());
}

TEST_F(GradientListenerTest, HearsNothingWhenItIsOver) {
  listening_ = {};
  Sum(Mul(leaf(0), 3)).Backward();
  EXPECT_EQ(notes_->said, "");
  const GradientListening again = ListenToGradients({leaf(0)}, notes_);
}

TEST_F(GradientListenerTest, IsTheOnlyOneOfALeaf) {
  Tensor other = Leaf({1});
  ExpectContains(ErrorOf([&] {
                   (void)ListenToGradients({other, leaf(1)}, notes_);
                 }),
                 "leaf 1 is listened to already");
  const GradientListening listening = ListenToGradients({other}, notes_);  // is free again
}

TEST_F(GradientListenerTest, ListensToLeavesAlone) {
  ExpectContains(ErrorOf([&] { (void)ListenToGradients({Tensor()}, notes_); }),
                 "leaf 0 is an undefined tensor");
  ExpectContains(ErrorOf([&] { (void)ListenToGradients({Mul(leaf(0), 2)}, notes_); }),
                 "tensor 0 was computed: only leaves are listened to");
  ExpectContains(ErrorOf([&] { (void)ListenToGradients({leaf(0).Detach()}, notes_); }),
                 "leaf 0 does not require a gradient");
  ExpectContains(ErrorOf([&] { (void)ListenToGradients({Leaf({1})}, nullptr); }),
                 "the listener is null");
}

}  // namespace
}  // namespace firn
