// When dequantize_linear is written, the nodes of its sums stand in the file already. They are
// followed back to the bytes, and the product is written anew from these. Nothing reads the sums
// then, so they are left out in the end. Values of the file are made once, so none can have changed
// in between.
#include "firn/io/onnx/internal/onnx_qdq.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/shape.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;

const OnnxNode* MakerOf(OnnxNodes& n, const std::string& name) {
  const std::vector<OnnxNode>& nodes = n.graph().nodes;
  const auto at = std::find_if(nodes.rbegin(), nodes.rend(),
                               [&](const OnnxNode& node) { return node.outputs[0] == name; });
  return at == nodes.rend() ? nullptr : &*at;
}

// The factor whose product with `x` in f32 is `product`, where there is one: the quotient or one of
// its neighbours.
float FactorOf(float product, float x) {
  const float quotient = product / x;
  float below = quotient, above = quotient;
  for (int i = 0; i < 2; ++i) {
    for (const float f : {below, above}) {
      if (f * x == product) return f;
    }
    below = std::nextafter(below, -std::numeric_limits<float>::infinity());
    above = std::nextafter(above, std::numeric_limits<float>::infinity());
  }
  return quotient;
}

class Writer {
 public:
  explicit Writer(OnnxExportCall& n) : n_(n) {}

  bool Write() {
    if (n_.dtype(0) != DType::kI32 || n_.dtype(1) != DType::kF32) return false;
    if (n_.has(2) && !IsZeros(n_.in(2).name)) return false;
    if (!FindSums()) return false;
    const bool conv = sums_.op_type == "ConvInteger";
    const int64_t dim = n_.rank(1) == 0 ? -1 : n_.Dim("dim", n_.rank(0));
    if (dim >= 0 && dim != (conv ? 1 : n_.rank(0) - 1)) return false;
    if (!FindBytes()) return false;
    FindScales();
    if (conv) return Conv();
    return !bias_.defined() && (WeightedSums() || Products());
  }

