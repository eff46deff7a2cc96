// Losses, which are not reduced, and measures of how good a result is.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "firn/io/nnabla_network/internal/nnabla_ops.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using Args = NnablaArguments;

const NnablaOps kSigmoidCross("SigmoidCrossEntropy", 2, 2, [](const Args&, In in) -> TensorList {
  return {BinaryCrossEntropyWithLogits(in[0], NumbersOf(in[1]), {.reduction = Reduction::kNone})};
});
const NnablaOps kBinaryCross("BinaryCrossEntropy", 2, 2, [](const Args&, In in) -> TensorList {
  return {BinaryCrossEntropy(in[0], NumbersOf(in[1]), {.reduction = Reduction::kNone})};
});

// Losses of samples, 0 for labels below 0, with a size of 1 where the classes were.
TensorList OfClasses(const Args& a, In in, bool probabilities) {
  const int64_t axis = AxisOf(in[0], a.Int("axis"));
  const Tensor labels = LabelsOf(in[1], axis);
  const Tensor counted = Maximum(labels, FullLike(labels, -1));
  const Tensor x = axis == 1 || in[0].rank() < 2 ? in[0] : Movedim(in[0], axis, 1);
  const Tensor least = FullLike(x, 1.17549435e-38);
  const Tensor losses =
      probabilities ? NllLoss(Log(Maximum(x, least)), counted,
                              {.ignore_index = -1, .reduction = Reduction::kNone})
                    : CrossEntropy(x, counted, {.ignore_index = -1, .reduction = Reduction::kNone});
  return {Reshape(losses, in[1].shape())};
}

const NnablaOps kSoftmaxCross("SoftmaxCrossEntropy", 2, 2,
                              [](const Args& a, In in) { return OfClasses(a, in, false); });
const NnablaOps kCategoricalCross("CategoricalCrossEntropy", 2, 2,
                                  [](const Args& a, In in) { return OfClasses(a, in, true); });

const NnablaOps kSquared("SquaredError", 2, 2, [](const Args&, In in) -> TensorList {
  return {Square(Sub(in[0], in[1]))};
});
const NnablaOps kAbsolute("AbsoluteError", 2, 2, [](const Args&, In in) -> TensorList {
  return {Abs(Sub(in[0], in[1]))};
});
// Twice the paper's.
const NnablaOps kHuber("HuberLoss", 2, 2, [](const Args& a, In in) -> TensorList {
  return {Mul(HuberLoss(in[0], in[1], {.reduction = Reduction::kNone, .delta = a.Number("delta")}),
              Tensor(2.0))};
});
const NnablaOps kEpsilon("EpsilonInsensitiveLoss", 2, 2, [](const Args& a, In in) -> TensorList {
  return {EpsilonInsensitiveLoss(in[0], in[1], a.Number("epsilon"))};
});
// sum p (log(p + 1e-8) - log(q + 1e-8)) of each sample.
const NnablaOps kKl("KLMultinomial", 2, 2, [](const Args& a, In in) -> TensorList {
  const Tensor few(1e-8);
  const Tensor terms = Mul(in[0], Sub(Log(Add(in[0], few)), Log(Add(in[1], few))));
  const int64_t base = a.Int("base_axis");
  return {Reshaped(Sum(RowsOf(terms, base), 1), Joined(SizesOf(in[0], 0, base), {1}))};
});

const NnablaOps kTopN("TopNError", 2, 2, [](const Args& a, In in) -> TensorList {
  const int64_t axis = AxisOf(in[0], a.Int("axis"));
  return {
      Reshape(NumbersOf(TopNError(in[0], LabelsOf(in[1], axis), axis, a.Int("n"))), in[1].shape())};
});
const NnablaOps kBinaryError("BinaryError", 2, 2, [](const Args&, In in) -> TensorList {
  return {NumbersOf(BinaryError(in[0], NumbersOf(in[1])))};
});
const NnablaOps kConfusion("ConfusionMatrix", 2, 2, [](const Args& a, In in) -> TensorList {
  const int64_t axis = AxisOf(in[0], a.Int("axis"));
  return {Cast(ConfusionMatrix(in[0], LabelsOf(in[1], axis), axis), DType::kF32)};
});

// --- Quantization -------------------------------------------------------------------------------

const NnablaOps kBinarySigmoid("BinarySigmoid", 1, 1, [](const Args&, In in) -> TensorList {
  return {BinarySigmoid(in[0])};
});
const NnablaOps kBinaryTanh("BinaryTanh", 1, 1,
                            [](const Args&, In in) -> TensorList { return {BinaryTanh(in[0])}; });
