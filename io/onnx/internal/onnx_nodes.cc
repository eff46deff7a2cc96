#include "firn/io/onnx/internal/onnx_nodes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/io/onnx/internal/onnx_elements.h"
#include "firn/io/onnx/internal/onnx_tensor.h"
#include "firn/tensor/from.h"

namespace firn::io::internal {
namespace {

OnnxAttribute AttributeOf(const OnnxAttr& attr) {
  using Type = OnnxAttributeType;
  // By the index of OnnxAttr::Values.
  constexpr Type kTypes[] = {Type::kInt,  Type::kFloat,  Type::kString,
                             Type::kInts, Type::kFloats, Type::kStrings};
  OnnxAttribute out;
  out.name = attr.name;
  out.type = kTypes[attr.value.index()];
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, double>) {
          out.value = static_cast<float>(value);
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          out.value = std::vector<float>(value.begin(), value.end());
        } else {
          out.value = value;
        }
      },
      attr.value);
  return out;
}

// The opset from which on an operator supports bf16 and f16, for operators that did not at opset
// 13.
struct Since {
  int bf16 = 0, f16 = 0;
};
Since HalvesSince(std::string_view op) {
  static const auto& since = *new absl::flat_hash_map<std::string_view, Since>{
      {"Acos", {22}},
      {"Acosh", {22}},
      {"Asin", {22}},
      {"Asinh", {22}},
      {"Atan", {22}},
      {"Atanh", {22}},
      {"AveragePool", {22}},
      {"BatchNormalization", {14}},
      {"Bernoulli", {22}},
      {"Col2Im", {18}},
      {"Compress", {28}},
      {"Conv", {22}},
      {"ConvTranspose", {22}},
      {"Cos", {22}},
      {"Cosh", {22}},
      {"CumSum", {14, 14}},
      {"DequantizeLinear", {19, 19}},
      {"Det", {22}},
      {"Elu", {22}},
      {"GRU", {22}},
      {"GlobalAveragePool", {22}},
      {"GreaterOrEqual", {16}},
      {"GridSample", {22}},
      {"HardSigmoid", {22}},
      {"HardSwish", {22}},
      {"IsInf", {20, 20}},
      {"LSTM", {22}},
      {"LeakyRelu", {16}},
      {"LessOrEqual", {16}},
      {"MaxPool", {22}},
      {"MaxRoiPool", {22}},
      {"Mish", {22}},
      {"NegativeLogLikelihoodLoss", {22}},
      {"OneHot", {28}},
      {"PRelu", {16}},
      {"QuantizeLinear", {19, 19}},
      {"RNN", {22}},
      {"ReverseSequence", {28}},
      {"RoiAlign", {22}},
      {"Round", {22}},
      {"Selu", {22}},
      {"Sin", {22}},
      {"Sinh", {22}},
      {"Softplus", {22}},
      {"Softsign", {22}},
      {"Tan", {22}},
      {"TopK", {24}},
      {"Where", {16}},
  };
  const auto at = since.find(op);
  return at == since.end() ? Since{} : at->second;
}

std::string UniqueIn(absl::flat_hash_set<std::string>& taken, const std::string& wish) {
  std::string name = wish;
  for (int i = 1; !taken.insert(name).second; ++i) name = absl::StrCat(wish, "_", i);
  return name;
}

}  // namespace

void OnnxNodes::Begin(std::string_view module, std::string_view operation) {
  module_ = std::string(module);
  operation_ = std::string(operation);
}

std::string OnnxNodes::Unique(const std::string& wish) { return UniqueIn(taken_, wish); }

