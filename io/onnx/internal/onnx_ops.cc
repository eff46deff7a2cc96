// The registry: pages fill it in before main(), and readers find the newest definition that is not
// newer than a model's opset.

#include "firn/io/onnx/internal/onnx_ops.h"

#include <map>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "firn/io/onnx/internal/onnx_elements.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

// Domain and name, then version.
using Registry = std::map<std::pair<std::string_view, std::string_view>, std::map<int64_t, OnnxOp>>;

Registry& AllOps() {
  static auto* const all = new Registry;
  return *all;
}

template <class T>
const T& ValueOf(const OnnxAttribute& attribute, const char* expected) {
  const T* const value = std::get_if<T>(&attribute.value);
  if (value == nullptr) {
    RefuseNode("attribute \"", attribute.name, "\" is expected to be ", expected,
               ", it is of type ", static_cast<int>(attribute.type));
  }
  return *value;
}

}  // namespace

OnnxOps::OnnxOps(std::string_view name, int64_t since, OnnxLowering lower, OnnxOpOptions options) {
  const std::string_view domain = options.domain;
  AllOps()[{domain, name}].insert_or_assign(
      since, OnnxOp{name, since, std::move(lower), std::move(options)});
}

const OnnxOp* FindOnnxOp(std::string_view domain, std::string_view name, int64_t opset) {
  const auto found = AllOps().find({domain, name});
  if (found == AllOps().end()) return nullptr;
  const auto newer = found->second.upper_bound(opset);
  return newer == found->second.begin() ? nullptr : &std::prev(newer)->second;
}

std::optional<std::string> RefusalOf(const OnnxOp* op, const OnnxNodeInfo& info) {
  if (op == nullptr) return "";
  if (!op->options.refused.empty()) return std::string(op->options.refused);
  if (op->options.check == nullptr) return std::nullopt;
  try {
    op->options.check(OnnxNodeAttributes(&info));
  } catch (const Error& error) {
    if (error.code() == absl::StatusCode::kUnimplemented) {
      return std::string(error.status().message());
    }
  }
  return std::nullopt;
}

autograd::Lowering LoweringOf(const OnnxOp& op, std::shared_ptr<const OnnxNodeInfo> info) {
  return [&op, info = std::move(info)](autograd::NodeCall& call) {
    OnnxCall c(&call, info.get());
    if (op.options.check != nullptr) op.options.check(c);
    return op.lower(c);
  };
}

void ForEachOnnxOp(const std::function<void(const OnnxOp&)>& f) {
  for (const auto& [name, versions] : AllOps()) {
    for (const auto& [since, op] : versions) f(op);
  }
}

// --- Attributes ---------------------------------------------------------------------------------

const OnnxAttribute* OnnxNodeAttributes::Find(std::string_view attribute) const {
  for (const OnnxAttribute& a : info_.attributes) {
    if (a.name == attribute) return &a;
  }
  return nullptr;
}

int64_t OnnxNodeAttributes::Int(std::string_view attribute) const {
  if (!Has(attribute)) RefuseNode("attribute \"", attribute, "\" is missing");
  return Int(attribute, 0);
}

int64_t OnnxNodeAttributes::Int(std::string_view attribute, int64_t otherwise) const {
  const OnnxAttribute* const a = Find(attribute);
  return a == nullptr ? otherwise : ValueOf<int64_t>(*a, "an integer");
}

bool OnnxNodeAttributes::Flag(std::string_view attribute, bool otherwise) const {
  const int64_t value = Int(attribute, otherwise ? 1 : 0);
  if (value == 0 || value == 1) return value == 1;
  RefuseNode("attribute \"", attribute, "\" is expected to be 0 or 1, it is ", value);
}

double OnnxNodeAttributes::Float(std::string_view attribute) const {
  if (!Has(attribute)) RefuseNode("attribute \"", attribute, "\" is missing");
  return Float(attribute, 0);
}

double OnnxNodeAttributes::Float(std::string_view attribute, double otherwise) const {
  const OnnxAttribute* const a = Find(attribute);
  return a == nullptr ? otherwise : double{ValueOf<float>(*a, "a number")};
}

std::string OnnxNodeAttributes::Text(std::string_view attribute) const {
  if (!Has(attribute)) RefuseNode("attribute \"", attribute, "\" is missing");
  return Text(attribute, "");
}

std::string OnnxNodeAttributes::Text(std::string_view attribute, std::string_view otherwise) const {
  const OnnxAttribute* const a = Find(attribute);
  return a == nullptr ? std::string(otherwise) : ValueOf<std::string>(*a, "a string");
}

std::string OnnxNodeAttributes::OneOf(std::string_view attribute, std::string_view otherwise,
                                      absl::Span<const std::string_view> possible) const {
  std::string text = Text(attribute, otherwise);
  for (std::string_view p : possible) {
    if (text == p) return text;
  }
  std::string all;
  for (std::string_view p : possible) all.append(all.empty() ? "" : ", ").append(p);
  RefuseNode("attribute \"", attribute, "\" is expected to be one of ", all, ", got \"", text,
             "\"");
}

std::optional<std::vector<int64_t>> OnnxNodeAttributes::Ints(std::string_view attribute) const {
  const OnnxAttribute* const a = Find(attribute);
  if (a == nullptr) return std::nullopt;
  return ValueOf<std::vector<int64_t>>(*a, "integers");
}

std::optional<std::vector<float>> OnnxNodeAttributes::Floats(std::string_view attribute) const {
  const OnnxAttribute* const a = Find(attribute);
  if (a == nullptr) return std::nullopt;
  return ValueOf<std::vector<float>>(*a, "numbers");
}

