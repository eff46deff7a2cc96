// One embedding, used twice: a siamese network (R. Hadsell, S. Chopra and Y. LeCun, 2006) learns to
// place digits in the plane so that equal ones lie close together. Gradients of both uses add up in
// the shared parameters. `siamese FILE.svg` draws where it places digits that it has not seen.

#include <fstream>
#include <iostream>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

struct Embedder : nn::Layer {
  nn::Linear& fc1 = Add<nn::Linear>("fc1", {.out = 64});
  nn::Linear& fc2 = Add<nn::Linear>("fc2", {.out = 2});
  Tensor Forward(const Tensor& x) override { return fc2(Relu(fc1(Flatten(x, 1)))); }
};

struct Siamese : nn::Module {
  Embedder& embed = Add<Embedder>("embed");
  // Pairs of the same digit are pulled together, others pushed apart up to a distance of 1.
  Tensor Forward(const Tensor& a, const Tensor& b, const Tensor& same) {
    Tensor d2 = Sum(Square(embed(a) - embed(b)), 1);
    return Mean(same * d2 + (1 - same) * Square(Relu(1 - Sqrt(d2 + 1e-4))));
  }
};

// Draws each point as its digit, in the digit's colour.
void Draw(const std::string& path, const Tensor& points, const Tensor& labels) {
  const Tensor low = Amin(points, 0, true), high = Amax(points, 0, true);
  const std::vector<double> at = ((points - low) / (high - low) * 460 + 20).ToVector<double>();
  const std::vector<int64_t> digits = labels.ToVector<int64_t>();
  std::ofstream svg(path);
  svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 500 500' font-size='12'>\n";
  for (size_t i = 0; i < digits.size(); ++i) {
    svg << "<text x='" << at[2 * i] << "' y='" << at[2 * i + 1] << "' fill='hsl(" << 36 * digits[i]
        << ",80%,40%)'>" << digits[i] << "</text>\n";
  }
  svg << "</svg>\n";
  if (!svg.flush()) std::cerr << "siamese: cannot write " << path << "\n";
}

int main(int argc, char** argv) {
  ManualSeed(1);
  Siamese net;
  optim::Adam adam(net.parameters(), {.lr = 2e-3});
  // A batch is two halves: image i of the first and image i of the second are a pair.
  using Part = io::DigitsOptions::Part;
  io::DataLoader pairs(io::Digits({.part = Part::kTrain}),
                       {.batch = 128, .shuffle = true, .last = io::LastBatch::kDrop});
  for (int epoch = 1; epoch <= 40; ++epoch) {
    double sum = 0;
    for (auto [images, labels] : pairs) {
      const Range first(0, 64), second(64);
      Tensor same = Eq(labels[first], labels[second]).To(DType::kF32);
      adam.ZeroGrad();
      Tensor loss = net.Forward(images[first], images[second], same);
      loss.Backward();
      adam.Step();
      sum += loss.Item();
    }
    if (epoch % 10 != 0) continue;
    const double loss = sum / static_cast<double>(pairs.size());
    std::cout << "epoch " << epoch << ": loss " << loss << "\n";
  }
  // How far apart two images of one digit are, and two of different ones.
  const NoGradScope no_grad;
  const io::DatasetPtr test = io::Digits({.part = Part::kTest});
  auto [images, labels] = test->GetBatch(Arange(test->size()).ToVector<int64_t>());
  const Tensor points = net.embed(images);
  const Tensor distances = Sqrt(Sum(Square(points.Unsqueeze(1) - points.Unsqueeze(0)), 2));
  const Tensor same = Eq(labels.Unsqueeze(1), labels.Unsqueeze(0)).To(DType::kF32);
  std::cout << "mean distance of equal digits " << (Sum(distances * same) / Sum(same)).Item()
            << ", of different ones " << (Sum(distances * (1 - same)) / Sum(1 - same)).Item()
            << "\n";
  if (argc > 1) Draw(argv[1], points, labels);
}
