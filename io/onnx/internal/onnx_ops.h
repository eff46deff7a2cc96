#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_OPS_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_OPS_H_

// The operators of ONNX that Firn imports, each registered on a page of io/onnx/ops:
//
//   // Gelu: x times the normal distribution's function of x.
//   const OnnxOps gelu("Gelu", 20, [](OnnxCall& call) -> Step {
//     const std::string how = call.Text("approximate", "none");
//     return [how](In in) { return TensorList{Gelu(in[0], how == "tanh" ? ...)}; };
//   });
//   // Tanh, since version 6, of one input.
//   const OnnxOps tanh("Tanh", 6, Unary(Tanh));

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/autograd/network/definition.h"
#include "firn/autograd/network/node_call.h"
#include "firn/io/onnx/internal/onnx_model.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

using autograd::BoundValue;
using autograd::RefuseNode;
using autograd::RefuseUnsupported;
using autograd::Step;

// The tensors of a node's inputs, undefined ones where a name is empty. A file may leave out the
// last ones, needed or not: asking for one that is not there throws.
class In : public absl::Span<const Tensor> {
 public:
  template <class Tensors>
  requires std::convertible_to<const Tensors&, absl::Span<const Tensor>> In(const Tensors& tensors)
      : Span(tensors) {}  // implicit, as Span's own

  const Tensor& operator[](size_t i) const {
    if (i >= size()) RefuseNode("input ", i, ": expected a tensor, got ", size(), " inputs");
    return data()[i];
  }
};

// A node in the form that the definition of its operator needs.
struct OnnxNodeInfo {
  int64_t opset = 0;                      // of the node's domain, as the model imports it
  std::vector<OnnxAttribute> attributes;  // no references
  std::vector<Tensor> tensors;            // of attributes of type TENSOR, in their order
  std::vector<std::string> graphs;        // names of attributes that are the node's bodies
};

// The attributes of a node. An absent one has the value of the getter's second argument; a getter
// without one throws.
class OnnxNodeAttributes {
 public:
  explicit OnnxNodeAttributes(const OnnxNodeInfo* info) : info_(*info) {}

  int64_t opset() const { return info_.opset; }
  bool Has(std::string_view attribute) const { return Find(attribute) != nullptr; }
  int64_t Int(std::string_view attribute) const;
  int64_t Int(std::string_view attribute, int64_t otherwise) const;
  // An integer that is 0 or 1. Throws for any other, which readers take for either.
  bool Flag(std::string_view attribute, bool otherwise) const;
  // The format's defaults: 1e-5f.
  double Float(std::string_view attribute) const;
  double Float(std::string_view attribute, double otherwise) const;
  std::string Text(std::string_view attribute) const;
  std::string Text(std::string_view attribute, std::string_view otherwise) const;
  // Throws for a value that is not allowed, naming those that are.
  std::string OneOf(std::string_view attribute, std::string_view otherwise,
                    absl::Span<const std::string_view> possible) const;
  std::optional<std::vector<int64_t>> Ints(std::string_view attribute) const;
  std::optional<std::vector<float>> Floats(std::string_view attribute) const;
  std::optional<std::vector<std::string>> Texts(std::string_view attribute) const;
  // On the CPU; undefined if it is absent.
  firn::Tensor Tensor(std::string_view attribute) const;
  // The type of an attribute that holds an element type's number. Throws for types that Firn does
  // not have.
  DType Element(std::string_view attribute, DType otherwise) const;

 protected:
  const OnnxAttribute* Find(std::string_view attribute) const;

  const OnnxNodeInfo& info_;
};

// The view that a lowering has of its node: inputs (autograd::NodeCall) and attributes.
class OnnxCall : public OnnxNodeAttributes {
 public:
  OnnxCall(autograd::NodeCall* call, const OnnxNodeInfo* info)
      : OnnxNodeAttributes(info), node(*call) {}

  autograd::NodeCall& node;

  // The body that was made from a graph of the node.
  const autograd::NetworkBody& Graph(std::string_view attribute) const;

  // Integers of an attribute in older versions, of an input in newer ones; nothing for neither.
  std::optional<std::vector<int64_t>> IntsOf(std::string_view attribute, size_t input) const;
  // `axis` of `rank` dimensions counted from the front. Throws when there is none, or one twice.
  int64_t Axis(int64_t axis, int rank) const;
  std::vector<int64_t> Axes(absl::Span<const int64_t> axes, int rank) const;
};

// Returns the node's step, or an empty one if it has given the outputs itself (NodeCall::Return).
using OnnxLowering = std::function<Step(OnnxCall& call)>;
// Throws, by RefuseUnsupported, if Firn does not have what the attributes ask for. It is called
// when a file is imported, which lists all such nodes, and again before each lowering, which need
// not repeat it; that is when other errors that it throws are told.
using OnnxCheck = std::function<void(const OnnxNodeAttributes& node)>;

struct OnnxOpOptions {
  std::string_view domain = "";
  // Inputs whose elements decide what is computed, such as sizes, axes and scales: initializers
  // that only they use are no parameters.
  std::vector<size_t> settings = {};
  // Positions of float initializers that training does not change: running statistics.
  std::vector<size_t> buffers = {};
  bool draws = false;  // random numbers
  OnnxCheck check = nullptr;
  // In place of a lowering: the reason why there is none ("strings").
  std::string_view refused = "";
};

struct OnnxOp {
  std::string_view name;
  int64_t since;  // the first opset for which this is the definition
  OnnxLowering lower;
  OnnxOpOptions options;
};

// Registers an operator, before main(). A further definition of the name with a later `since`
// replaces it from that opset on.
class OnnxOps {
 public:
  OnnxOps(std::string_view name, int64_t since, OnnxLowering lower, OnnxOpOptions options = {});
};

// The dtype of an element type's number. Unimplemented, naming it, where there is none.
absl::StatusOr<DType> TryOnnxDType(int64_t element);

// The check of an operator with an attribute that holds an element type's number.
OnnxCheck HasElement(std::string_view attribute);

// Null if there is no such operator, or only one of later opsets.
const OnnxOp* FindOnnxOp(std::string_view domain, std::string_view name, int64_t opset);

// Why Firn does not have the operator with these attributes; "" if it has none of this name (null),
// nothing if it has it.
std::optional<std::string> RefusalOf(const OnnxOp* op, const OnnxNodeInfo& info);
// The operator's check and then its lowering. `op` must outlive it.
autograd::Lowering LoweringOf(const OnnxOp& op, std::shared_ptr<const OnnxNodeInfo> info);

// In the order of domain, name and version.
void ForEachOnnxOp(const std::function<void(const OnnxOp&)>& f);

// --- Shapes of many operators -------------------------------------------------------------------

// An operator that is a function of one, two or any number of tensors; up to opset 7 these have
// equal shapes.
OnnxLowering Unary(std::function<Tensor(const Tensor&)> f);
OnnxLowering Binary(std::function<Tensor(const Tensor&, const Tensor&)> f);
// Like Binary, for opsets up to 6: the second operand is laid upon dimensions of the first from
// attribute "axis" on, or upon its last ones, if attribute "broadcast" allows that.
OnnxLowering BinaryLaid(std::function<Tensor(const Tensor&, const Tensor&)> f);
OnnxLowering Variadic(std::function<Tensor(In)> f);

// The step that gives f's result as the only output.
template <class F>
Step One(F f) {
  return [f = std::move(f)](In in) { return TensorList{f(in)}; };
}

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_OPS_H_