 private:
  const OnnxNode* MakerOf(const std::string& name) const { return internal::MakerOf(n_, name); }
  // The value before a chain of nodes of this kind.
  std::string Before(std::string name, std::string_view op) const {
    for (const OnnxNode* node = MakerOf(name); node != nullptr && node->op_type == op;
         node = MakerOf(name)) {
      name = node->inputs[0];
    }
    return name;
  }
  // Whether these are zeros, however many and of whatever type they became.
  bool IsZeros(std::string name) const {
    for (const OnnxNode* node = MakerOf(name);
         node != nullptr &&
         (node->op_type == "Expand" || node->op_type == "Reshape" || node->op_type == "Cast");
         node = MakerOf(name)) {
      name = node->inputs[0];
    }
    const std::vector<OnnxTensor>& all = n_.graph().initializers;
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const OnnxTensor& t) { return t.name == name; });
    return at != all.end() &&
           std::all_of(at->bytes.begin(), at->bytes.end(), [](char c) { return c == 0; });
  }
  V Value(const std::string& name, DType dtype) const { return {name, dtype, &n_}; }
  // A scalar, directly from the file if it is only reshaped.
  V Scalar(const std::string& name, DType dtype) {
    const std::string kept = Before(name, "Reshape");
    const Tensor elements = n_.ElementsOf(kept);
    if (!elements.defined() || elements.num_elements() != 1) return Value(name, dtype);
    return elements.rank() == 0 ? Value(kept, dtype) : n_.Constant(Reshape(elements, {}));
  }

  // The node of the sums, behind reshapes and a bias of integers.
  bool FindSums() {
    const OnnxNode* node = MakerOf(Before(n_.in(0).name, "Reshape"));
    if (node != nullptr && node->op_type == "Add") {
      const firn::inner::Value* const added = n_.GraphValueOf(node->inputs[1]);
      bias_ = n_.ElementsOf(Before(node->inputs[1], "Reshape"));
      if (added == nullptr || !bias_.defined() || n_.rank(0) != 4) return false;
      const Shape& shape = added->spec.shape;
      const int64_t channels = n_.sizes(0)[1].now;
      if (shape != Shape({channels, 1, 1}) && shape != Shape({1, channels, 1, 1})) return false;
      node = MakerOf(node->inputs[0]);
    }
    if (node == nullptr) return false;
    sums_ = *node;
    return sums_.op_type == "ConvInteger" || sums_.op_type == "MatMulInteger";
  }

  // Both factors, and the zero point of the first.
  bool FindBytes() {
    // The second factor in the graph's form; it may be transposed for the node.
    const OnnxNode* const turn = MakerOf(sums_.inputs[1]);
    turned_ = turn != nullptr && n_.GraphValueOf(sums_.inputs[1]) == nullptr;
    w_name_ = turned_ ? turn->inputs[0] : sums_.inputs[1];
    const firn::inner::Value* const x = n_.GraphValueOf(sums_.inputs[0]);
    const firn::inner::Value* const w = n_.GraphValueOf(w_name_);
    const firn::inner::Value* const sums = n_.GraphValueOf(sums_.outputs[0]);
    const firn::inner::Value* const zero = Zero(2) ? n_.GraphValueOf(sums_.inputs[2]) : nullptr;
    if (x == nullptr || w == nullptr || sums == nullptr || (Zero(2) && zero == nullptr)) {
      return false;
    }
    const Shape &made = sums->spec.shape, &read = n_.spec(0).shape;
    const bool conv = sums_.op_type == "ConvInteger";
    if (conv ? made != read : made[made.rank() - 1] != read[read.rank() - 1]) return false;
    w_shape_ = w->spec.shape;
    x_ = Value(sums_.inputs[0], x->spec.dtype);
    w_ = Value(sums_.inputs[1], w->spec.dtype);
    x_zero_ = Zero(2) ? Scalar(sums_.inputs[2], zero->spec.dtype) : n_.Absent();
    return true;
  }
  bool Zero(size_t i) const { return sums_.inputs.size() > i && !sums_.inputs[i].empty(); }

  // The scale of the sums is a product of two scales. If they are unknown, the first factor's is
  // the one that it was quantized with, or 1.
  void FindScales() {
    const V both = n_.in(1);
    const OnnxNode* quantized = MakerOf(Before(x_.name, "Reshape"));
    std::string own;
    if (quantized != nullptr && quantized->op_type == "QuantizeLinear") own = quantized->inputs[1];
    if (const OnnxNode* product = MakerOf(Before(both.name, "Reshape"));
        product != nullptr && product->op_type == "Mul") {
      for (const size_t i : {0u, 1u}) {
        const auto a = n_.SizesOf(product->inputs[i]), b = n_.SizesOf(product->inputs[1 - i]);
        if (!a || !b || !a->empty() || b->size() != static_cast<size_t>(n_.rank(1))) continue;
        const V one = Scalar(product->inputs[i], DType::kF32);
        if (i == 1 && !x_scale_.name.empty() && one.name != own) continue;
        x_scale_ = one;
        w_scale_ = b->empty() ? Scalar(product->inputs[1 - i], DType::kF32)
                              : Value(product->inputs[1 - i], DType::kF32);
      }
      if (!x_scale_.name.empty()) return;
    }
    const Tensor of_sums = n_.ElementsOf(both.name), of_x = n_.ElementsOf(own);
    const float x = of_x.defined() && of_x.num_elements() == 1 ? of_x.ToVector<float>()[0] : 0;
    if (!of_sums.defined() || !(x > 0) || !std::isfinite(x) || of_x.rank() != 0) {
      x_scale_ = n_.Number(1, DType::kF32);
      w_scale_ = both;
      return;
    }
    std::vector<float> factors = of_sums.ToVector<float>();
    for (float& f : factors) f = FactorOf(f, x);
    x_scale_ = Value(own, DType::kF32);
    w_scale_ = n_.Constant(FromVector(factors, of_sums.shape()));
  }

  V Numbers() { return n_.Node("DequantizeLinear", {x_, x_scale_, x_zero_}, {}, DType::kF32); }

  // Scales and zero points for the second factor; several scales lie along `axis`. Returns nothing
  // if scales and zero points cannot be brought into one shape.
  std::optional<V> Weights(const V& w, int64_t axis) {
    const int scales = n_.rank(1);
    V zero = n_.Absent();
    if (Zero(3)) {
      const auto sizes = n_.SizesOf(sums_.inputs[3]);
      if (!sizes) return {};
      zero = sizes->empty() ? Scalar(sums_.inputs[3], w.dtype) : Value(sums_.inputs[3], w.dtype);
      if (IsZeros(sums_.inputs[3])) {
        zero = n_.Absent();
      } else if (scales == 1 && sizes->empty()) {
        zero = n_.ExpandTo(zero, {n_.sizes(1)[0]});
      } else if (scales == 0 && !sizes->empty()) {
        w_scale_ = n_.ExpandTo(w_scale_, *sizes);
        return n_.Node("DequantizeLinear", {w, w_scale_, zero}, {{"axis", axis}}, DType::kF32);
      }
    }
    return n_.Node("DequantizeLinear", {w, w_scale_, zero},
                   scales == 0 ? OnnxNodes::Attributes{} : OnnxNodes::Attributes{{"axis", axis}},
                   DType::kF32);
  }

  bool Conv() {
    const std::optional<V> w = Weights(w_, 0);
    if (!w) return false;
    V bias = n_.Absent();
    if (bias_.defined()) {
      const V flat = n_.Constant(Reshape(bias_, {-1}));
      const Tensor x = n_.ElementsOf(x_scale_.name), w_scales = n_.ElementsOf(w_scale_.name);
      const V scale = x.defined() && w_scales.defined() ? n_.Constant(Mul(x, w_scales)) : n_.in(1);
      bias = n_.Node("DequantizeLinear", {flat, scale},
                     n_.rank(1) == 0 ? OnnxNodes::Attributes{} : OnnxNodes::Attributes{{"axis", 0}},
                     DType::kF32);
    }
    const V y = n_.Node("Conv", {Numbers(), *w, bias});
    n_.graph().nodes.back().attributes = sums_.attributes;  // of the same names
    n_.Out(0, y);
    return true;
  }

  // A product with a matrix in the file, of x in its shape before its rows were joined.
  bool WeightedSums() {
    const std::string x = Before(x_.name, "Reshape"), name = Before(w_name_, "Reshape");
    const Tensor kept = n_.ElementsOf(name);
    const std::optional<OnnxSizes> rows = n_.SizesOf(x);
    const OnnxSizes sums = n_.sizes(0);
    if (!kept.defined() || w_shape_[0] != 1 || !rows) return false;
    if (rows->size() != sums.size() || sums.size() < 2) return false;
    for (size_t i = 0; i + 1 < sums.size(); ++i) {
      if ((*rows)[i].now != sums[i].now || (*rows)[i].other != sums[i].other) return false;
    }
    const Shape matrix({w_shape_[1], w_shape_[2]});
    const bool gemm = turned_ && sums.size() == 2;
    Tensor w = Reshape(kept, matrix.span());
    if (turned_ && !gemm) w = w.Transpose(0, 1);
    const bool same = kept.shape() == matrix && (gemm || !turned_);
    const std::optional<V> weights =
        Weights(same ? Value(name, kept.dtype()) : n_.Constant(w), gemm ? 0 : 1);
    if (!weights) return false;
    x_ = Value(x, x_.dtype);
    n_.Out(0, gemm ? n_.Node("Gemm", {Numbers(), *weights}, {{"transB", 1}})
                   : n_.Node("MatMul", {Numbers(), *weights}));
    return true;
  }

  // Products of any other factors.
  bool Products() {
    const std::optional<V> w = Weights(w_, 2);
    if (!w) return false;
    n_.Out(0, n_.ReshapeTo(n_.Node("MatMul", {Numbers(), *w}), n_.out_sizes(0)));
    return true;
  }

  OnnxExportCall& n_;
  OnnxNode sums_;
  Tensor bias_;
  bool turned_ = false;  // the second factor
  std::string w_name_;
  Shape w_shape_;  // before it was transposed
  V x_, w_, x_zero_, x_scale_, w_scale_;
};

