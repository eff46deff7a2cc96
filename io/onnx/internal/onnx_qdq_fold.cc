// Every product is examined once: the nodes that make its factors, and whether they have the form.
// It is replaced by the nodes that Firn's own graphs have (nn/quantized): sums, their bias if it is
// one of integers, one dequantize_linear of them, and other biases.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/onnx/internal/onnx_elements.h"
#include "firn/io/onnx/internal/onnx_qdq.h"
#include "firn/io/onnx/internal/onnx_tensor.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::io::internal {
namespace {

// Before opset 13 there is one scale for all elements.
constexpr int64_t kLeastOpset = 13;
constexpr int64_t kLargestSum = (int64_t{1} << 31) - 1, kLargestProduct = 255 * 255;

// The inputs of a DequantizeLinear.
struct Bytes {
  std::string name, zero;  // "": none
  std::vector<float> scales;
  std::optional<int64_t> axis;  // of several scales
};

OnnxAttribute IntAttribute(const char* name, int64_t value) {
  OnnxAttribute a;
  a.name = name;
  a.type = OnnxAttributeType::kInt;
  a.value = value;
  return a;
}

class Folder {
 public:
  Folder(OnnxModel* model, const LoadLimits& limits)
      : graph_(model->graph), elements_(model->file, model->folder, limits) {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const std::string& name : graph_.nodes[i].outputs) maker_[name] = i;
      for (const std::string& name : graph_.nodes[i].inputs) taken_.insert(name);
      taken_.insert(graph_.nodes[i].outputs.begin(), graph_.nodes[i].outputs.end());
    }
    for (size_t i = 0; i < graph_.initializers.size(); ++i) {
      taken_.insert(graph_.initializers[i].name);
      initializer_[graph_.initializers[i].name] = i;
    }
    // An initializer that a caller may replace is no constant.
    for (const OnnxValueInfo& info : graph_.inputs) {
      taken_.insert(info.name);
      initializer_.erase(info.name);
    }
  }

  absl::Status Run() {
    const auto dequantizes = [](const OnnxNode& n) { return n.op_type == "DequantizeLinear"; };
    if (std::none_of(graph_.nodes.begin(), graph_.nodes.end(), dequantizes)) {
      return absl::OkStatus();
    }
    std::vector<OnnxNode> nodes;
    bool any = false;
    for (const OnnxNode& node : graph_.nodes) {
      FIRN_ASSIGN_OR_RETURN(const bool folded, Fold(node, nodes));
      if (!folded) nodes.push_back(node);
      any |= folded;
    }
    if (!any) return absl::OkStatus();
    graph_.nodes = std::move(nodes);
    for (OnnxTensor& t : made_) graph_.initializers.push_back(std::move(t));
    DropBypassed();
    return absl::OkStatus();
  }

 private:
  const OnnxNode* MakerOf(const std::string& name, std::string_view op) const {
    const auto at = maker_.find(name);
    if (at == maker_.end()) return nullptr;
    const OnnxNode& node = graph_.nodes[at->second];
    return node.op_type == op && node.domain.empty() && node.outputs.size() == 1 ? &node : nullptr;
  }
  const OnnxTensor* InitializerOf(const std::string& name) const {
    const auto at = initializer_.find(name);
    return at == initializer_.end() ? nullptr : &graph_.initializers[at->second];
  }
  static std::string Input(const OnnxNode& node, size_t i) {
    return i < node.inputs.size() ? node.inputs[i] : "";
  }
  static int64_t Int(const OnnxNode& node, std::string_view name, int64_t otherwise) {
    for (const OnnxAttribute& a : node.attributes) {
      const int64_t* value = std::get_if<int64_t>(&a.value);
      if (a.name == name && value != nullptr) return *value;
    }
    return otherwise;
  }
  // A node with an attribute of another name or type stays as it is, so that its operator refuses
  // it.
  static bool HasOnly(const OnnxNode& node, std::initializer_list<std::string_view> names) {
    return std::all_of(node.attributes.begin(), node.attributes.end(), [&](const auto& a) {
      const int64_t* const number = std::get_if<int64_t>(&a.value);
      const bool fits = a.name == "axis"              ? number != nullptr
                        : a.name.starts_with("trans") ? number != nullptr && (*number | 1) == 1
                                                      : true;
      return fits && a.reference.empty() &&
             std::find(names.begin(), names.end(), a.name) != names.end();
    });
  }
  // Whether a Gemm is the plain product of its inputs; the second one may be transposed.
  static bool IsPlain(const OnnxNode& gemm) {
    return HasOnly(gemm, {"transA", "transB", "alpha", "beta"}) && Int(gemm, "transA", 0) == 0 &&
           std::all_of(gemm.attributes.begin(), gemm.attributes.end(), [](const auto& a) {
             const float* const factor = std::get_if<float>(&a.value);
             return a.name.starts_with("trans") || (factor != nullptr && *factor == 1);
           });
  }
  static bool IsBytes(const OnnxTensor& t) {
    return t.type == OnnxElementOf(DType::kI8) || t.type == OnnxElementOf(DType::kU8);
  }
  static int64_t CountOf(const OnnxTensor& t) {
    const OnnxElement* const element = FindOnnxElement(t.type);
    return element == nullptr ? -1 : OnnxCount(*element, t.dims).value_or(-1);
  }

  // The number of channels of the weights from which the value is made; 1 if they are not in the
  // file.
  int64_t ChannelsOf(const std::string& name, int64_t axis) const {
    const OnnxNode* const node = MakerOf(name, "DequantizeLinear");
    const OnnxTensor* const t = node == nullptr ? nullptr : InitializerOf(Input(*node, 0));
    const auto at = static_cast<size_t>(axis);
    return t == nullptr || at >= t->dims.size() ? 1 : t->dims[at];
  }

  // The bytes from which the value is made, with one scale or one for each of `channels`, all above
  // 0. Nothing for any other value.
  absl::StatusOr<std::optional<Bytes>> BytesOf(const std::string& name, int64_t channels) {
    const OnnxNode* const node = MakerOf(name, "DequantizeLinear");
    if (node == nullptr || !HasOnly(*node, {"axis"})) return std::nullopt;
    const OnnxTensor* const scale = InitializerOf(Input(*node, 1));
    if (scale == nullptr || scale->dims.size() > 1 || scale->type != OnnxElementOf(DType::kF32)) {
      return std::nullopt;
    }
    if (CountOf(*scale) != 1 && CountOf(*scale) != channels) return std::nullopt;
    Bytes bytes{.name = Input(*node, 0), .zero = Input(*node, 2), .scales = {}, .axis = {}};
    if (!bytes.zero.empty()) {
      const OnnxTensor* const zero = InitializerOf(bytes.zero);
      if (zero == nullptr || !IsBytes(*zero) || zero->dims != scale->dims) return std::nullopt;
    }
    FIRN_ASSIGN_OR_RETURN(const Tensor read, elements_.Read(*scale));
    bytes.scales = read.ToVector<float>();
    if (bytes.scales.size() != 1) bytes.axis = Int(*node, "axis", 1);
    const bool sound = std::all_of(bytes.scales.begin(), bytes.scales.end(),
                                   [](float s) { return s > 0 && std::isfinite(s); });
    return sound && !bytes.scales.empty() ? std::optional(std::move(bytes)) : std::nullopt;
  }
  int TypeOfZero(const Bytes& bytes) const {
    return bytes.zero.empty() ? OnnxElementOf(DType::kU8) : InitializerOf(bytes.zero)->type;
  }

  // Whether the bytes come from a QuantizeLinear with one scale and a known type of bytes.
  bool IsQuantized(const Bytes& x) const {
    const OnnxNode* const node = MakerOf(x.name, "QuantizeLinear");
    if (node == nullptr || !HasOnly(*node, {"axis"}) || x.scales.size() != 1) return false;
    const std::string zero = Input(*node, 2);
    if (zero.empty()) return x.zero.empty();
    const OnnxTensor* const kept = InitializerOf(zero);
    return kept != nullptr && IsBytes(*kept) && kept->type == TypeOfZero(x);
  }

  // The weights if they are in the file, have their channels in dimension `axis`, and the products
  // of a sum are few enough for i32; else null.
  const OnnxTensor* WeightOf(const Bytes& w, size_t rank, int64_t axis) const {
    const OnnxTensor* const t = InitializerOf(w.name);
    if (t == nullptr || !IsBytes(*t) || t->dims.size() != rank || CountOf(*t) <= 0) return nullptr;
    if (!w.zero.empty() && InitializerOf(w.zero)->type != t->type) return nullptr;
    const auto dims = static_cast<int64_t>(rank);
    if (w.axis && (*w.axis < 0 ? *w.axis + dims : *w.axis) != axis) return nullptr;
    const int64_t channels = t->dims[static_cast<size_t>(axis)];
    if (w.axis && static_cast<int64_t>(w.scales.size()) != channels) return nullptr;
    return CountOf(*t) / channels <= kLargestSum / kLargestProduct ? t : nullptr;
  }

  std::string Unique(const std::string& wish) {
    std::string name = wish;
    int64_t& next = next_[wish];
    while (!taken_.insert(name).second) name = absl::StrCat(wish, "_", ++next);
    return name;
  }
  std::string Constant(const std::string& wish, const Tensor& t) {
    made_.push_back(OnnxTensorOf(Unique(wish), t));
    return made_.back().name;
  }
  // A node behind those in `nodes`.
  std::string Add(std::vector<OnnxNode>& nodes, const OnnxNode& of, const char* op,
                  std::vector<std::string> inputs, std::vector<OnnxAttribute> attributes = {}) {
    OnnxNode node;
    node.name = absl::StrCat(of.name.empty() ? of.outputs[0] : of.name, "/", op);
    node.op_type = op;
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    node.outputs = {Unique(absl::StrCat(of.outputs[0], "/", op))};
    node.metadata = of.metadata;
    nodes.push_back(std::move(node));
    return nodes.back().outputs[0];
  }

  // The bias that is added to products: integers with the sums' scales, or any other numbers.
  struct Bias {
    Tensor integers;
    std::string other;
  };
  absl::StatusOr<Bias> BiasOf(const std::string& name, const std::vector<float>& scales,
                              int64_t channels, int64_t products) {
    Bias bias{.integers = {}, .other = name};
    const OnnxNode* const node = name.empty() ? nullptr : MakerOf(name, "DequantizeLinear");
    if (node == nullptr || !HasOnly(*node, {"axis"}) || !Input(*node, 2).empty()) return bias;
    const OnnxTensor *const t = InitializerOf(Input(*node, 0)), *const s =
                                                                    InitializerOf(Input(*node, 1));
    const bool fits = t != nullptr && s != nullptr && t->type == OnnxElementOf(DType::kI32) &&
                      t->dims == std::vector<int64_t>{channels} &&
                      s->type == OnnxElementOf(DType::kF32) && s->dims.size() <= 1 &&
                      CountOf(*s) == static_cast<int64_t>(scales.size());
    if (!fits || (scales.size() > 1 && Int(*node, "axis", 1) != 0)) return bias;
    FIRN_ASSIGN_OR_RETURN(const Tensor own, elements_.Read(*s));
    if (own.ToVector<float>() != scales) return bias;
    FIRN_ASSIGN_OR_RETURN(const Tensor integers, elements_.Read(*t));
    for (const int64_t b : integers.ToVector<int64_t>()) {
      if (std::abs(b) > kLargestSum - products * kLargestProduct) return bias;
    }
    return Bias{integers, ""};
  }

  // Whether the file has one number for each channel or one for all, as a product requires. The sum
  // that replaces it would accept other shapes too, and change the result's shape.
  bool IsOfChannels(const std::string& name, int64_t channels, bool conv) const {
    const OnnxNode* const node = MakerOf(name, "DequantizeLinear");
    const OnnxTensor* const t = InitializerOf(node == nullptr ? name : Input(*node, 0));
    if (t == nullptr) return false;
    std::vector<int64_t> dims = t->dims;
    if (conv) return dims == std::vector<int64_t>{channels};
    if (dims.size() == 2 && dims[0] == 1) dims.erase(dims.begin());
    return dims.empty() || (dims.size() == 1 && (dims[0] == 1 || dims[0] == channels));
  }

  absl::StatusOr<bool> Fold(const OnnxNode& node, std::vector<OnnxNode>& nodes) {
    const bool conv = node.op_type == "Conv", gemm = node.op_type == "Gemm";
    if (!node.domain.empty() || !(conv || gemm || node.op_type == "MatMul")) return false;
    const size_t most = conv || gemm ? 3 : 2;
    if (node.inputs.size() < 2 || node.inputs.size() > most || node.outputs.size() != 1) {
      return false;
    }
    if (gemm && !IsPlain(node)) return false;
    const bool turned = gemm && Int(node, "transB", 0) != 0;
    const int64_t axis = conv || turned ? 0 : 1;
    FIRN_ASSIGN_OR_RETURN(const std::optional<Bytes> x, BytesOf(node.inputs[0], 1));
    if (!x || !IsQuantized(*x)) return false;
    FIRN_ASSIGN_OR_RETURN(const std::optional<Bytes> w,
                          BytesOf(node.inputs[1], ChannelsOf(node.inputs[1], axis)));
    const OnnxTensor* const weight = w ? WeightOf(*w, conv ? 4 : 2, axis) : nullptr;
    if (weight == nullptr) return false;
    std::vector<float> scales = w->scales;
    for (float& s : scales) s *= x->scales[0];
    const int64_t channels = weight->dims[static_cast<size_t>(axis)];
    FIRN_ASSIGN_OR_RETURN(const Bias bias,
                          BiasOf(Input(node, 2), scales, channels, CountOf(*weight) / channels));
    if (!bias.other.empty() && !IsOfChannels(bias.other, channels, conv)) return false;
    const std::vector<int64_t> spread =
        conv ? std::vector<int64_t>{channels, 1, 1} : std::vector<int64_t>{channels};
    std::string y = x->name, matrix = w->name;
    if (turned) {
      OnnxAttribute perm = IntAttribute("perm", 0);
      perm.type = OnnxAttributeType::kInts;
      perm.value = std::vector<int64_t>{1, 0};
      matrix = Add(nodes, node, "Transpose", {matrix}, {perm});
    }
    y = Add(nodes, node, conv ? "ConvInteger" : "MatMulInteger", {y, matrix, x->zero, w->zero},
            conv ? node.attributes : std::vector<OnnxAttribute>{});
    if (bias.integers.defined()) {
      y = Add(nodes, node, "Add", {y, Constant("quantized_bias", Reshape(bias.integers, spread))});
    }
    const bool several = w->axis.has_value();
    const Tensor of_sums = FromVector(scales, several ? Shape({channels}) : Shape({}));
    y = Add(nodes, node, "DequantizeLinear", {y, Constant("scale_of_sums", of_sums)},
            several ? std::vector<OnnxAttribute>{IntAttribute("axis", conv ? 1 : -1)}
                    : std::vector<OnnxAttribute>{});
    if (!bias.other.empty()) {
      std::string other = bias.other;
      if (conv) {
        other = Add(nodes, node, "Reshape",
                    {other, Constant("bias_shape", FromVector(std::vector<int64_t>{-1, 1, 1}))});
      }
      y = Add(nodes, node, "Add", {y, other});
    }
    nodes.back().outputs = node.outputs;
    nodes.back().name = node.name;
    for (size_t i = 0; i < node.inputs.size(); ++i) bypassed_.insert(node.inputs[i]);
    return true;
  }

  // Drops DequantizeLinear nodes of folded products that nothing reads any more. Graphs within
  // nodes may read values that are no inputs.
  void DropBypassed() {
    absl::flat_hash_set<std::string> read;
    for (const OnnxValueInfo& info : graph_.outputs) read.insert(info.name);
    for (const OnnxNode& node : graph_.nodes) {
      read.insert(node.inputs.begin(), node.inputs.end());
      for (const OnnxAttribute& a : node.attributes) {
        if (std::holds_alternative<std::vector<OnnxGraph>>(a.value)) return;
      }
    }
    std::erase_if(graph_.nodes, [&](const OnnxNode& node) {
      return node.op_type == "DequantizeLinear" && node.domain.empty() &&
             node.outputs.size() == 1 && bypassed_.contains(node.outputs[0]) &&
             !read.contains(node.outputs[0]);
    });
  }

  OnnxGraph& graph_;
  OnnxElements elements_;
  absl::flat_hash_map<std::string, size_t> maker_, initializer_;
  absl::flat_hash_set<std::string> taken_, bypassed_;
  absl::flat_hash_map<std::string, int64_t> next_;  // number behind a name that was taken
  std::vector<OnnxTensor> made_;
};

}  // namespace

absl::Status FoldQdq(OnnxModel* model, const LoadLimits& limits) {
  for (const OnnxOpset& opset : model->opsets) {
    if (opset.domain.empty() && opset.version < kLeastOpset) return absl::OkStatus();
  }
  return Folder(model, limits).Run();
}

}  // namespace firn::io::internal
