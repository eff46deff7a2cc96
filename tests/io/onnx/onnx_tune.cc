// onnx_tune MODEL DATA LR STEPS: imports the model into a module and trains it by gradient descent
// on the images and labels of a safetensors file, the same batch in each step; prints the losses.
#include <iomanip>
#include <iostream>
#include <string>

#include "absl/strings/numbers.h"
#include "firn/firn.h"
#include "firn/io/onnx/onnx.h"
#include "firn/nn/graph_module.h"
#include "firn/tensor/error.h"

int main(int argc, char** argv) {
  double lr = 0;
  int steps = 0;
  if (argc != 5 || !absl::SimpleAtod(argv[3], &lr) || !absl::SimpleAtoi(argv[4], &steps)) return 2;
  try {
    firn::nn::GraphModule net(firn::io::ImportOnnx(argv[1]));
    const firn::StateDict data = firn::io::Load(argv[2]);
    firn::optim::Sgd optimizer(net.parameters(), {.lr = lr});
    for (int i = 0; i < steps; ++i) {
      const firn::Tensor loss = firn::CrossEntropy(net(data["images"]), data["labels"]);
      std::cout << std::setprecision(9) << loss.Item<float>() << "\n";
      optimizer.ZeroGrad();
      loss.Backward();
      optimizer.Step();
    }
  } catch (const firn::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
