// Fine-tuning: a network that knows the digits 0 to 4 learns 5 to 9. Its parameters are loaded, its
// head is replaced, the first layer is frozen, and what is new learns faster than what is not.

#include <iostream>
#include <string>
#include <vector>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

struct Net : nn::Layer {
  nn::Conv2d& conv1 = Add<nn::Conv2d>("conv1", {.out = 16, .kernel = 3, .padding = 1});
  nn::Conv2d& conv2 = Add<nn::Conv2d>("conv2", {.out = 32, .kernel = 3, .padding = 1});
  nn::Linear& head = Add<nn::Linear>("head", {.out = 5});

  Tensor Forward(const Tensor& x) override {
    return head(Flatten(MaxPool2d(Relu(conv2(Relu(conv1(x)))), 2), 1));
  }
};

struct Images {
  Tensor x, y;
};

// The images of five digits, labelled from 0.
Images Five(int64_t first_digit, int64_t begin, int64_t end) {
  auto [x, y] = io::Digits()->GetBatch(Arange(begin, end).ToVector<int64_t>());
  const Tensor chosen = LogicalAnd(Ge(y, first_digit), Lt(y, first_digit + 5));
  return {x[chosen], y[chosen] - first_digit};
}

double Accuracy(Net& net, const Images& test) {
  const NoGradScope no_grad;
  return Eq(Argmax(net(test.x), 1), test.y).To(DType::kF32).Mean().Item();
}

void Train(Net& net, optim::Optimizer& optimizer, const Images& train, int steps) {
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
    Net first;
    const Images train = Five(0, 0, 600);
    first(train.x);  // deferred sizes become known
    optim::Adam adam(first.parameters(), {.lr = 3e-3});
    Train(first, adam, train, 40);
    std::cout << "digits 0 to 4: test accuracy " << Accuracy(first, Five(0, 1500, 1797)) << "\n";
    io::Save(path, first.state_dict());
  }
  const Images train = Five(5, 0, 100), test = Five(5, 1500, 1797);  // few images only
  Net net;
  net(train.x);
  // All but the head, which keeps its random numbers.
  StateDict known = io::Load(path);
  for (const char* name : {"head.weight", "head.bias"}) known.Erase(name);
  std::cout << "from the file: " << net.LoadStateDict(known, {.strict = false});
  for (Tensor& p : net.conv1.parameters()) p.SetRequiresGrad(false);
  std::cout << "before: test accuracy " << Accuracy(net, test) << "\n";
  optim::Adam adam(net.head.parameters(), {.lr = 1e-2});
  adam.AddGroup(net.conv2.parameters(), {.lr = 1e-3});  // a tenth of the head's rate
  const std::vector<float> frozen = net.conv1.parameters()[0].ToVector<float>();
  Train(net, adam, train, 40);
  const bool same = net.conv1.parameters()[0].ToVector<float>() == frozen;
  std::cout << "digits 5 to 9 from " << train.x.shape()[0] << " images: test accuracy "
            << Accuracy(net, test) << ", the frozen layer is " << (same ? "as it was" : "changed")
            << "\n";
}
