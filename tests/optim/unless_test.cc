// Writes of a step that may be left out.

#include "firn/optim/unless.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/optim/optimizer.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "tests/error_of.h"

namespace firn::optim {
namespace {

using Values = std::vector<float>;

Tensor Skip(bool skip) { return Full(Shape(), skip ? 1 : 0, DType::kBool); }

TEST(UnlessTest, AnUndefinedOrFalseSkipWrites) {
  for (const Tensor& skip : {Tensor(), Skip(false)}) {
    const Tensor x = Ones({2}), step = Zeros(Shape(), DType::kI64);
    AssignUnless(skip, x, Full({2}, 3.0, DType::kF64));
    CountUnless(skip, step);
    EXPECT_EQ(x.ToVector<float>(), Values({3, 3}));
    EXPECT_EQ(step.Item<int64_t>(), 1);
  }
}

// The gradients of a step that is left out may have overflowed.
TEST(UnlessTest, ATrueSkipLeavesEverythingAsItIs) {
  const Tensor x = Ones({2}), step = Full(Shape(), 7, DType::kI64);
  AssignUnless(Skip(true), x, Full({2}, std::numeric_limits<double>::quiet_NaN()));
  CountUnless(Skip(true), step);
  EXPECT_EQ(x.ToVector<float>(), Values({1, 1}));
  EXPECT_EQ(step.Item<int64_t>(), 7);
}

struct PlainOptions {
  double lr = 1;
  template <class V>
  void Visit(V&) {}
};

// An optimizer that steps by the gradient, as a program outside of Firn writes it.
class Plain final : public OptimizerOf<PlainOptions> {
 public:
  explicit Plain(const ParameterList& parameters) { AddGroup(parameters, {}); }

 protected:
  const char* name() const override { return "Plain"; }
  std::vector<std::string> state_names(size_t) const override { return {"last"}; }
  void Check(const PlainOptions&) const override {}
  void Update(size_t, const Tensor& lr, const Tensor& skip,
              absl::Span<Slot* const> slots) override {
    for (Slot* s : slots) {
      AssignUnless(skip, s->param, s->param - s->param.grad() * lr);
      AssignUnless(skip, s->state[0], s->param.grad());
      CountUnless(skip, s->step);
    }
  }
};

// Steps by operations follow the tensors that they were captured with.
TEST(UnlessTest, AnOptimizerMadeOfItCanBeCapturedWithItsSkip) {
  Tensor x = Full({2}, 8.0);
  x.SetRequiresGrad();
  Plain plain({{"x", x}});
  x.SetGrad(Ones({2}));
  plain.Step();  // makes the state
  EXPECT_EQ(x.ToVector<float>(), Values({7, 7}));
  StaticGraph step = Freeze(
      [&](const Tensor& skip) {
        plain.Step(skip);
        return skip;
      },
      Skip(false));
  EXPECT_EQ(x.ToVector<float>(), Values({6, 6}));
  step(Skip(true));
  EXPECT_EQ(x.ToVector<float>(), Values({6, 6}));
  EXPECT_EQ(plain.state_dict()["state.x.step"].Item<int64_t>(), 2);
  step(Skip(false));
  EXPECT_EQ(x.ToVector<float>(), Values({5, 5}));
  EXPECT_EQ(plain.state_dict()["state.x.step"].Item<int64_t>(), 3);
}

}  // namespace
}  // namespace firn::optim
