#include "firn/autograd/graph/decompose.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/edit.h"
#include "firn/autograd/graph/internal/cpd.h"
#include "firn/autograd/graph/internal/weights.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/classify.h"
#include "firn/tensor/ops/conv/conv.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/linalg/svd.h"
#include "firn/tensor/ops/linear/linear.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/reduce/truth.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn {
namespace {

using inner::internal::Cpd;
using inner::internal::PlaceOf;
using inner::internal::WeightUse;

// How many numbers a rank costs.
int64_t PerRank(const Tensor& weight) {
  const int64_t out = weight.size(0), in = weight.size(1);
  return out + in + (weight.rank() > 2 ? weight.num_elements() / (out * in) : 0);
}

int64_t RankOf(const Tensor& weight, double parameters) {
  const auto numbers = static_cast<double>(weight.num_elements());
  const auto rank =
      static_cast<int64_t>(parameters * numbers / static_cast<double>(PerRank(weight)));
  // A rank above the smaller side adds nothing to a matrix.
  return weight.rank() > 2 ? rank : std::min({rank, weight.size(0), weight.size(1)});
}

// What stands in for one operation.
struct Factors {
  std::vector<Tensor> tensors;  // in the order in which they are multiplied with
  double error = 0;
};

// A new tensor, owned by the graph, in the dtype; it requires a gradient if the weight does.
Tensor AsFactor(const Tensor& t, const Tensor& weight) {
  Tensor factor = Contiguous(t.To(weight.dtype())).To(weight.device()).Detach().Clone();
  factor.SetRequiresGrad(weight.requires_grad());
  return factor;
}

Factors OfMatrix(const Tensor& weight, const Tensor& w, int64_t rank) {
  const auto [u, s, vh] = Svd(w);
  const Tensor root = Sqrt(Narrow(s, 0, 0, rank));
  const Tensor square = Square(s);
  const double all = Sum(square).Item<double>();
  const double left = Sum(Narrow(square, 0, rank, s.size(0) - rank)).Item<double>();
  return {{AsFactor(Mul(Unsqueeze(root, 1), Narrow(vh, 0, 0, rank)), weight),
           AsFactor(Mul(Narrow(u, 1, 0, rank), root), weight)},
          all > 0 ? std::sqrt(left / all) : 0};
}

Factors OfKernels(const Tensor& weight, const Tensor& w, int64_t rank, const DecomposeOptions& o) {
  const int64_t out = w.size(0), in = w.size(1);
  const Cpd cpd = inner::internal::DecomposeThreeWays(Reshape(w, {out, in, -1}), rank, o.iterations,
                                                      o.tolerance, o.seed);
  std::vector<int64_t> ones(static_cast<size_t>(w.rank()), 1), kernel;
  for (int d = 0; d < w.rank(); ++d) kernel.push_back(w.size(d));
  const auto shaped = [&](const Tensor& t, std::vector<int64_t> sizes, int64_t rows, int64_t cols) {
    sizes[0] = rows;
    sizes[1] = cols;
    return AsFactor(Reshape(t, sizes), weight);
  };
  return {{shaped(Transpose(cpd.factors[1], 0, 1), ones, rank, in),
           shaped(Transpose(cpd.factors[2], 0, 1), kernel, rank, 1),
           shaped(cpd.factors[0], ones, out, rank)},
          cpd.error};
}

Tensor Computed(const Factors& f, const Instr& instr, const Tensor& x, const Tensor& bias) {
  if (f.tensors.size() == 2) return Linear(Linear(x, f.tensors[0]), f.tensors[1], bias);
  const auto& attrs = instr.attrs.ref().get<inner::ConvAttrs>();
  inner::ConvAttrs one, by_channel = attrs;
  by_channel.groups = f.tensors[1].size(0);
  const Tensor y = inner::ConvWith(
      inner::ConvWith(inner::ConvWith(x, f.tensors[0], one), f.tensors[1], by_channel),
      f.tensors[2], one);
  if (!bias.defined()) return y;
  std::vector<int64_t> sizes(static_cast<size_t>(y.rank()), 1);
  sizes[1] = -1;
  return Add(y, Reshape(bias, sizes));
}

bool IsConvolution(const Instr& instr) {
  const std::string_view name = instr.op->name;
  return (name == "conv1d" || name == "conv2d" || name == "conv3d") &&
         instr.attrs.ref().get<inner::ConvAttrs>().groups == 1;
}

absl::StatusOr<DecomposedLayer> Replace(Graph& graph, const WeightUse& use, int64_t rank,
                                        const DecomposeOptions& options, StateDict& state) {
  const NoGradScope no_grad;
  const Instr instr = graph.instrs[use.at];
  const Tensor w = use.weight.To(Device::Cpu()).To(DType::kF64).Detach();
  FIRN_RETURN_IF(!All(Isfinite(w)).Item<bool>(),
                 InvalidArgument(PlaceOf(instr), ": expected finite weights"));
  const Factors factors =
      w.rank() == 2 ? OfMatrix(use.weight, w, rank) : OfKernels(use.weight, w, rank, options);
  FIRN_RETURN_IF_ERROR(ReplaceOperation(graph, use.at, [&](absl::Span<const Tensor> in) {
    return TensorList{Computed(factors, instr, in[0], in.size() > 2 ? in[2] : Tensor())};
  }));
  DecomposedLayer layer{.module = std::string(instr.module_path()),
                        .operation = std::string(instr.op->name),
                        .rank = rank,
                        .before = w.num_elements(),
                        .error = factors.error};
  std::string prefix = layer.module.empty() ? "factor" : layer.module + ".factor";
  for (int again = 2; state.Contains(prefix + ".0"); ++again) {
    prefix = absl::StrCat(layer.module, layer.module.empty() ? "" : ".", "factor", again);
  }
  for (size_t i = 0; i < factors.tensors.size(); ++i) {
    layer.parameters += factors.tensors[i].num_elements();
    state.Insert(absl::StrCat(prefix, ".", i), factors.tensors[i]);
  }
  return layer;
}

absl::Status Check(const DecomposeOptions& o) {
  FIRN_RETURN_IF(!(o.parameters > 0 && o.parameters <= 1),
                 InvalidArgument("parameters must lie in (0, 1], got ", o.parameters));
  FIRN_RETURN_IF(o.iterations < 1,
                 InvalidArgument("iterations must be 1 or more, got ", o.iterations));
  FIRN_RETURN_IF(!(o.tolerance >= 0),
                 InvalidArgument("tolerance must not be negative, got ", o.tolerance));
  return absl::OkStatus();
}

absl::StatusOr<Decomposition> DecomposeIfRight(Graph& graph, const DecomposeOptions& options) {
  FIRN_RETURN_IF_ERROR(Check(options));
  FIRN_ASSIGN_OR_RETURN(const std::vector<WeightUse> weights,
                        inner::internal::WeightsOf(graph, options.modules));
  Graph next = graph;
  Decomposition result;
  // From the last operation to the first, so that the positions of earlier ones stay.
  for (auto use = weights.rbegin(); use != weights.rend(); ++use) {
    const Instr& instr = graph.instrs[use->at];
    if (instr.op->name != "linear" && !IsConvolution(instr)) continue;
    const int64_t rank = RankOf(use->weight, options.parameters);
    if (rank < 1 || rank * PerRank(use->weight) >= use->weight.num_elements()) continue;
    FIRN_ASSIGN_OR_RETURN(DecomposedLayer layer, Replace(next, *use, rank, options, result.state));
    result.layers.insert(result.layers.begin(), std::move(layer));
  }
  graph = std::move(next);
  return result;
}

}  // namespace

Decomposition Decompose(Graph& graph, const DecomposeOptions& options) {
  absl::StatusOr<Decomposition> result = DecomposeIfRight(graph, options);
  RaiseIfError(result.status(), "Decompose");
  return *std::move(result);
}

}  // namespace firn
