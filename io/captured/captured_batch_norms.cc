// Finds the operations that BatchNorm consists of in evaluation mode
// (tensor/ops/norm/batch_norm.cc):
//   scale = weight / sqrt(variance + eps)     shift = -mean scale + bias
#include "firn/io/captured/captured_batch_norms.h"

#include <optional>
#include <string_view>
#include <vector>

#include "firn/autograd/graph/analysis.h"
#include "firn/tensor/op.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {
namespace {

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph), uses_(graph) {}

  std::optional<CapturedBatchNorm> At(const Instr& affine) const {
    if (affine.op->name != "channel_affine" || affine.in.size() < 3) return {};
    CapturedBatchNorm found;
    const ValueId scale = affine.in[1];
    if (!Scale(scale, found) || !Shift(affine.in[2], scale, found)) return {};
    const TensorSpec& x = graph_.value(affine.in[0]).spec;
    for (const ValueId id : {found.weight, found.bias, found.mean, found.variance}) {
      if (id == kNoValue) continue;
      if (graph_.value(id).spec.dtype != x.dtype || uses_.changed(graph_.value(id).buffer)) {
        return {};
      }
    }
    return found;
  }

 private:
  // The operation of this name that made the value, if it takes two arguments.
  const Instr* Made(ValueId id, std::string_view by, size_t inputs) const {
    if (id == kNoValue || uses_.maker(id) == Uses::kNone) return nullptr;
    const Instr& instr = graph_.instrs[uses_.maker(id)];
    return instr.op->name == by && instr.in.size() == inputs ? &instr : nullptr;
  }
  std::optional<double> Number(ValueId id) const {
    const Value& value = graph_.value(id);
    const bool constant = graph_.buffer_of(id).kind == Buffer::Kind::kConstant;
    if (!constant || value.spec.shape.rank() != 0 || !value.bound.defined()) return {};
    return value.bound.Item();
  }
  bool Scale(ValueId scale, CapturedBatchNorm& found) const {
    const Instr* root = Made(scale, "rsqrt", 1);
    if (root == nullptr) {
      const Instr* product = Made(scale, "mul", 2);
      if (product == nullptr) return false;
      found.weight = product->in[0];
      root = Made(product->in[1], "rsqrt", 1);
    }
    const Instr* sum = root == nullptr ? nullptr : Made(root->in[0], "add", 2);
    if (sum == nullptr) return false;
    const std::optional<double> eps = Number(sum->in[1]);
    found.variance = sum->in[0];
    found.eps = eps.value_or(0);
    return eps.has_value() && graph_.value(found.variance).spec.shape.rank() == 1;
  }
  bool Shift(ValueId shift, ValueId scale, CapturedBatchNorm& found) const {
    if (const Instr* sum = Made(shift, "add", 2)) {
      found.bias = sum->in[1];
      shift = sum->in[0];
    }
    const Instr* product = Made(shift, "mul", 2);
    const Instr* minus = product == nullptr ? nullptr : Made(product->in[1], "mul", 2);
    if (minus == nullptr || minus->in[0] != scale || Number(minus->in[1]) != -1.0) return false;
    found.mean = product->in[0];
    return true;
  }

  const Graph& graph_;
  const Uses uses_;
};

}  // namespace

std::map<size_t, CapturedBatchNorm> FindBatchNorms(const Graph& graph) {
  const Finder finder(graph);
  std::map<size_t, CapturedBatchNorm> found;
  for (size_t i = 0; i < graph.instrs.size(); ++i) {
    if (const auto norm = finder.At(graph.instrs[i])) found.emplace(i, *norm);
  }
  return found;
}

}  // namespace firn::io::internal