std::optional<std::vector<std::string>> OnnxNodeAttributes::Texts(
    std::string_view attribute) const {
  const OnnxAttribute* const a = Find(attribute);
  if (a == nullptr) return std::nullopt;
  return ValueOf<std::vector<std::string>>(*a, "strings");
}

firn::Tensor OnnxNodeAttributes::Tensor(std::string_view attribute) const {
  size_t at = 0;
  for (const OnnxAttribute& a : info_.attributes) {
    if (a.name == attribute) {
      ValueOf<std::vector<OnnxTensor>>(a, "a tensor");
      if (at < info_.tensors.size() && a.type == OnnxAttributeType::kTensor) {
        return info_.tensors[at];
      }
      RefuseNode("attribute \"", attribute, "\" is expected to be one tensor");
    }
    at += a.type == OnnxAttributeType::kTensor ? 1 : 0;
  }
  return firn::Tensor();
}

DType OnnxNodeAttributes::Element(std::string_view attribute, DType otherwise) const {
  if (!Has(attribute)) return otherwise;
  return ValueOrRaise(TryOnnxDType(Int(attribute)), "onnx");
}

const autograd::NetworkBody& OnnxCall::Graph(std::string_view attribute) const {
  for (size_t i = 0; i < info_.graphs.size(); ++i) {
    if (info_.graphs[i] == attribute) return node.Body(i);
  }
  RefuseNode("attribute \"", attribute, "\" is missing");
}

std::optional<std::vector<int64_t>> OnnxCall::IntsOf(std::string_view attribute,
                                                     size_t input) const {
  if (node.Has(input)) return node.KnownInts(input, attribute);
  return Ints(attribute);
}

int64_t OnnxCall::Axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) {
    RefuseNode("axis ", axis, " is expected in [", -rank, ", ", rank - 1, "]");
  }
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> OnnxCall::Axes(absl::Span<const int64_t> axes, int rank) const {
  std::vector<int64_t> result;
  for (int64_t axis : axes) {
    const int64_t counted = Axis(axis, rank);
    for (int64_t other : result) {
      if (other == counted) RefuseNode("axis ", axis, " comes twice");
    }
    result.push_back(counted);
  }
  return result;
}

OnnxCheck HasElement(std::string_view attribute) {
  return [attribute](const OnnxNodeAttributes& node) { node.Element(attribute, DType::kF32); };
}

absl::StatusOr<DType> TryOnnxDType(int64_t element) {
  const OnnxElement* const known = FindOnnxElement(element);
  if (known != nullptr) {
    for (int i = 0; i < kNumDTypes; ++i) {
      if (OnnxElementOf(static_cast<DType>(i)) == element) return static_cast<DType>(i);
    }
  }
  FIRN_RETURN_IF(known == nullptr, Unimplemented("element type ", element));
  return Unimplemented("element type ", known->word);
}

// --- Shapes of operators ------------------------------------------------------------------------

OnnxLowering Unary(std::function<Tensor(const Tensor&)> f) {
  return [f = std::move(f)](OnnxCall& call) -> Step {
    call.node.Spec(0);
    return One([f](In in) { return f(in[0]); });
  };
}

OnnxLowering Binary(std::function<Tensor(const Tensor&, const Tensor&)> f) {
  return [f = std::move(f)](OnnxCall& call) -> Step {
    call.node.Spec(0);
    call.node.Spec(1);
    return One([f](In in) { return f(in[0], in[1]); });
  };
}

OnnxLowering BinaryLaid(std::function<Tensor(const Tensor&, const Tensor&)> f) {
  return [f = std::move(f)](OnnxCall& call) -> Step {
    const Shape x = call.node.ShapeAt(0), y = call.node.ShapeAt(1);
    if (!call.Flag("broadcast", false)) {
      if (!(x == y)) {
        RefuseNode("inputs are expected to have one shape without attribute \"broadcast\", got ",
                   x.ToString(), " and ", y.ToString());
      }
      return One([f](In in) { return f(in[0], in[1]); });
    }
    const int last = x.rank() - y.rank();
    const int64_t given = call.Int("axis", last), axis = given < 0 ? given + x.rank() : given;
    bool fits = axis >= 0 && axis <= last;
    for (int d = 0; fits && d < y.rank(); ++d) fits = y[d] == 1 || y[d] == x[axis + d];
    if (!fits) {
      RefuseNode("input 1, ", y.ToString(),
                 ", is expected to lie within the dimensions of input 0, ", x.ToString(),
                 ", from axis ", given, " on");
    }
    std::vector<int64_t> laid(y.begin(), y.end());
    laid.resize(static_cast<size_t>(x.rank() - axis), 1);
    return One([f, laid](In in) { return f(in[0], Reshape(in[1], laid)); });
  };
}

OnnxLowering Variadic(std::function<Tensor(In)> f) {
  return [f = std::move(f)](OnnxCall& call) -> Step {
    for (size_t i = 0; i < call.node.num_inputs(); ++i) call.node.Spec(i);
    if (call.node.num_inputs() == 0) RefuseNode("at least one input is expected");
    for (size_t i = 1; i < call.node.num_inputs() && call.opset() < 8; ++i) {
      if (call.node.ShapeAt(i) == call.node.ShapeAt(0)) continue;
      RefuseNode("inputs are expected to have one shape, got ", call.node.ShapeAt(0).ToString(),
                 " and ", call.node.ShapeAt(i).ToString());
    }
    return One(f);
  };
}

}  // namespace firn::io::internal
