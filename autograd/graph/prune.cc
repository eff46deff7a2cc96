#include "firn/autograd/graph/prune.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/edit.h"
#include "firn/autograd/graph/internal/weights.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn {
namespace {

using inner::internal::PlaceOf;
using inner::internal::WeightUse;

struct Layer {
  WeightUse use;
  std::vector<double> weights;
};

// The largest magnitude of the weights that become 0, and how many weights of exactly this
// magnitude do.
struct Limit {
  double magnitude = -1;
  int64_t equal = 0;
};

Limit LimitOf(std::vector<double> magnitudes, double fraction) {
  const int64_t n = std::llround(fraction * static_cast<double>(magnitudes.size()));
  if (n == 0) return {};
  const auto last = magnitudes.begin() + (n - 1);
  std::nth_element(magnitudes.begin(), last, magnitudes.end());
  return {*last, std::count(magnitudes.begin(), last + 1, *last)};
}

std::vector<double> MagnitudesOf(absl::Span<const Layer* const> layers) {
  std::vector<double> all;
  for (const Layer* layer : layers) {
    for (const double w : layer->weights) all.push_back(std::abs(w));
  }
  return all;
}

// Sets the weights within the limit to 0.
PrunedLayer Cut(Layer& layer, Limit& limit) {
  PrunedLayer pruned;
  pruned.weights = static_cast<int64_t>(layer.weights.size());
  double lost = 0, all = 0;
  for (double& w : layer.weights) {
    const double magnitude = std::abs(w);
    const bool equal = magnitude == limit.magnitude;
    all += w * w;
    if (magnitude < limit.magnitude || (equal && limit.equal > 0)) {
      if (equal) --limit.equal;
      lost += w * w;
      w = 0;
    }
    if (w == 0) ++pruned.zeros;
  }
  pruned.lost = all > 0 ? std::sqrt(lost / all) : 0;
  return pruned;
}

absl::Status Replace(Graph& graph, const Layer& layer, const Tensor& weight) {
  const Instr instr = graph.instrs[layer.use.at];
  return ReplaceOperation(graph, layer.use.at, [&](absl::Span<const Tensor> in) {
    std::vector<TensorRef> inputs(in.begin(), in.end());
    inputs[layer.use.input] = weight;
    return Apply(*instr.op, inputs, instr.attrs.ref());
  });
}

absl::StatusOr<std::vector<Layer>> LayersOf(const Graph& graph, const PruneOptions& options) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<WeightUse> uses,
                        inner::internal::WeightsOf(graph, options.modules));
  std::vector<Layer> layers;
  for (const WeightUse& use : uses) {
    layers.push_back({use, use.weight.ToVector<double>()});
    for (const double w : layers.back().weights) {
      FIRN_RETURN_IF(std::isnan(w),
                     InvalidArgument(PlaceOf(graph.instrs[use.at]), ": its weight has a NaN"));
    }
  }
  return layers;
}

absl::StatusOr<Pruning> PruneIfRight(Graph& graph, const PruneOptions& options) {
  FIRN_RETURN_IF(!(options.fraction >= 0 && options.fraction <= 1),
                 InvalidArgument("fraction must lie in [0, 1], got ", options.fraction));
  FIRN_ASSIGN_OR_RETURN(std::vector<Layer> layers, LayersOf(graph, options));
  Limit limit;
  if (options.together) {
    std::vector<const Layer*> all;
    for (const Layer& layer : layers) all.push_back(&layer);
    limit = LimitOf(MagnitudesOf(all), options.fraction);
  }
  Graph next = graph;
  Pruning result;
  const NoGradScope no_grad;
  for (Layer& layer : layers) {
    const Layer* const one = &layer;
    if (!options.together) limit = LimitOf(MagnitudesOf({&one, 1}), options.fraction);
    PrunedLayer pruned = Cut(layer, limit);
    const Instr& instr = graph.instrs[layer.use.at];
    pruned.module = std::string(instr.module_path());
    pruned.operation = std::string(instr.op->name);
    const Tensor& old = layer.use.weight;
    Tensor weight = FromVector(layer.weights, old.shape()).To(old.dtype()).To(old.device());
    weight.SetRequiresGrad(old.requires_grad());
    std::string name = pruned.module.empty() ? "weight" : pruned.module + ".weight";
    for (int again = 2; result.state.Contains(name); ++again) {
      name = absl::StrCat(pruned.module, pruned.module.empty() ? "" : ".", "weight", again);
    }
    result.state.Insert(name, weight);
    result.weights += pruned.weights;
    result.zeros += pruned.zeros;
    result.layers.push_back(std::move(pruned));
  }
  // From the last operation to the first, so that the positions of earlier ones stay.
  for (size_t i = layers.size(); i-- > 0;) {
    FIRN_RETURN_IF_ERROR(
        Replace(next, layers[i], (result.state.begin() + static_cast<int64_t>(i))->second));
  }
  graph = std::move(next);
  return result;
}

}  // namespace

Pruning Prune(Graph& graph, const PruneOptions& options) {
  absl::StatusOr<Pruning> result = PruneIfRight(graph, options);
  RaiseIfError(result.status(), "Prune");
  return *std::move(result);
}

}  // namespace firn