std::vector<OnnxValue> OnnxNodes::NodeOf(const char* op, Inputs inputs,
                                         const std::vector<DType>& results, Attributes attributes) {
  const Since since = HalvesSince(op);
  const auto lacks = [&](DType dtype) {
    return (dtype == DType::kBF16 && opset_ < since.bf16) ||
           (dtype == DType::kF16 && opset_ < since.f16);
  };
  const auto wide = [&](DType dtype) { return lacks(dtype) ? DType::kF32 : dtype; };
  for (OnnxValue& input : inputs) {
    if (!input.name.empty()) input = Cast(input, wide(input.dtype));
  }
  const std::string prefix = module_.empty() ? "" : absl::StrCat(module_, "/");
  OnnxNode node;
  node.op_type = op;
  node.name = UniqueIn(node_names_, prefix + op);
  while (!inputs.empty() && inputs.back().name.empty()) inputs.pop_back();
  for (const OnnxValue& input : inputs) node.inputs.push_back(input.name);
  for (const OnnxAttr& attr : attributes) node.attributes.push_back(AttributeOf(attr));
  if (opset_ >= 21) {  // the first with names for values of nodes
    if (!module_.empty()) node.metadata.emplace_back("firn.module", module_);
    node.metadata.emplace_back("firn.operation", operation_);
  }
  std::vector<OnnxValue> values;
  for (const DType dtype : results) {
    values.push_back({Unique(prefix + operation_), wide(dtype), this});
    node.outputs.push_back(values.back().name);
  }
  graph_.nodes.push_back(std::move(node));
  for (size_t i = 0; i < values.size(); ++i) values[i] = Cast(values[i], results[i]);
  return values;
}

OnnxValue OnnxNodes::Node(const char* op, Inputs inputs, Attributes attributes,
                          std::optional<DType> dtype) {
  const DType result = dtype ? *dtype : inputs.empty() ? DType::kF32 : inputs[0].dtype;
  return NodeOf(op, std::move(inputs), {result}, std::move(attributes))[0];
}

OnnxValue OnnxNodes::Initializer(const std::string& name, const Tensor& elements) {
  graph_.initializers.push_back(OnnxTensorOf(Unique(name), elements));
  return {graph_.initializers.back().name, elements.dtype(), this};
}

OnnxValue OnnxNodes::Constant(const Tensor& elements) {
  OnnxTensor tensor = OnnxTensorOf("", elements);
  const std::string key = absl::StrCat(tensor.type, " ", absl::StrJoin(tensor.dims, ","), " ",
                                       std::string(tensor.bytes));
  auto [at, added] = constants_.try_emplace(key);
  if (added) {
    tensor.name = at->second = Unique("constant");
    graph_.initializers.push_back(std::move(tensor));
  }
  return {at->second, elements.dtype(), this};
}

OnnxValue OnnxNodes::Ints(const std::vector<int64_t>& values) {
  return Constant(FromVector(values));
}

OnnxValue OnnxNodes::Integer(int64_t value) {
  return Constant(FromVector(std::vector<int64_t>{value}, Shape({})));
}

OnnxValue OnnxNodes::Number(double value, DType dtype) {
  if (!IsFloating(dtype) && dtype != DType::kBool) {
    return Constant(
        FromVector(std::vector<int64_t>{static_cast<int64_t>(value)}, Shape({})).To(dtype));
  }
  return Constant(FromVector(std::vector<double>{value}, Shape({})).To(dtype));
}

OnnxValue OnnxNodes::Cast(OnnxValue x, DType dtype) {
  if (x.dtype == dtype) return x;
  return Node("Cast", {x}, {{"to", OnnxElementOf(dtype)}}, dtype);
}

// From 28 on the definition of ReduceLogSumExp is the logarithm of a sum of powers, which runtimes
// without a kernel compute literally, with overflow in f32. For these opsets the largest element is
// subtracted before, if it is not NaN.
OnnxValue OnnxNodes::Reduce(const char* op, OnnxValue x, const std::vector<int64_t>& dims,
                            bool keep) {
  if (opset_ < 28 || std::string_view(op) != "ReduceLogSumExp") {
    return ReduceAsIs(op, x, dims, keep);
  }
  const auto most = [&](bool kept) {
    const OnnxValue m = ReduceAsIs("ReduceMax", x, dims, kept);
    return Where(Node("IsInf", {m}, {}, DType::kBool), Number(0, m.dtype), m);
  };
  const OnnxValue less = x - most(true);
  return ReduceAsIs(op, less, dims, keep) + most(keep);
}

