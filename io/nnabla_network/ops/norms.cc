// Normalisation. NNabla's beta is the bias, gamma the weight, and both have the rank of x; either
// may be left out where no_bias or no_scale says so.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "firn/io/nnabla_network/internal/nnabla_ops.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using Args = NnablaArguments;

struct Affines {
  Tensor bias, weight;
};

// The inputs from `first` on that exist.
Affines AffinesOf(const Args& a, In in, size_t first, size_t* next) {
  Affines found;
  *next = first;
  const auto take = [&](bool absent) {
    return absent || *next >= in.size() ? Tensor() : in[(*next)++];
  };
  found.bias = take(a.Flag("no_bias"));
  found.weight = take(a.Flag("no_scale"));
  return found;
}

Tensor FlatOrNone(const Tensor& x) { return x.defined() ? Flatten(x) : x; }

// x [..] with dimension `axis` as the second of three.
Tensor BatchNormAlong(const Tensor& x, int64_t axis, const Affines& affines, const Tensor& mean,
                      const Tensor& variance, const BatchNormOptions& options) {
  const Tensor y = BatchNorm(axis == 1 ? x : Movedim(x, axis, 1), Flatten(mean), Flatten(variance),
                             FlatOrNone(affines.weight), FlatOrNone(affines.bias), options);
  return axis == 1 ? y : Movedim(y, 1, axis);
}

BatchNormOptions OptionsOf(const Args& a) {
  return {.training = a.Flag("batch_stat"),
          .momentum = 1 - a.Number("decay_rate"),
          .eps = a.Number("eps")};
}

// Several axes become one axis with all their indices.
Tensor BatchNormOf(const Args& a, const Tensor& x, const Affines& affines, const Tensor& mean,
                   const Tensor& variance) {
  const std::vector<int64_t> axes = AxesOf(x, a.Ints("axes"));
  if (axes.empty()) RefuseNnabla("axes", "at least one", "none");
  if (axes.size() == 1 && x.rank() > 1) {
    return BatchNormAlong(x, axes[0], affines, mean, variance, OptionsOf(a));
  }
  const std::vector<int64_t> others = OtherAxes(x, axes);
  const std::vector<int64_t> order = Joined(others, axes);
  const Tensor moved = Permute(x, order);
  const auto outer = static_cast<int64_t>(others.size());
  const Tensor rows = RowsOf(moved, outer);
  const Tensor y = BatchNormAlong(rows, 1, affines, mean, variance, OptionsOf(a));
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return Permute(Reshape(y, moved.shape()), back);
}

const NnablaOps kBatch("BatchNormalization", 3, 5,
                       [](const Args& a, In in) -> TensorList {
                         size_t next = 0;
                         const Affines affines = AffinesOf(a, in, 1, &next);
                         if (next + 2 > in.size()) {
                           RefuseNnabla("the number of inputs", absl::StrCat(next + 2),
                                        absl::StrCat(in.size()));
                         }
                         return {BatchNormOf(a, in[0], affines, in[next], in[next + 1])};
                       },
                       {.writes = 2, .first_written = -2});

const NnablaOps kSync("SyncBatchNormalization", 5, 5,
                      [](const Args& a, In in) -> TensorList {
                        return {
                            BatchNormOf(a, in[0], {.bias = in[1], .weight = in[2]}, in[3], in[4])};
                      },
                      {.writes = 2, .first_written = 3});

// (x - mean) / sqrt(variance + eps) over `dims`, then beta and gamma are applied.
Tensor Normalized(const Args& a, In in, const std::vector<int64_t>& dims) {
  size_t next = 0;
  const Affines affines = AffinesOf(a, in, 1, &next);
  Tensor y = Standardize(in[0], dims, a.Number("eps"));
  if (affines.weight.defined()) y = Mul(y, affines.weight);
  return affines.bias.defined() ? Add(y, affines.bias) : y;
}

const NnablaOps kLayer("LayerNormalization", 1, 3, [](const Args& a, In in) -> TensorList {
  return {Normalized(a, in, OtherAxes(in[0], a.Ints("batch_axis")))};
});

const NnablaOps kInstance("InstanceNormalization", 1, 3, [](const Args& a, In in) -> TensorList {
  return {
      Normalized(a, in, OtherAxes(in[0], Joined(a.Ints("batch_axis"), {a.Int("channel_axis")})))};
});

const NnablaOps kTensor("TensorNormalization", 1, 3, [](const Args& a, In in) -> TensorList {
  return {Normalized(a, in, OtherAxes(in[0], a.Ints("axes")))};
});

// The channels' dimension becomes two: groups, which keep statistics of their own, and the rest.
const NnablaOps kGroup("GroupNormalization", 1, 3, [](const Args& a, In in) -> TensorList {
  const Tensor& x = in[0];
  const int64_t axis = AxisOf(x, a.Int("channel_axis")), groups = a.Int("num_groups");
  if (groups < 1 || x.size(axis) % groups != 0) {
    RefuseNnabla("num_groups", absl::StrCat("a divisor of ", x.size(axis)), absl::StrCat(groups));
  }
  const Tensor split = Unflatten(x, axis, {groups, x.size(axis) / groups});
  std::vector<int64_t> kept = {axis};
  for (const int64_t batch : AxesOf(x, a.Ints("batch_axis"))) {
    kept.push_back(batch > axis ? batch + 1 : batch);
  }
  size_t next = 0;
  const Affines affines = AffinesOf(a, in, 1, &next);
  Tensor y = Reshape(Standardize(split, OtherAxes(split, kept), a.Number("eps")), x.shape());
  if (affines.weight.defined()) y = Mul(y, affines.weight);
  return {affines.bias.defined() ? Add(y, affines.bias) : y};
});

