// Normalisations.
#include <algorithm>
#include <utility>

#include "firn/io/onnx/internal/onnx_windows.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

// Half types in f32.
DType WideOf(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 ? DType::kF32 : dtype;
}
Tensor Wide(const Tensor& x) { return x.To(WideOf(x.dtype())); }

DimList AllBut(int rank, int dim) {
  std::vector<int64_t> dims;
  for (int i = 0; i < rank; ++i) {
    if (i != dim) dims.push_back(i);
  }
  return DimList(dims);
}
// From `first` to the last one.
DimList From(int64_t first, int rank) {
  std::vector<int64_t> dims;
  for (int64_t i = first; i < rank; ++i) dims.push_back(i);
  return DimList(dims);
}

// --- BatchNormalization: inputs X, scale, B, mean, var ------------------------------------------

// What BatchNorm takes beside x: x's dtype, or f32.
Tensor AsStatistic(const Tensor& t, const Tensor& x, bool all_as_x) {
  return t.To(all_as_x ? x.dtype() : WideOf(x.dtype()));
}

Tensor NormalizeBatch(In in, bool training, double eps) {
  bool all_as_x = true;
  for (size_t i = 1; i < 5; ++i) all_as_x &= in[i].dtype() == in[0].dtype();
  const auto as = [&](size_t i) { return AsStatistic(in[i], in[0], all_as_x); };
  return BatchNorm(in[0], training ? Tensor() : as(3), training ? Tensor() : as(4), as(1), as(2),
                   {.training = training, .eps = eps});
}

// Y and the moved mean and variance, which is that of the whole population.
TensorList TrainBatch(In in, double eps, double momentum) {
  const DimList dims = AllBut(in[0].rank(), 1);
  const VarMeanResult batch = VarMean(Wide(in[0]), dims, 0);
  const auto moved = [&](const Tensor& old, const Tensor& now) {
    return old * momentum + now.To(old.dtype()) * (1 - momentum);
  };
  return {NormalizeBatch(in, true, eps), moved(in[3], batch.mean), moved(in[4], batch.var)};
}

Step LowerBatchNorm(OnnxCall& call, bool training) {
  for (size_t i = 0; i < 5; ++i) call.node.Spec(i);
  const double eps = call.Float("epsilon", 1e-5f), momentum = call.Float("momentum", 0.9f);
  if (!training) return One([=](In in) { return NormalizeBatch(in, false, eps); });
  return [=](In in) { return TrainBatch(in, eps, momentum); };
}

const OnnxOps kBatchNorm1("BatchNormalization", 1,
                          [](OnnxCall& call) -> Step {
                            // A file that says nothing does not mean training, as with Dropout.
                            const bool asked = call.Has("is_test") && !call.Flag("is_test", false);
                            return LowerBatchNorm(call, asked || call.node.Wants(1));
                          },
                          {.buffers = {3, 4}, .check = [](const OnnxNodeAttributes& node) {
                             if (!node.Flag("spatial", true))
                               RefuseUnsupported("spatial = 0 is not supported");
                           }});
const OnnxOps kBatchNorm14("BatchNormalization", 14,
                           [](OnnxCall& call) -> Step {
                             return LowerBatchNorm(call, call.Flag("training_mode", false));
                           },
                           {.buffers = {3, 4}});

// --- Of samples ---------------------------------------------------------------------------------

const OnnxOps kInstanceNorm("InstanceNormalization", 1, [](OnnxCall& call) -> Step {
  const double eps = call.Float("epsilon", 1e-5f);
  call.node.Spec(1);
  call.node.Spec(2);
  return One([=](In in) { return InstanceNorm(in[0], in[1], in[2], eps); });
});

const OnnxOps kGroupNorm18("GroupNormalization", 18, [](OnnxCall& call) -> Step {
  const int64_t groups = call.Int("num_groups");
  const double eps = call.Float("epsilon", 1e-5f);
  const int64_t channels = call.node.Rank(0) > 1 ? call.node.ShapeAt(0)[1] : 0;
  if (groups < 1 || channels % groups != 0 || call.node.Spec(1).shape.num_elements() != groups ||
      call.node.Spec(2).shape.num_elements() != groups) {
    RefuseNode("scale and bias are expected to have one element for each of ", groups, " groups");
  }
  const auto each = [=](const Tensor& t) {
    return Flatten(Expand(Reshape(t, {groups, 1}), {groups, channels / groups}));
  };
  return One([=](In in) { return GroupNorm(in[0], groups, each(in[1]), each(in[2]), eps); });
});

const OnnxOps kGroupNorm21("GroupNormalization", 21, [](OnnxCall& call) -> Step {
  const int64_t groups = call.Int("num_groups");
  const double eps = call.Float("epsilon", 1e-5f);
  call.node.Spec(1);
  call.node.Spec(2);
  return One([=](In in) { return GroupNorm(in[0], groups, in[1], in[2], eps); });
});

// Y, and the mean and the inverse deviation that it was made with, in f32 of half types.
TensorList NormalizeLayer(In in, int64_t axis, double eps) {
  const Tensor x = Wide(in[0]);
  const DimList dims = From(axis, x.rank());
  const Tensor mean = Mean(x, dims, true), centred = x - mean;
  const Tensor inverse = Rsqrt(Mean(Square(centred), dims, true) + eps);
  Tensor y = (centred * inverse).To(in[0].dtype()) * in[1];
  if (At(in, 2).defined()) y = y + in[2];
  return {y, mean, inverse};
}