OnnxValue OnnxNodes::ReduceAsIs(const char* op, OnnxValue x, const std::vector<int64_t>& dims,
                                bool keep) {
  const bool as_input = opset_ >= 18 || (opset_ >= 13 && std::string_view(op) == "ReduceSum");
  Attributes attributes = {{"keepdims", keep}};
  Inputs inputs = {x};
  if (!dims.empty() && as_input) inputs.push_back(Ints(dims));
  if (!dims.empty() && !as_input) attributes.emplace_back("axes", dims);
  return Node(op, inputs, attributes);
}

OnnxValue OnnxNodes::Squeeze(OnnxValue x, const std::vector<int64_t>& dims) {
  return dims.empty() ? x : Node("Squeeze", {x, Ints(dims)});
}

OnnxValue OnnxNodes::Unsqueeze(OnnxValue x, const std::vector<int64_t>& dims) {
  return dims.empty() ? x : Node("Unsqueeze", {x, Ints(dims)});
}

OnnxValue OnnxNodes::Reshape(OnnxValue x, const std::vector<int64_t>& sizes) {
  // Older operators read 0 as the input's size. That is 0 as well, or this must be an Expand.
  const bool zero = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  if (zero && opset_ < 14) return Node("Expand", {Node("Reshape", {x, Ints({0})}), Ints(sizes)});
  return Node("Reshape", {x, Ints(sizes)}, zero ? Attributes{{"allowzero", true}} : Attributes{});
}

OnnxValue OnnxNodes::Slice(OnnxValue x, int64_t dim, int64_t start, int64_t end, int64_t step) {
  return Node("Slice", {x, Ints({start}), Ints({end}), Ints({dim}), Ints({step})});
}

OnnxValue OnnxNodes::Transpose(OnnxValue x, std::vector<int64_t> order) {
  return Node("Transpose", {x}, {{"perm", std::move(order)}});
}

OnnxValue OnnxNodes::Concat(Inputs parts, int64_t dim) {
  return parts.size() == 1 ? parts[0] : Node("Concat", std::move(parts), {{"axis", dim}});
}

OnnxValue OnnxNodes::Where(OnnxValue condition, OnnxValue x, OnnxValue y) {
  const DType dtype = x.dtype;  // runtimes choose among few types
  if (dtype == DType::kBool || dtype == DType::kI8) {
    x = Cast(x, DType::kI32);
    y = Cast(y, DType::kI32);
  }
  return Cast(Node("Where", {condition, x, y}, {}, x.dtype), dtype);
}

OnnxValue OnnxNodes::Compare(const char* op, OnnxValue x, OnnxValue y) {
  return Node(op, {x, y}, {}, DType::kBool);
}

OnnxValue OnnxNodes::Compare(const char* op, OnnxValue x, double y) {
  return Compare(op, x, Number(y, x.dtype));
}

OnnxValue operator+(const OnnxValue& x, const OnnxValue& y) { return x.nodes->Node("Add", {x, y}); }
OnnxValue operator-(const OnnxValue& x, const OnnxValue& y) { return x.nodes->Node("Sub", {x, y}); }
OnnxValue operator*(const OnnxValue& x, const OnnxValue& y) { return x.nodes->Node("Mul", {x, y}); }
OnnxValue operator/(const OnnxValue& x, const OnnxValue& y) { return x.nodes->Node("Div", {x, y}); }
OnnxValue operator+(const OnnxValue& x, double y) { return x + x.nodes->Number(y, x.dtype); }
OnnxValue operator-(const OnnxValue& x, double y) { return x - x.nodes->Number(y, x.dtype); }
OnnxValue operator*(const OnnxValue& x, double y) { return x * x.nodes->Number(y, x.dtype); }
OnnxValue operator/(const OnnxValue& x, double y) { return x / x.nodes->Number(y, x.dtype); }
OnnxValue operator-(double x, const OnnxValue& y) { return y.nodes->Number(x, y.dtype) - y; }
OnnxValue operator-(const OnnxValue& x) { return x.nodes->Node("Neg", {x}); }

}  // namespace firn::io::internal
