// Fine-tuning: a network that knows the digits 0 to 4 learns 5 to 9. The program loads its
// parameters, replaces its head, freezes its first layer, and trains the new head faster than the
// rest.

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "firn/firn.h"
#include "firn/nn/zoo/zoo.h"

using namespace firn;  // NOLINT: an example

// A network of the zoo whose last layer, "fc", tells five classes apart. For larger networks start
// from published weights: zoo::Make("resnet18", {.classes = 5}).
std::unique_ptr<nn::Layer> MakeNet() { return zoo::Make("small_resnet", {.classes = 5}); }

struct Images {
  Tensor x, y;
};

// The images of five digits, labelled from 0.
Images Five(int64_t first_digit, int64_t begin, int64_t end) {
  auto [x, y] = io::Digits()->GetBatch(Arange(begin, end).ToVector<int64_t>());
  const Tensor chosen = LogicalAnd(Ge(y, first_digit), Lt(y, first_digit + 5));
  return {x[chosen], y[chosen] - first_digit};
}

double Accuracy(nn::Layer& net, const Images& test) {
  const NoGradScope no_grad;
  net.Eval();
  return Eq(Argmax(net(test.x), 1), test.y).To(DType::kF32).Mean().Item();
}

void Train(nn::Layer& net, optim::Optimizer& optimizer, const Images& train, int steps) {
  net.Train();
  for (int step = 0; step < steps; ++step) {
    optimizer.ZeroGrad();
    CrossEntropy(net(train.x), train.y).Backward();
    optimizer.Step();
  }
}

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "/tmp/firn_finetune.safetensors";
  ManualSeed(1);
  {
    const auto first = MakeNet();
    optim::Adam adam(first->parameters(), {.lr = 3e-3});
    Train(*first, adam, Five(0, 0, 600), 60);
    std::cout << "digits 0 to 4: test accuracy " << Accuracy(*first, Five(0, 1500, 1797)) << "\n";
    io::Save(path, first->state_dict());
  }
  const Images train = Five(5, 0, 100), test = Five(5, 1500, 1797);  // few images only
  const auto net = MakeNet();
  // Loads all parameters but those of the head, which keeps its random numbers.
  StateDict known = io::Load(path);
  for (const char* name : {"fc.weight", "fc.bias"}) known.Erase(name);
  std::cout << "from the file: " << net->LoadStateDict(known, {.strict = false});
  net->FindChild("conv1")->SetTrainable(false);
  std::cout << "before: test accuracy " << Accuracy(*net, test) << "\n";
  optim::Adam adam(net->FindChild("fc")->parameters(), {.lr = 1e-2});
  for (const char* name : {"bn1", "unit1", "unit2", "unit3"}) {
    adam.AddGroup(net->FindChild(name)->parameters(), {.lr = 1e-3});  // a tenth of the head's rate
  }
  const Tensor first = net->FindChild("conv1")->parameters()[0];
  const std::vector<float> frozen = first.ToVector<float>();
  Train(*net, adam, train, 60);
  const bool same = first.ToVector<float>() == frozen;
  std::cout << "digits 5 to 9 from " << train.x.shape()[0] << " images: test accuracy "
            << Accuracy(*net, test) << ", the frozen layer is " << (same ? "as it was" : "changed")
            << "\n";
}
