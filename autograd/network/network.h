#ifndef FIRN_AUTOGRAD_NETWORK_NETWORK_H_
#define FIRN_AUTOGRAD_NETWORK_NETWORK_H_

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/network/port.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace autograd {
struct NetworkDefinition;  // autograd/network/definition.h
struct Program;
}  // namespace autograd

// A network that a file described (io/onnx/onnx.h): a function of tensors with parameters.
//
//   Network net = io::ImportOnnx("net.onnx");
//   Tensor scores = net(images);
//
// A call runs operations as a program written in C++ would: they are recorded for backward, and
// captured by Freeze and nn::StaticModule. The first call with inputs of new shapes goes through
// the file's nodes, finds out which values shapes and constants determine, and chooses operations
// for the others. The network keeps the result for later calls with the same shapes, for the last
// few shapes.
//
// Copies are one network with the same parameters. Several threads may call it at once as long as
// none changes its parameters. Calls do change them if the file's functions write into parameters
// (NNabla's batch statistics, Assign). Each thread may want SetNumThreads(1).
class Network {
 public:
  Network() = default;  // empty: throws when called
  // Throws when `parameters` are not those that the definition names.
  Network(std::shared_ptr<const autograd::NetworkDefinition> definition, StateDict parameters);

  const std::vector<autograd::NetworkPort>& inputs() const;
  const std::vector<autograd::NetworkPort>& outputs() const;
  // Parameters under the names of the file. Tensors whose requires_grad is set get gradients.
  const StateDict& parameters() const { return parameters_; }

  // Names of the parameters that training does not change, such as running statistics.
  const std::vector<std::string>& buffers() const;

  // For one output.
  template <class... Inputs>
  requires(sizeof...(Inputs) > 0 && (std::convertible_to<const Inputs&, Tensor> && ...)) Tensor
  operator()(const Inputs&... inputs) const {
    const Tensor in[] = {Tensor(inputs)...};
    return CallForOne(in);
  }
  // For any number. Throws InvalidArgument when inputs are not as inputs() says.
  TensorList Call(absl::Span<const Tensor> inputs) const;
  // Calls with other tensors in place of parameters(), in their order and of their dtypes and
  // shapes.
  TensorList Call(absl::Span<const Tensor> inputs, absl::Span<const Tensor> parameters) const;

  // The same network without parameters of its own, which calls must bring: for code that keeps
  // them itself.
  Network Bare() const;

 private:
  class Programs;

  const autograd::NetworkDefinition& definition() const;
  Tensor CallForOne(absl::Span<const Tensor> inputs) const;
  void Check(absl::Span<const Tensor> inputs) const;

  std::shared_ptr<const autograd::NetworkDefinition> definition_;
  StateDict parameters_;
  std::shared_ptr<Programs> programs_;  // of the last few kinds of calls, also of copies
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_NETWORK_NETWORK_H_