// Nodes and initializers by their names.
class BiasMerger {
 public:
  explicit BiasMerger(OnnxNodes* nodes) : nodes_(*nodes), graph_(nodes->graph()) {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const std::string& name : graph_.nodes[i].inputs) ++readers_[name];
      for (const std::string& name : graph_.nodes[i].outputs) maker_[name] = i;
    }
    for (size_t i = 0; i < graph_.initializers.size(); ++i) {
      initializer_[graph_.initializers[i].name] = i;
    }
  }

  void Run() {
    absl::flat_hash_set<std::string> gone;
    for (OnnxNode& add : graph_.nodes) {
      if (add.op_type != "Add") continue;
      for (const size_t i : {0u, 1u}) {
        OnnxNode* const product = ProductOf(add.inputs[i]);
        if (product == nullptr || !TakeBias(add.inputs[1 - i], *product)) continue;
        product->outputs[0] = add.outputs[0];
        gone.insert(add.name);
        break;
      }
    }
    std::erase_if(graph_.nodes, [&](const OnnxNode& n) { return gone.contains(n.name); });
  }

 private:
  OnnxNode* MakerOf(const std::string& name) {
    const auto at = maker_.find(name);
    return at == maker_.end() ? nullptr : &graph_.nodes[at->second];
  }
  OnnxTensor* InitializerOf(const std::string& name) {
    const auto at = initializer_.find(name);
    return at == initializer_.end() ? nullptr : &graph_.initializers[at->second];
  }
  bool IsDequantized(const std::string& name) {
    const OnnxNode* node = MakerOf(name);
    return node != nullptr && node->op_type == "DequantizeLinear";
  }
  // A product of this form without a bias, which nothing else reads.
  OnnxNode* ProductOf(const std::string& name) {
    OnnxNode* const node = MakerOf(name);
    const bool fits = node != nullptr && (node->op_type == "Conv" || node->op_type == "Gemm") &&
                      node->inputs.size() == 2 && readers_[name] == 1 &&
                      IsDequantized(node->inputs[0]) && IsDequantized(node->inputs[1]);
    return fits ? node : nullptr;
  }
  // One number a channel, in a shape that broadcasts with the product's result.
  bool TakeBias(const std::string& name, OnnxNode& product) {
    OnnxTensor* const weight = InitializerOf(MakerOf(product.inputs[1])->inputs[0]);
    if (weight == nullptr || weight->dims.empty()) return false;
    const int64_t channels = weight->dims[0];
    const bool conv = product.op_type == "Conv";
    OnnxTensor* bias = InitializerOf(name);
    std::vector<int64_t> dims;
    if (bias != nullptr) {
      dims = bias->dims;
    } else if (const OnnxNode* shape = MakerOf(name);
               conv && shape != nullptr && shape->op_type == "Reshape") {
      bias = InitializerOf(shape->inputs[0]);
      const OnnxTensor* const to = InitializerOf(shape->inputs[1]);
      if (bias == nullptr || bias->dims.size() != 1 || to == nullptr) return false;
      dims = Spread(*to, channels);
    }
    if (bias == nullptr || bias->type != 1) return false;  // f32
    if (dims.size() > (conv ? 4u : 2u)) return false;      // the sum has more dimensions
    while (!dims.empty() && dims.front() == 1 && dims.size() > (conv ? 3u : 1u)) {
      dims.erase(dims.begin());
    }
    const std::vector<int64_t> want =
        conv ? std::vector<int64_t>{channels, 1, 1} : std::vector<int64_t>{channels};
    if (dims != want) return false;
    product.inputs.push_back(Flat(*bias));
    return true;
  }
  // The shape argument of Reshape.
  static std::vector<int64_t> Spread(const OnnxTensor& shape, int64_t channels) {
    std::vector<int64_t> dims(shape.bytes.size() / sizeof(int64_t));
    std::copy_n(shape.bytes.data(), dims.size() * sizeof(int64_t),
                reinterpret_cast<char*>(dims.data()));
    for (int64_t& dim : dims) dim = dim == -1 ? channels : dim;
    return dims;
  }
  std::string Flat(const OnnxTensor& bias) {
    if (bias.dims.size() == 1) return bias.name;
    OnnxTensor flat = bias;
    flat.name = nodes_.Unique(bias.name);
    flat.dims = {1};
    for (const int64_t dim : bias.dims) flat.dims[0] *= dim;
    graph_.initializers.push_back(std::move(flat));
    return graph_.initializers.back().name;
  }

  OnnxNodes& nodes_;
  OnnxGraph& graph_;
  absl::flat_hash_map<std::string, size_t> maker_, initializer_;
  absl::flat_hash_map<std::string, int> readers_;
};

}  // namespace

OnnxValue ZeroPointOf(OnnxExportCall& n, size_t i, DType dtype) {
  if (!n.has(i)) return n.Absent();
  const V zero = n.in(i);
  const Tensor elements = n.ElementsOf(zero.name);
  if (elements.defined()) return n.Constant(elements.To(dtype));
  // A value that had this type before.
  const OnnxNode* const cast = MakerOf(n, zero.name);
  if (cast != nullptr && cast->op_type == "Cast") {
    const firn::inner::Value* const before = n.GraphValueOf(cast->inputs[0]);
    if (before != nullptr && before->spec.dtype == dtype) return {cast->inputs[0], dtype, &n};
  }
  return n.Cast(zero, dtype);
}

bool WriteQdq(OnnxExportCall& n) { return Writer(n).Write(); }

void MergeQdqBiases(OnnxNodes* nodes) { BiasMerger(nodes).Run(); }

}  // namespace firn::io::internal
