#ifndef FIRN_TESTS_FOOTGUNS_TWIN_H_
#define FIRN_TESTS_FOOTGUNS_TWIN_H_

// One model twice: one of the two runs frozen, the other gives the expected results.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn::testing {

// A layer and the ways to run it; twins begin equal.
struct Twin {
  nn::Linear layer{{.in = 3, .out = 2}};
  optim::Adam adam{layer.named_parameters(), {.lr = 0.1}};

  Twin() {
    const NoGradScope no_grad;
    Tensor(layer.weight()).CopyFrom(Arange(6).To(DType::kF32).Reshape({2, 3}) / 7);
    Tensor(layer.bias()).CopyFrom(FromValues({0.5f, -0.5f}));
  }
  Tensor Micro(const Tensor& x) {
    Tensor loss = Sum(Square(layer(x)));
    loss.Backward();
    return loss;
  }
  Tensor StepWithoutClearing(const Tensor& x) {
    Tensor loss = Micro(x);
    adam.Step();
    return loss;
  }
  Tensor StepThatClearsLast(const Tensor& x) {
    Tensor loss = StepWithoutClearing(x);
    adam.ZeroGrad();
    return loss;
  }
  Tensor Step(const Tensor& x) {
    adam.ZeroGrad();
    return StepWithoutClearing(x);
  }
};

// Compares the states of the two, to the bit and to the sign of zeros.
inline void ExpectSame(const Tensor& got, const Tensor& want, const std::string& what) {
  ASSERT_EQ(got.defined(), want.defined()) << what;
  if (!got.defined()) return;
  const auto a = got.ToVector<float>(), b = want.ToVector<float>();
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i], b[i]) << what << " at " << i;
    EXPECT_EQ(std::signbit(a[i]), std::signbit(b[i])) << what << " at " << i;
  }
}

inline void ExpectSameTwins(const Twin& got, const Twin& want, bool gradients = true) {
  const auto a = got.layer.named_parameters(), b = want.layer.named_parameters();
  for (size_t i = 0; i < a.size(); ++i) {
    ExpectSame(a[i].tensor, b[i].tensor, a[i].name);
    if (gradients) ExpectSame(a[i].tensor.grad(), b[i].tensor.grad(), "gradient of " + a[i].name);
  }
}

}  // namespace firn::testing

#endif  // FIRN_TESTS_FOOTGUNS_TWIN_H_
