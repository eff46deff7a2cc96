// Recurrence by hand: a network reads an image of a digit row by row, keeps what it has seen in a
// vector h, and says at the end which digit it was. Backward goes through all the steps; Detach
// cuts it off where a sequence is too long for that.

#include <iostream>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

struct RowReader : nn::Module {
  nn::Linear& x2h = Add<nn::Linear>("x2h", {.in = 8, .out = 64});
  nn::Linear& h2h = Add<nn::Linear>("h2h", {.in = 64, .out = 64});
  nn::Linear& classifier = Add<nn::Linear>("classifier", {.in = 64, .out = 10});

  // images: [n, 1, 8, 8]. With `cut`, the first rows give no gradient.
  Tensor Forward(const Tensor& images, bool cut) {
    Tensor h = Zeros({images.size(0), 64});
    for (int row = 0; row < 8; ++row) {
      h = Tanh(x2h(images[{kAll, 0, row}]) + h2h(h));
      if (cut && row == 3) h = h.Detach();  // keeps the value, without its history
    }
    return classifier(h);
  }
};

double Accuracy(RowReader& net, io::DataLoader& data) {
  const NoGradScope no_grad;
  double right = 0;
  for (auto [images, labels] : data) {
    right += Eq(Argmax(net.Forward(images, false), 1), labels).To(DType::kF32).Sum().Item();
  }
  return right / static_cast<double>(data.dataset().size());
}

int main() {
  for (const bool cut : {false, true}) {
    RowReader net;
    optim::Adam adam(net.parameters(), {.lr = 3e-3});
    io::DataLoader train(io::Digits({.part = io::DigitsOptions::Part::kTrain}),
                         {.batch = 50, .shuffle = true});
    io::DataLoader test(io::Digits({.part = io::DigitsOptions::Part::kTest}), {.batch = 99});
    for (int epoch = 0; epoch < 15; ++epoch) {
      for (auto [images, labels] : train) {
        adam.ZeroGrad();
        CrossEntropy(net.Forward(images, cut), labels).Backward();
        adam.Step();
      }
    }
    std::cout << (cut ? "gradient of the last four rows" : "gradient of all rows")
              << ": test accuracy " << Accuracy(net, test) << "\n";
  }
}
