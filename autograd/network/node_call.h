#ifndef FIRN_AUTOGRAD_NETWORK_NODE_CALL_H_
#define FIRN_AUTOGRAD_NETWORK_NODE_CALL_H_

// The view that a lowering has of its node while a network is bound to the shapes of its inputs.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/network/definition.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/tensor.h"

namespace firn::autograd {

class Binder;

// A value while a network is bound: a tensor, or a list of values (ONNX's sequences and optionals,
// of which only the length must be known).
struct BoundValue {
  enum class Kind { kAbsent, kTensor, kList };

  Kind kind = Kind::kAbsent;
  // For a known value, the elements that every run with these shapes has, on the CPU. Otherwise the
  // elements of the run that finds out about shapes, as long as a node needs them; `spec` stays.
  Tensor tensor;
  TensorSpec spec;
  bool known = false;
  bool drawn = false;     // from random numbers
  std::vector<int> from;  // the network's inputs that it depends on, in order
  int slot = -1;          // in the program, if it has one
  std::vector<BoundValue> items;

  bool is_tensor() const { return kind == Kind::kTensor; }
  bool is_list() const { return kind == Kind::kList; }
  // True if the elements may differ between runs; otherwise shapes, constants and parameters
  // determine them.
  bool varies() const { return drawn || !from.empty(); }
};

BoundValue ListOf(std::vector<BoundValue> items);

// Goes through bodies of a node, one after the other.
class Control {
 public:
  virtual ~Control() = default;
  // Gives the next body's inputs to call.Set and returns the body; once all have run, gives the
  // node's outputs to call.Return and returns null.
  virtual const NetworkBody* Next(NodeCall& call) = 0;
};

class NodeCall {
 public:
  NodeCall(Binder* binder, const NetworkNode* node) : binder_(binder), node_(node) {}

  const NetworkNode& node() const { return *node_; }
  size_t num_inputs() const { return node_->inputs.size(); }
  // How many outputs the node lists; the last ones may be unwanted.
  size_t num_outputs() const { return node_->outputs.size(); }
  bool Wants(size_t output) const;
  bool Has(size_t input) const;
  // An absent value for an input that is not there.
  const BoundValue& Input(size_t input) const;

  // The spec of a tensor. Throws when it is absent or a list.
  const TensorSpec& Spec(size_t input) const;
  const Shape& ShapeAt(size_t input) const { return Spec(input).shape; }
  int Rank(size_t input) const { return Spec(input).shape.rank(); }
  DType DTypeAt(size_t input) const { return Spec(input).dtype; }

  // Whether elements are the same in every run with these shapes.
  bool IsKnown(size_t input) const;
  // The elements of a value, row-major on the CPU; `what` ("axes") is for messages. If parameters
  // determine the value, their present elements count. If the network's inputs do, the program is
  // valid only for inputs with equal elements, and is bound again for others. Throws in a capture,
  // which would keep the elements for ever, and for random values.
  Tensor Known(size_t input, std::string_view what) const;
  Tensor Known(const BoundValue& value, std::string_view what) const;
  // Whether Known may be asked for values that the network's inputs determine: false in a capture.
  bool MayLook() const;
  std::vector<int64_t> KnownInts(size_t input, std::string_view what) const;
  int64_t KnownInt(size_t input, std::string_view what) const;
  double KnownNumber(size_t input, std::string_view what) const;

  // Runs a step on values and makes it part of the program, unless all of them are known: then the
  // results are. For lowerings that return none.
  std::vector<BoundValue> Run(const Step& step, absl::Span<const BoundValue> in);
  // A value whose elements are the same in every run.
  static BoundValue Constant(Tensor tensor);
  // The node's outputs, all that are wanted.
  void Return(std::vector<BoundValue> outputs);
  void Return(Tensor known) { Return(std::vector<BoundValue>{Constant(std::move(known))}); }

  const NetworkBody& Body(size_t i) const { return *node_->bodies[i]; }
  // A body's input or output.
  void Set(int value, BoundValue to);
  const BoundValue& Get(int value) const;
  // Called when the lowering has returned, with an empty step.
  void Enter(std::unique_ptr<Control> control) { control_ = std::move(control); }

 private:
  friend class Binder;

  Binder* binder_;
  const NetworkNode* node_;
  std::unique_ptr<Control> control_;
  bool returned_ = false;
};

// Throws InvalidArgument with the parts put together.
template <class... Parts>
[[noreturn]] void RefuseNode(const Parts&... parts) {
  RaiseStatus(InvalidArgument(parts...), "network");
}

// Throws Unimplemented: the file is right, and Firn does not do it.
template <class... Parts>
[[noreturn]] void RefuseUnsupported(const Parts&... parts) {
  RaiseStatus(Unimplemented(parts...), "network");
}

}  // namespace firn::autograd

#endif  // FIRN_AUTOGRAD_NETWORK_NODE_CALL_H_
