// Regression: a small network learns the length of a vector of the plane (NNabla's "MLP
// regression"), and draws what it learned as contours: `vector_length FILE.svg`.

#include <cmath>
#include <fstream>
#include <iostream>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

struct Mlp : nn::Layer {
  nn::Linear& fc1 = Add<nn::Linear>("fc1", {.in = 2, .out = 64});
  nn::Linear& fc2 = Add<nn::Linear>("fc2", {.in = 64, .out = 64});
  nn::Linear& out = Add<nn::Linear>("out", {.in = 64, .out = 1});
  Tensor Forward(const Tensor& x) override { return out(Elu(fc2(Elu(fc1(x))))); }
};

Tensor LengthOf(const Tensor& x) { return Sqrt(Sum(Square(x), 1, true)); }

// Draws squares in shades of the length, with a ring at each tenth.
void Draw(const std::string& path, const Tensor& lengths, int64_t side) {
  const std::vector<float> v = lengths.ToVector<float>();
  std::ofstream svg(path);
  svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << side << " " << side << "'>\n";
  for (int64_t i = 0; i < side * side; ++i) {
    const double at = static_cast<double>(v[static_cast<size_t>(i)]);
    const bool ring = std::fmod(at * 10, 1) < 0.15;
    const int shade = ring ? 0 : std::clamp(static_cast<int>(255 - at * 150), 0, 255);
    svg << "<rect x='" << i % side << "' y='" << i / side
        << "' width='1.05' height='1.05' fill='rgb(" << shade << "," << shade << ",255)'/>\n";
  }
  svg << "</svg>\n";
  if (!svg.flush()) std::cerr << "vector_length: cannot write " << path << "\n";
}

int main(int argc, char** argv) {
  ManualSeed(1);
  Mlp net;
  optim::Adam adam(net.parameters(), {.lr = 1e-2});
  optim::Scheduler schedule(adam, optim::WarmupLr({.steps = 20}, optim::CosineLr({.steps = 600})));
  for (int step = 1; step <= 600; ++step) {
    const Tensor x = Rand({128, 2}) * 2 - 1;
    adam.ZeroGrad();
    const Tensor loss = MseLoss(net(x), LengthOf(x));
    loss.Backward();
    adam.Step();
    schedule.Step();
    if (step % 200 == 0) std::cout << "step " << step << ": loss " << loss.Item() << "\n";
  }
  const NoGradScope no_grad;
  const int64_t side = 64;
  const Tensor line = Linspace(-1, 1, side);
  const Tensor grid = Stack({line.Unsqueeze(0).Expand({side, side}).Reshape({-1}),
                             line.Unsqueeze(1).Expand({side, side}).Reshape({-1})},
                            1);
  const Tensor learned = net(grid);
  std::cout << "mean error " << Mean(Abs(learned - LengthOf(grid))).Item() << "\n";
  if (argc > 1) Draw(argv[1], learned, side);
}
