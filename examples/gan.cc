// A generative adversarial network with convolutions (I. Goodfellow et al., 2014; A. Radford et
// al., 2016) on digits of 8 x 8 pixels. Two networks, two optimizers: one draws digits, the other
// distinguishes them from handwritten ones, and each learns from the other's mistakes.

#include <iostream>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

struct Generator : nn::Layer {
  nn::Linear& seed = Add<nn::Linear>("seed", {.out = 64 * 2 * 2});
  nn::BatchNorm2d& norm1 = Add<nn::BatchNorm2d>("norm1", {.channels = 64});
  nn::ConvTranspose2d& up1 = Add<nn::ConvTranspose2d>(
      "up1", {.out = 32, .kernel = 4, .stride = 2, .padding = 1, .bias = false});
  nn::BatchNorm2d& norm2 = Add<nn::BatchNorm2d>("norm2", {.channels = 32});
  nn::ConvTranspose2d& up2 =
      Add<nn::ConvTranspose2d>("up2", {.out = 1, .kernel = 4, .stride = 2, .padding = 1});

  Tensor Forward(const Tensor& z) override {
    const Tensor small = Relu(norm1(Reshape(seed(z), {-1, 64, 2, 2})));
    return Sigmoid(up2(Relu(norm2(up1(small)))));
  }
};

struct Discriminator : nn::Layer {
  nn::Conv2d& down1 = Add<nn::Conv2d>("down1", {.out = 32, .kernel = 4, .stride = 2, .padding = 1});
  nn::Conv2d& down2 = Add<nn::Conv2d>("down2", {.out = 64, .kernel = 4, .stride = 2, .padding = 1});
  nn::Linear& written = Add<nn::Linear>("written", {.out = 1});

  // Logits: above 0 if the network takes the image for a handwritten one.
  Tensor Forward(const Tensor& x) override {
    const Tensor h = LeakyRelu(down2(LeakyRelu(down1(x), 0.2)), 0.2);
    return written(Flatten(h, 1));
  }
};

int main() {
  ManualSeed(3);
  Generator generator;
  Discriminator discriminator;
  optim::Adam draw(generator.parameters(), {.lr = 1e-3, .beta1 = 0.5});
  optim::Adam tell(discriminator.parameters(), {.lr = 5e-4, .beta1 = 0.5});
  io::DataLoader data(io::Digits(), {.batch = 64, .shuffle = true, .last = io::LastBatch::kDrop});
  const Tensor yes = Full({64, 1}, 0.9), no = Zeros({64, 1});
  for (int epoch = 1; epoch <= 30; ++epoch) {
    double right = 0, fooled = 0;
    for (auto [images, labels] : data) {
      const Tensor drawn = generator(Randn({64, 16}));
      tell.ZeroGrad();
      const Tensor of_written = discriminator(images), of_drawn = discriminator(drawn.Detach());
      (BinaryCrossEntropyWithLogits(of_written, yes) + BinaryCrossEntropyWithLogits(of_drawn, no))
          .Backward();
      tell.Step();

      draw.ZeroGrad();
      const Tensor verdict = discriminator(drawn);
      BinaryCrossEntropyWithLogits(verdict, yes).Backward();
      draw.Step();
      right += Gt(of_written, 0).To(DType::kF32).Mean().Item();
      fooled += Gt(verdict, 0).To(DType::kF32).Mean().Item();
    }
    if (epoch % 10 != 0) continue;
    const double batches = static_cast<double>(data.size());
    std::cout << "epoch " << epoch << ": written ones recognised " << right / batches
              << ", drawn ones taken for written " << fooled / batches << "\n";
  }
  // Compares the mean of each pixel over handwritten digits with that over drawn ones.
  const NoGradScope no_grad;
  generator.Eval();
  auto [images, labels] = io::Digits()->GetBatch(Arange(500).ToVector<int64_t>());
  const Tensor written = Mean(images, {0, 1}), drawn = Mean(generator(Randn({500, 16})), {0, 1});
  std::cout << "mean difference of mean pixels " << Mean(Abs(written - drawn)).Item() << "\n";
}
