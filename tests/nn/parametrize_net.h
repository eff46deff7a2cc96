#ifndef TESTS_NN_PARAMETRIZE_NET_H_
#define TESTS_NN_PARAMETRIZE_NET_H_

// A network of one layer for the tests of parametrizations, and functions that look into it.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "firn/nn/linear.h"
#include "firn/nn/parametrize.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn::nn::parametrize {

using Values = std::vector<float>;

inline const Values kWeight = {0.5, -1.25, 2, 1.5, 0.25, -0.75};

inline Tensor X() { return FromVector<float>({1, 2, -1, 0.5, -1.5, 0.25}, {2, 3}); }

inline void Set(const Tensor& t, const Values& values) {
  const NoGradScope no_grad;
  Tensor(t).CopyFrom(FromVector<float>(values, t.shape()));
}

struct Net : Module {
  Linear& fc = Add<Linear>("fc", {.in = 3, .out = 2});
  Net() {
    Set(fc.weight(), kWeight);
    Set(fc.bias(), {0.1f, -0.2f});
  }
  Tensor Forward(const Tensor& x) { return fc(x); }
};

// A parametrization whose original is half of the value.
struct Twice {
  Tensor Forward(const Tensor& x) const { return x * 2; }
  Tensor RightInverse(const Tensor& w) const { return w / 2; }
};

inline void ExpectNear(const Tensor& got, const Values& want) {
  ASSERT_TRUE(got.defined());
  const Values values = got.ToVector<float>();
  ASSERT_EQ(values.size(), want.size());
  // A few roundings of sums of a few terms.
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(values[i], want[i], 2e-6 * (1 + std::abs(want[i]))) << i;
  }
}

inline Tensor Parameter(const Module& m, const std::string& name) {
  for (const NamedTensor& p : m.named_parameters()) {
    if (p.name == name) return p.tensor;
  }
  return {};
}
inline const char* const kOriginal = "fc.parametrizations.weight.original";
inline Tensor Original(const Module& m, const std::string& i = "") {
  return Parameter(m, kOriginal + i);
}
inline Tensor Buffer(const Module& m, const std::string& name) {
  for (const NamedTensor& b : m.named_buffers()) {
    if (b.name == "fc.parametrizations.weight.0." + name) return b.tensor;
  }
  return {};
}

inline std::vector<std::string> Names(const Module& m) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : m.state_dict()) names.push_back(name);
  return names;
}
using List = std::vector<std::string>;

// A step of descent by 0.1, and the loss before it.
inline Tensor Step(Net& net, const Tensor& x) {
  net.SetTrainable();
  for (Tensor& p : net.parameters()) p.ZeroGrad();
  const Tensor loss = Sum(Square(net.Forward(x)));
  loss.Backward();
  const NoGradScope no_grad;
  for (Tensor& p : net.parameters()) p -= 0.1 * p.grad();
  return loss.Detach();
}

}  // namespace firn::nn::parametrize

#endif  // TESTS_NN_PARAMETRIZE_NET_H_