const OnnxOps kLayerNorm("LayerNormalization", 17, [](OnnxCall& call) -> Step {
  const Shape& x = call.node.ShapeAt(0);
  const int64_t axis = call.Axis(call.Int("axis", -1), x.rank());
  const double eps = call.Float("epsilon", 1e-5f);
  const std::vector<int64_t> last(x.begin() + axis, x.end());
  const Shape normalized(last);
  const bool plain = call.node.ShapeAt(1) == normalized &&
                     (!call.node.Has(2) || call.node.ShapeAt(2) == normalized);
  if (!plain || call.node.Wants(1) || call.node.Wants(2)) {
    return [=](In in) { return NormalizeLayer(in, axis, eps); };
  }
  return One([=](In in) { return LayerNorm(in[0], normalized, in[1], At(in, 2), eps); });
});

const OnnxOps kRmsNorm("RMSNormalization", 23, [](OnnxCall& call) -> Step {
  const Shape& x = call.node.ShapeAt(0);
  const int64_t axis = call.Axis(call.Int("axis", -1), x.rank());
  const double eps = call.Float("epsilon", 1e-5f);
  const std::vector<int64_t> last(x.begin() + axis, x.end());
  const Shape normalized(last);
  const bool plain =
      call.node.ShapeAt(1) == normalized && call.node.DTypeAt(1) == call.node.DTypeAt(0);
  return One([=](In in) {
    if (plain) return RmsNorm(in[0], normalized, in[1], eps);
    const Tensor wide = Wide(in[0]);
    const Tensor inverse = Rsqrt(Mean(Square(wide), From(axis, wide.rank()), true) + eps);
    return (wide * inverse).To(in[0].dtype()) * in[1];
  });
});

// --- Of channels and axes -----------------------------------------------------------------------

const OnnxOps kLrn("LRN", 1, [](OnnxCall& call) -> Step {
  const int64_t size = call.Int("size");
  const LocalResponseNormOptions options = {.alpha = call.Float("alpha", 1e-4f),
                                            .beta = call.Float("beta", 0.75f),
                                            .k = call.Float("bias", 1)};
  return One([=](In in) {
    // A window of an even size has one more channel above here, and below there.
    if (size % 2 == 1) return LocalResponseNorm(in[0], size, options);
    return Flip(LocalResponseNorm(Flip(in[0], {1}), size, options), {1});
  });
});

const OnnxOps kLpNormalization("LpNormalization", 1, [](OnnxCall& call) -> Step {
  const int64_t axis = call.Axis(call.Int("axis", -1), call.node.Rank(0));
  const auto p = static_cast<double>(call.Int("p", 2));
  return One([=](In in) { return Normalize(in[0], p, {axis}, 0); });
});

// (x - mean) / (deviation + 1e-9), as its function's body says.
const OnnxOps kMeanVariance("MeanVarianceNormalization", 9, [](OnnxCall& call) -> Step {
  const std::vector<int64_t> axes =
      call.Axes(call.Ints("axes").value_or(std::vector<int64_t>{0, 2, 3}), call.node.Rank(0));
  return One([=](In in) {
    const DimList dims(axes);
    const Tensor x = Wide(in[0]);
    const Tensor deviation = Std(x, dims, 0, true);
    return ((x - Mean(x, dims, true)) / (deviation + 1e-9)).To(in[0].dtype());
  });
});

// --- Dropout ------------------------------------------------------------------------------------

// Nothing is dropped: the mask is of ones, of x's dtype before 10.
Step KeepAll(OnnxCall& call) {
  const DType dtype = call.opset() < 10 ? call.node.DTypeAt(0) : DType::kBool;
  const Shape shape = call.node.ShapeAt(0);
  std::vector<BoundValue> outputs = {call.node.Input(0)};
  if (call.node.Wants(1)) {
    outputs.push_back(autograd::NodeCall::Constant(Ones(shape, dtype)));
  }
  call.node.Return(std::move(outputs));
  return {};
}

Step DropSome(double ratio) {
  return [=](In in) {
    const Tensor kept = Ge(Rand(in[0].shape(), DType::kF32, {.device = in[0].device()}), ratio);
    const Tensor scaled = ratio < 1 ? in[0] / (1 - ratio) : in[0];
    return TensorList{Where(kept, scaled, ZerosLike(in[0])), kept};
  };
}

void CheckTraining(const OnnxNodeAttributes& node) {
  const double ratio = node.Float("ratio", 0.5f);
  // A file that says nothing asks for training; its writers did not mean that.
  const bool training = node.Has("is_test") && !node.Flag("is_test", false);
  if (training && ratio > 0) RefuseUnsupported("is_test = 0 is not supported");
}
const OnnxOps kDropout1("Dropout", 1, KeepAll, {.check = CheckTraining});
const OnnxOps kDropout7("Dropout", 7, KeepAll);
const OnnxOps kDropout12("Dropout", 12,
                         [](OnnxCall& call) -> Step {
                           const bool training =
                               call.node.Has(2) &&
                               call.node.Known(2, "training_mode").ToVector<bool>().at(0);
                           const double ratio =
                               call.node.Has(1) ? call.node.KnownNumber(1, "ratio") : 0.5;
                           if (ratio < 0 || ratio > 1)
                             RefuseNode("ratio is expected in [0, 1], it is ", ratio);
                           return training && ratio > 0 ? DropSome(ratio) : KeepAll(call);
                         },
                         {.settings = {1, 2}, .draws = true});

}  // namespace
}  // namespace firn::io::internal
