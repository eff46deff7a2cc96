// Differentiable functions of one's own, where composing operations gives the wrong gradient or a
// slow one; and how to check them.

#include <iostream>

#include "firn/autograd/gradcheck.h"
#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

// A straight-through clamp (Y. Bengio, N. Leonard and A. Courville, 2013): limits values, but
// passes the gradient on as if it did not.
struct ClampSte {
  static Tensor Forward(FunctionContext&, const Tensor& x, double lo, double hi) {
    return Clamp(x, lo, hi);
  }
  static Tensor Backward(FunctionContext&, const Tensor& dy) { return dy; }
};

// exp(-x^2), which keeps its result for the gradient and so needs no second exp.
struct Gauss {
  static Tensor Forward(FunctionContext& ctx, const Tensor& x) {
    Tensor y = Exp(-1 * x * x);
    ctx.Save({x, y});
    return y;
  }
  static Tensor Backward(FunctionContext& ctx, const Tensor& dy) {
    return -2 * ctx.saved(0) * ctx.saved(1) * dy;
  }
};

int main() {
  Tensor x = FromValues({-3.f, 0.5f, 2.f}).SetRequiresGrad();
  Sum(Call<ClampSte>(x, -1.0, 1.0)).Backward();
  std::cout << "clamped: " << Call<ClampSte>(x, -1.0, 1.0) << "\n";
  std::cout << "its gradient: " << x.grad() << "\n";

  // Compares with differences, in f64: first the gradient, then the gradient of the gradient.
  const Tensor at = Randn({3, 4}, DType::kF64);
  const auto f = [](const Tensor& t) { return Sum(Call<Gauss>(t)); };
  std::cout << "gradient of gauss: " << GradCheck(f, at).ToString() << "\n";
  std::cout << "its gradient: " << GradGradCheck(f, at).ToString() << "\n";
}
