#ifndef FIRN_NN_GRAPH_MODULE_H_
#define FIRN_NN_GRAPH_MODULE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/network/network.h"
#include "firn/nn/layer.h"

namespace firn::nn {

// A network of a file as a module, to be trained further, saved, moved, or part of another:
//
//   nn::GraphModule net(io::ImportOnnx("resnet18.onnx").network);
//   optim::Sgd optimizer(net.parameters(), {.lr = 1e-3});
//   CrossEntropy(net(images), labels).Backward();
//
// It has copies of the network's parameters, and of its running statistics as buffers, under their
// names: those with dots become modules within it, so that "layer1.0.conv1.weight" of PyTorch has
// this name in state_dict() too. A name that no module can have (an empty part, or one that is both
// a tensor and a module) stands at the root with "/" for its dots.
//
// It computes what the file says in both modes: files hold networks for inference, in which batch
// normalisation uses the running statistics and dropout does nothing. The parameters must keep
// their dtypes, which the file's other nodes have. Thread-compatible.
class GraphModule : public Layer {
 public:
  explicit GraphModule(const Network& network);

  // For any number of inputs and outputs; a call as of a layer is for one of each. Hooks do not see
  // it.
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