// x / (sum |x|^p + eps)^(1 / p) over the axes; all of them where none are named.
const NnablaOps kNorm("NormNormalization", 1, 1, [](const Args& a, In in) -> TensorList {
  const double p = a.Number("p"), eps = a.Number("eps");
  const Tensor sum = Sum(Pow(Abs(in[0]), Tensor(p)), AxesOf(in[0], a.Ints("axes")), true);
  return {Div(in[0], Pow(Add(sum, Tensor(eps)), Tensor(1 / p)))};
});

const NnablaOps kWeight("WeightNormalization", 2, 2, [](const Args& a, In in) -> TensorList {
  return {WeightNorm(in[0], Flatten(in[1]),
                     {.dim = AxisOf(in[0], a.Int("dim")), .eps = a.Number("eps")})};
});

const NnablaOps kStandard("WeightStandardization", 1, 1, [](const Args& a, In in) -> TensorList {
  return {Standardize(in[0], OtherAxes(in[0], {a.Int("channel_axis")}), a.Number("eps"))};
});

// The third input counts the batches, as all numbers in f32.
const NnablaOps kMean("MeanSubtraction", 3, 3,
                      [](const Args& a, In in) -> TensorList {
                        const MeanSubtractionOptions options = {
                            .base_dim = a.Int("base_axis"),
                            .training = a.Flag("update_running_mean")};
                        const Tensor count = Cast(Flatten(in[2]), DType::kI64);
                        const Tensor y = MeanSubtraction(in[0], in[1], count, options);
                        const NoGradScope no_grad;
                        if (options.training) {
                          Tensor(in[2]).CopyFrom(Reshape(NumbersOf(count), in[2].shape()));
                        }
                        return {y};
                      },
                      {.writes = 2, .first_written = 1});

const NnablaOps kByValue("ClipGradByValue", 3, 3, [](const Args&, In in) -> TensorList {
  return {ClipGradByValue(in[0], in[1], in[2])};
});

const NnablaOps kByNorm("ClipGradByNorm", 1, 1,
                        [](const Args&, In in) -> TensorList { return {Identity(in[0])}; });

// --- Reductions ---------------------------------------------------------------------------------

using Reduction = Tensor (*)(const Tensor&, const DimList&, inner::Flag);

TensorList Reduced(const Args& a, In in, Reduction f) {
  std::vector<int64_t> axes = AxesOf(in[0], a.Ints("axes"));
  if (axes.empty()) axes = OtherAxes(in[0], {});
  if (axes.empty()) return {Identity(in[0])};
  return {f(in[0], axes, a.Flag("keep_dims"))};
}

const NnablaOps kSum("Sum", 1, 1, [](const Args& a, In in) { return Reduced(a, in, Sum); });
const NnablaOps kMeanOf("Mean", 1, 1, [](const Args& a, In in) { return Reduced(a, in, Mean); });
const NnablaOps kProd("Prod", 1, 1, [](const Args& a, In in) { return Reduced(a, in, Prod); });

// The extreme along the axes, which are made one at the end, and where along them it is.
TensorList Extreme(const Args& a, In in, bool max) {
  const Tensor& x = in[0];
  std::vector<int64_t> axes = AxesOf(x, a.Ints("axes"));
  if (axes.empty()) axes = OtherAxes(x, {});
  const bool keep = a.Flag("keep_dims");
  if (!a.Flag("with_index") && !a.Flag("only_index")) {
    return {max ? Amax(x, axes, keep) : Amin(x, axes, keep)};
  }
  const std::vector<int64_t> others = OtherAxes(x, axes);
  const Tensor moved = Permute(x, Joined(others, axes));
  const auto outer = static_cast<int64_t>(others.size());
  const Tensor rows = RowsOf(moved, outer);
  const auto [values, indices] = max ? Max(rows, 1) : Min(rows, 1);
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < x.rank(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!reduced) sizes.push_back(x.size(i));
    if (reduced && keep) sizes.push_back(1);
  }
  const Tensor places = Reshaped(NumbersOf(indices), sizes);
  if (a.Flag("only_index")) return {places};
  return {Reshaped(values, sizes), places};
}

const NnablaOps kMax("Max", 1, 1, [](const Args& a, In in) { return Extreme(a, in, true); });
const NnablaOps kMin("Min", 1, 1, [](const Args& a, In in) { return Extreme(a, in, false); });

const NnablaOps kNormOf("Norm", 1, 1, [](const Args& a, In in) -> TensorList {
  std::vector<int64_t> axes = AxesOf(in[0], a.Ints("axes"));
  if (axes.empty()) axes = OtherAxes(in[0], {});
  return {Norm(in[0], a.Number("p"), axes, a.Flag("keep_dims"))};
});
const NnablaOps kReduceSum("ReduceSum", 1, 1,
                           [](const Args&, In in) -> TensorList { return {Sum(in[0])}; });
const NnablaOps kReduceMean("ReduceMean", 1, 1,
                            [](const Args&, In in) -> TensorList { return {Mean(in[0])}; });
const NnablaOps kCumSum("CumSum", 1, 1, [](const Args& a, In in) -> TensorList {
  return {Cumsum(in[0], AxisOf(in[0], a.Int("axis")),
                 {.exclusive = a.Flag("exclusive"), .reverse = a.Flag("reverse")})};
});
const NnablaOps kCumProd("CumProd", 1, 1, [](const Args& a, In in) -> TensorList {
  return {Cumprod(in[0], AxisOf(in[0], a.Int("axis")),
                  {.exclusive = a.Flag("exclusive"), .reverse = a.Flag("reverse")})};
});

}  // namespace
}  // namespace firn::io::internal
