// A variational autoencoder (D. P. Kingma and M. Welling, 2014) on digits of 8 x 8 pixels: an
// encoder says where in a space of four numbers an image may lie, and a decoder makes the image
// again. The sample is drawn as mean + deviation * noise, so that gradients pass through it.

#include <iostream>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

struct Vae : nn::Module {
  nn::Linear& hidden = Add<nn::Linear>("hidden", {.out = 128});
  nn::Linear& mean = Add<nn::Linear>("mean", {.out = 4});
  nn::Linear& log_variance = Add<nn::Linear>("log_variance", {.out = 4});
  nn::Linear& grow = Add<nn::Linear>("grow", {.out = 128});
  nn::Linear& image = Add<nn::Linear>("image", {.out = 64});

  Tensor Decode(const Tensor& z) { return image(Relu(grow(z))); }

  // The cost of an image in nats, in two parts: the cost of its pixels after decoding, and the
  // divergence of the encoder's distribution from the standard normal one.
  std::pair<Tensor, Tensor> Cost(const Tensor& x) {
    const Tensor h = Relu(hidden(x)), m = mean(h), v = log_variance(h);
    const Tensor z = m + Exp(v * 0.5) * Randn(m.shape());
    const double images = static_cast<double>(x.shape()[0]);
    const Tensor pixels =
        BinaryCrossEntropyWithLogits(Decode(z), x, {.reduction = Reduction::kSum}) / images;
    const Tensor distance = Sum(Exp(v) + Square(m) - v - 1) * (0.5 / images);
    return {pixels, distance};
  }
};

int main() {
  ManualSeed(1);
  Vae net;
  optim::Adam adam(net.parameters(), {.lr = 2e-3});
  io::DataLoader data(io::Digits(), {.batch = 64, .shuffle = true});
  for (int epoch = 1; epoch <= 30; ++epoch) {
    double pixels = 0, distance = 0;
    for (auto [images, labels] : data) {
      adam.ZeroGrad();
      const auto [p, d] = net.Cost(Flatten(images, 1));
      (p + d).Backward();
      adam.Step();
      pixels += p.Item();
      distance += d.Item();
    }
    if (epoch != 1 && epoch % 10 != 0) continue;
    const double batches = static_cast<double>(data.size());
    std::cout << "epoch " << epoch << ": pixels " << pixels / batches << ", distance "
              << distance / batches << ", cost " << (pixels + distance) / batches << "\n";
  }
  // Prints new digits, decoded from random numbers.
  const NoGradScope no_grad;
  const Tensor drawn = Sigmoid(net.Decode(Randn({4, 4})));
  for (int64_t row = 0; row < 8; ++row) {
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t column = 0; column < 8; ++column) {
        const double v = drawn[{i, row * 8 + column}].Item();
        std::cout << (v > 0.6 ? '#' : v > 0.3 ? '+' : v > 0.1 ? '.' : ' ');
      }
      std::cout << "  ";
    }
    std::cout << "\n";
  }
}
