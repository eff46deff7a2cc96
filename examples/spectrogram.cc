// The spectrogram of a sound is an image, so a small network of convolutions hears whether a tone
// stays, rises, falls or wavers. `spectrogram [STEPS]` makes such tones, with noise, and learns
// them; its last lines are what the network sees. A layer makes the spectrograms, both in the
// training step, which is captured once, and in the network, which runs frozen.

#include <iostream>
#include <numbers>
#include <string>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

constexpr int64_t kRate = 8000;    // numbers a second
constexpr int64_t kLength = 4096;  // numbers of a sound, half a second
const char* const kKinds[] = {"steady", "rising", "falling", "wavering"};

// Makes tones of these kinds, i64 [n], in noise; each has its own pitch, loudness and phase: [n,
// kLength].
Tensor Tones(const Tensor& kinds) {
  const int64_t n = kinds.size(0);
  const Tensor t = Linspace(0, 1, kLength);
  const Tensor change = Rand({n, 1}, 400, 1000);  // Hz
  // How the pitch moves, [4, n, kLength]: each sound takes the movement of its kind.
  const Tensor moves = Stack(
      {0 * change * t, change * t, -change * t, 0.5 * change * Sin(t * Rand({n, 1}, 20, 40))});
  const Tensor pitch = Rand({n, 1}, 1200, 2500) + moves[{kinds, Arange(n)}];
  const Tensor phase = Rand({n, 1}) + Cumsum(pitch, 1) / kRate;  // turns
  return Rand({n, 1}, 0.3, 1) * Sin(phase * (2 * std::numbers::pi)) + 0.3 * Randn({n, kLength});
}

// How loud each pitch is at each moment: [n, t] -> [n, 1, 40, moments].
struct Spectrogram : nn::Layer {
  Tensor& window = AddBuffer("window", HannWindow(512));
  Tensor& bank = AddBuffer("bank", MelFilterBank(40, 512, kRate));

  Tensor Forward(const Tensor& x) override {
    const Tensor parts = Stft(x, 512, {.hop = 256, .window = window});  // [n, 257, moments, 2]
    const Tensor power = Square(parts).Sum({3}).Transpose(1, 2);
    return Log(Matmul(power, bank) + 1).Transpose(1, 2).Unsqueeze(1);  // logarithms, as ears do
  }
};

struct Net : nn::Layer {
  Spectrogram& spectrogram = Add<Spectrogram>("spectrogram");
  nn::BatchNorm2d& norm = Add<nn::BatchNorm2d>("norm");
  nn::Conv2d& conv1 = Add<nn::Conv2d>("conv1", {.out = 16, .kernel = 5, .padding = 2});
  nn::Conv2d& conv2 = Add<nn::Conv2d>("conv2", {.out = 32, .kernel = 3, .padding = 1});
  nn::Linear& head = Add<nn::Linear>("head", {.out = 4});

  Tensor Forward(const Tensor& x) override {
    const Tensor h = MaxPool2d(Relu(conv1(norm(spectrogram(x)))), 2);
    return head(Mean(Relu(conv2(h)), {2, 3}));
  }
};

int main(int argc, char** argv) {
  const int64_t steps = argc > 1 ? std::stoll(argv[1]) : 300;
  ManualSeed(1);
  Net net;
  const auto draw = [] { return Randint(0, 4, {32}); };
  Tensor kinds = draw();
  net(Tones(kinds));  // the layers learn the sizes of their inputs
  optim::Adam adam(net.parameters(), {.lr = 1e-2});
  StaticGraph step = Freeze(
      [&](const Tensor& sounds, const Tensor& labels) {
        adam.ZeroGrad();
        Tensor loss = CrossEntropy(net(sounds), labels);
        loss.Backward();
        adam.Step();
        return loss;
      },
      Tones(kinds), kinds);
  optim::Scheduler schedule(adam, optim::CosineLr({.steps = steps}));
  for (int64_t i = 1; i <= steps; ++i) {
    kinds = draw();
    const Tensor loss = step(Tones(kinds), kinds);
    schedule.Step();
    if (i % 50 == 0) std::cout << "step " << i << ": loss " << loss.Item() << "\n";
  }

  const NoGradScope no_grad;
  net.Eval();
  nn::StaticModule fast(net);
  double right = 0;
  for (int i = 0; i < 16; ++i) {
    kinds = draw();
    right += Eq(Argmax(fast(Tones(kinds)), 1), kinds).To(DType::kF32).Mean().Item();
  }
  std::cout << "new tones heard rightly: " << right / 16 << "\n";

  // Prints one sound of each kind, high pitches above.
  const Tensor tones = Tones(Arange(4));
  const Tensor pictures = MaxPool2d(net.spectrogram(tones), {.kernel = {4, 1}}).Flip({2});
  const Tensor heard = Argmax(net(tones), 1);
  for (int64_t row = 0; row < pictures.size(2); ++row) {
    for (int64_t i = 0; i < 4; ++i) {
      for (const double v : pictures[{i, 0, row}].ToVector<double>()) {
        std::cout << (v > 8 ? '#' : v > 7 ? '+' : v > 6 ? '.' : ' ');
      }
      std::cout << "  ";
    }
    std::cout << "\n";
  }
  for (int64_t i = 0; i < 4; ++i) {
    std::string name = kKinds[heard[i].Item<int64_t>()];
    name.resize(static_cast<size_t>(pictures.size(3)) + 2, ' ');
    std::cout << name;
  }
  std::cout << "\n";
}