const NnablaOps kFixedPoint("FixedPointQuantize", 1, 1, [](const Args& a, In in) -> TensorList {
  return {FixedPointQuantize(in[0], {.sign = a.Flag("sign"),
                                     .n = a.Int("n"),
                                     .delta = a.Number("delta"),
                                     .ste_fine_grained = a.Flag("ste_fine_grained")})};
});
const NnablaOps kPow2Quantize("Pow2Quantize", 1, 1, [](const Args& a, In in) -> TensorList {
  return {Pow2Quantize(in[0], {.sign = a.Flag("sign"),
                               .with_zero = a.Flag("with_zero"),
                               .n = a.Int("n"),
                               .m = a.Int("m"),
                               .ste_fine_grained = a.Flag("ste_fine_grained")})};
});
const NnablaOps kMinMax("MinMaxQuantize", 5, 5, [](const Args& a, In in) -> TensorList {
  return {MinMaxQuantize(in[0], in[1], in[2], in[3], in[4],
                         {.decay = a.Number("decay"),
                          .x_min_max = a.Flag("x_min_max"),
                          .ema = a.Flag("ema"),
                          .ste_fine_grained = a.Flag("ste_fine_grained"),
                          .eps = a.Number("eps")})};
});
const NnablaOps kPrune("Prune", 1, 1, [](const Args& a, In in) -> TensorList {
  return {MagnitudePrune(in[0], a.Number("rate"))};
});
// (x - zero) scale; x may have fractions, which NNabla does not round.
const NnablaOps kDequantize("DequantizeLinear", 3, 3, [](const Args&, In in) -> TensorList {
  return {Mul(Sub(in[0], in[2]), in[1])};
});
// Numbers of the dtype 1 (i8), 2 (u8), 5 (i32), as floats.
const NnablaOps kQuantize("QuantizeLinear", 3, 3, [](const Args& a, In in) -> TensorList {
  const int64_t dtype = a.Int("dtype");
  const double bits = dtype == 1 || dtype == 2 ? 8 : dtype == 3 || dtype == 4 ? 16 : 32;
  const bool with_sign = dtype == 1 || dtype == 3 || dtype == 5;
  if (dtype < 1 || dtype > 6) RefuseNnabla("dtype", "from 1 to 6", absl::StrCat(dtype));
  double low = with_sign ? -std::exp2(bits - 1) : 0;
  const double high = with_sign ? std::exp2(bits - 1) - 1 : std::exp2(bits) - 1;
  if (a.Flag("narrow_range")) low += 1;
  const bool away = a.Text("round_mode") == "HALF_AWAY_FROM_ZERO";
  const Tensor scaled = Div(in[0], in[1]);
  const Tensor whole = Round(scaled, {.ties = away ? RoundTies::kAway : RoundTies::kEven});
  const Tensor y = Clamp(Add(whole, in[2]), low, high);
  return {StraightThrough(y, scaled)};
});

// The binary weight, which NNabla stores, is computed here.
Tensor BinaryAffine(const Args& a, In in, size_t bias, bool scaled) {
  BinarizeOptions options = {.zero_to = a.Number("quantize_zero_to")};
  if (scaled) options.scale_dim = 0;
  const Tensor w = Binarize(RowsOf(in[1], 1).T(), options);
  const int64_t base = a.Int("base_axis");
  const Tensor b = in.size() > bias ? Flatten(in[bias]) : Tensor();
  return Reshaped(Linear(RowsOf(in[0], base), w, b),
                  Joined(SizesOf(in[0], 0, base), SizesOf(in[1], 1, in[1].rank())));
}
const NnablaOps kConnect("BinaryConnectAffine", 3, 4, [](const Args& a, In in) -> TensorList {
  return {BinaryAffine(a, in, 3, false)};
});
const NnablaOps kBinaryWeight("BinaryWeightAffine", 4, 5, [](const Args& a, In in) -> TensorList {
  return {BinaryAffine(a, in, 4, true)};
});

Tensor BinaryConvolution(const Args& a, In in, size_t bias, bool scaled) {
  BinarizeOptions options = {.zero_to = a.Number("quantize_zero_to")};
  if (scaled) options.scale_dim = 0;
  const int64_t base = a.Int("base_axis");
  const Tensor images = ImagesOf(in[0], base, false);
  if (images.rank() != 4) {
    RefuseNnabla("the number of dimensions of images", "2", absl::StrCat(images.rank() - 2));
  }
  const Tensor b = in.size() > bias ? Flatten(in[bias]) : Tensor();
  const auto sizes = [&](std::string_view name) {
    return Sizes(absl::Span<const int64_t>(a.Ints(name)));
  };
  return FromImages(Conv2d(images, Binarize(in[1], options), b,
                           {.stride = sizes("stride"),
                            .padding = sizes("pad"),
                            .dilation = sizes("dilation"),
                            .groups = a.Int("group")}),
                    in[0], base, false);
}
const NnablaOps kConnectConv("BinaryConnectConvolution", 3, 4,
                             [](const Args& a, In in) -> TensorList {
                               return {BinaryConvolution(a, in, 3, false)};
                             });
const NnablaOps kWeightConv("BinaryWeightConvolution", 4, 5,
                            [](const Args& a, In in) -> TensorList {
                              return {BinaryConvolution(a, in, 4, true)};
                            });

}  // namespace
}  // namespace firn::io::internal
