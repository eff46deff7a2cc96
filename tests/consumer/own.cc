// A program outside of Firn makes the operation, the optimizer, the layer and the data set that the
// READMEs show. Its exit status is the number of checks that failed.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "firn/autograd/gradcheck.h"
#include "firn/firn.h"
#include "own/scale.h"
#include "own/signum.h"
#include "own/squares.h"
#include "own/swish.h"

using namespace firn;

namespace {

int failures = 0;

void Expect(bool holds, const char* what) {
  std::cout << (holds ? "ok: " : "NOT: ") << what << "\n";
  failures += holds ? 0 : 1;
}

// The fastest of many runs, in milliseconds.
template <class F>
double Fastest(F f) {
  double best = 1e9;
  for (int i = 0; i < 60; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

void AnOperation() {
  const Tensor x = Randn({100}, DType::kF64);
  Expect(GradCheck([](const Tensor& in) { return Swish(in, 2); }, x).ok(), "its gradient is right");
  Expect(Swish(x).ToVector<double>() == Silu(x).ToVector<double>(), "it computes what silu does");
  const NoGradScope no_grad;
  const Tensor many = Randn({1 << 20});
  const double own = Fastest([&] { Swish(many); }), silu = Fastest([&] { Silu(many); });
  std::cout << "swish " << own << " ms, silu " << silu << " ms\n";
  Expect(own < 2 * silu, "it is as fast as an operation of Firn's");
}

FIRN_REGISTER_OPTIMIZER(signum, Signum);

void AnOptimizerByItsName() {
  const std::vector<std::string> names = optim::OptimizerNames();
  const auto there = [&](const char* name) {
    return std::count(names.begin(), names.end(), name) == 1;
  };
  Expect(there("signum"), "an optimizer of the program is found by its name");
  Expect(there("adam") && there("muon"), "and so are Firn's");
}

void Training() {
  nn::Sequential net;
  net.Append<Scale>({.channels = 1});
  Signum signum(net.named_parameters(), {.lr = 0.05});
  io::DataLoader train(std::make_shared<Squares>(3), {.batch = 3});
  double first = 0, last = 0;
  for (int epoch = 0; epoch < 30; ++epoch) {
    for (auto [x, square] : train) {
      signum.ZeroGrad();
      const Tensor loss = MseLoss(net(x), square);
      loss.Backward();
      signum.Step();
      last = loss.Item();
      if (epoch == 0) first = last;
    }
  }
  Expect(last < first, "a layer, an optimizer and a data set of one's own learn");
  const std::vector<float> before = net.parameters()[0].ToVector<float>();
  signum.Step(Full(Shape(), 1, DType::kBool));
  Expect(net.parameters()[0].ToVector<float>() == before, "a step that is to be left out is");
}

}  // namespace

int main() {
  AnOperation();
  AnOptimizerByItsName();
  Training();
  return failures;
}
