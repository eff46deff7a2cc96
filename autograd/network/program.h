#ifndef FIRN_AUTOGRAD_NETWORK_PROGRAM_H_
#define FIRN_AUTOGRAD_NETWORK_PROGRAM_H_

// A network bound to the shapes of its inputs: steps over numbered tensors.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/network/definition.h"
#include "firn/tensor/tensor.h"

namespace firn::autograd {

struct Program {
  struct Call {
    Step step;
    const std::string* scope;  // the node's name
    const std::string* what;
    std::vector<int> in, out;  // slots; kNoValue: absent, unwanted
    std::vector<int> release;  // slots that no later call needs
  };
  std::vector<Call> calls;
  std::vector<std::pair<int, Tensor>> constants;  // on the device of the run
  std::vector<int> outputs;
  // Inputs, by their number, whose elements decided the calls, and these elements on the CPU: the
  // program is valid for inputs with equal elements.
  std::vector<std::pair<size_t, Tensor>> elements;
  int num_slots = 0;                                    // first the inputs, then the parameters
  std::shared_ptr<const NetworkDefinition> definition;  // has the names

  // Whether `inputs`, of the right shapes, have these elements. In a capture, which must not look
  // at elements, true only if there are none to compare.
  bool HoldsFor(absl::Span<const Tensor> inputs) const;
  TensorList Run(absl::Span<const Tensor> inputs, absl::Span<const Tensor> parameters) const;
};

// Goes through the network once with these inputs. Nothing is recorded, neither for backward nor in
// a capture, in which no elements of inputs are looked at. Throws firn::Error, naming the source
// and the node.
Program Bind(std::shared_ptr<const NetworkDefinition> definition, absl::Span<const Tensor> inputs,
             absl::Span<const Tensor> parameters);

}  // namespace firn::autograd

#endif  // FIRN_AUTOGRAD_NETWORK_PROGRAM_H_
