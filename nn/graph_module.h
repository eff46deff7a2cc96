#ifndef FIRN_NN_GRAPH_MODULE_H_
#define FIRN_NN_GRAPH_MODULE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/network/network.h"
#include "firn/nn/layer.h"

namespace firn::nn {

// A network from a file as a module, which can be trained further, saved, moved, or be part of
// another:
//
//   nn::GraphModule net(io::ImportOnnx("resnet18.onnx"));
//   optim::Sgd optimizer(net.parameters(), {.lr = 1e-3});
//   CrossEntropy(net(images), labels).Backward();
//
// It has copies of the network's parameters, and of its running statistics as buffers, under their
// names: those with dots become modules within it, so that "layer1.0.conv1.weight" of PyTorch has
// this name in state_dict() too. A name that is impossible in modules (with an empty part, or one
// that is both a tensor and a module) is kept at the root, with "/" for its dots.
//
// It computes the same in both modes: files hold networks for inference, in which batch
// normalisation uses the running statistics and dropout does nothing. The parameters must keep
// their dtypes, since the file's other nodes expect them. Thread-compatible.
class GraphModule : public Layer {
 public:
  explicit GraphModule(const Network& network);

  // Runs the network with any number of inputs and outputs; calling the module like a layer takes
  // one of each. Hooks do not see this call.
  TensorList Call(absl::Span<const Tensor> inputs);

  std::string Describe() const override;

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  class Part;

  TensorList Run(absl::Span<const Tensor> inputs);

  const Network network_;               // without parameters
  std::vector<const Tensor*> tensors_;  // in the network's order
};

}  // namespace firn::nn

#endif  // FIRN_NN_GRAPH_MODULE_H_
