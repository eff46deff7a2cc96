// One factory a layer. Options with a Visit are set by their names.

#include "tests/nn/golden_layers.h"

#include <utility>
#include <vector>

#include "firn/nn/activation.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/bilinear.h"
#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/embedding.h"
#include "firn/nn/fold.h"
#include "firn/nn/linear.h"
#include "firn/nn/loss.h"
#include "firn/nn/norm.h"
#include "firn/nn/padding.h"
#include "firn/nn/pooling.h"
#include "firn/nn/prelu.h"
#include "firn/nn/shape_layers.h"
#include "firn/tensor/golden_samples.h"

namespace firn::nn {
namespace {

using testing::GoldenArgs;
using testing::GoldenCase;

template <class L>
Made Make(const typename L::Options& options = {}) {
  auto layer = std::make_unique<L>(options);
  L* raw = layer.get();
  return {std::move(layer), [raw](const Tensor& x, const Tensor& target) {
            if constexpr (requires { (*raw)(x, target); }) {
              return (*raw)(x, target);
            } else {
              return (*raw)(x);
            }
          }};
}

// A layer without options, or with those of its operation.
template <class L>
Made MakePlain(const GoldenCase& c, bool) {
  typename L::Options options;
  if constexpr (requires(AttrVisitor & v) { options.Visit(v); }) {
    GoldenArgs args(c);
    options = testing::AttrsFrom<typename L::Options>(args);
  }
  return Make<L>(options);
}

Sizes SizeOf(const GoldenCase& c, const char* attr, int64_t otherwise) {
  return Sizes(c.Ints(attr, {otherwise}));
}

Reduction ReductionOf(const GoldenCase& c) {
  const std::map<std::string, Reduction> reductions = {
      {"none", Reduction::kNone}, {"mean", Reduction::kMean}, {"sum", Reduction::kSum}};
  return reductions.at(c.Text("reduction", "mean"));
}

PadMode PadModeOf(const GoldenCase& c) {
  const std::map<std::string, PadMode> modes = {{"zeros", PadMode::kConstant},
                                                {"reflect", PadMode::kReflect},
                                                {"replicate", PadMode::kReplicate},
                                                {"circular", PadMode::kCircular}};
  return modes.at(c.Text("padding_mode", "zeros"));
}

Tensor InputOf(const GoldenCase& c, const char* name) {
  return c.inputs.Contains(name) ? c.inputs[name] : Tensor();
}

template <class Pool>
Made MakePool(const GoldenCase& c, bool) {
  typename Pool::Options o;
  o.kernel = SizeOf(c, "kernel", 1);
  if (c.Has("stride")) o.stride = SizeOf(c, "stride", 1);
  if constexpr (requires { o.padding; }) o.padding = SizeOf(c, "padding", 0);
  if constexpr (requires { o.ceil_mode; }) o.ceil_mode = c.Flag("ceil_mode", false);
  if constexpr (requires { o.p; }) o.p = c.Number("p", 2);
  if constexpr (requires { o.divisor_override; }) {
    o.divisor_override = c.Int("divisor_override", 0);
  }
  if constexpr (requires { o.dilation; }) o.dilation = SizeOf(c, "dilation", 1);
  if constexpr (requires { o.count_include_pad; }) {
    o.count_include_pad = c.Flag("count_include_pad", true);
  }
  return Make<Pool>(o);
}

template <class Pool>
Made MakeAdaptivePool(const GoldenCase& c, bool) {
  return Make<Pool>({.output_size = SizeOf(c, "output_size", 1)});
}

template <class Layer>
Made MakeUnfolding(const GoldenCase& c, bool) {
  typename Layer::Options o;
  o.kernel = SizeOf(c, "kernel", 1);
  o.dilation = SizeOf(c, "dilation", 1);
  o.padding = SizeOf(c, "padding", 0);
  o.stride = SizeOf(c, "stride", 1);
  if constexpr (requires { o.output_size; }) o.output_size = SizeOf(c, "output_size", 1);
  return Make<Layer>(o);
}

template <class Norm>
Made MakeBatchNorm(const GoldenCase& c, bool deferred) {
  return Make<Norm>({.channels = deferred ? kDeferred : c.Int("channels", 0),
                     .eps = c.Number("eps", 1e-5),
                     .momentum = c.Number("momentum", 0.1),
                     .affine = c.Flag("affine", true),
                     .track_running_stats = c.Flag("track_running_stats", true)});
}

// The input tells only a single normalised dimension.
Made MakeLayerNorm(const GoldenCase& c, bool deferred) {
  const std::vector<int64_t> shape = c.Ints("shape", {});
  return Make<LayerNorm>({.shape = deferred && shape.size() == 1 ? std::vector<int64_t>() : shape,
                          .eps = c.Number("eps", 1e-5),
                          .affine = c.Flag("affine", true),
                          .bias = c.Flag("bias", true)});
}

Made MakeRmsNorm(const GoldenCase& c, bool deferred) {
  const std::vector<int64_t> shape = c.Ints("shape", {});
  return Make<RmsNorm>({.shape = deferred && shape.size() == 1 ? std::vector<int64_t>() : shape,
                        .eps = c.Number("eps", 0),
                        .affine = c.Flag("affine", true)});
}

Made MakePrelu(const GoldenCase& c, bool) { return Make<Prelu>({.count = c.Int("count", 1)}); }

Made MakeGroupNorm(const GoldenCase& c, bool deferred) {
  return Make<GroupNorm>({.groups = c.Int("groups", 1),
                          .channels = deferred ? kDeferred : c.Int("channels", 0),
                          .eps = c.Number("eps", 1e-5),
                          .affine = c.Flag("affine", true)});
}

template <class Convolution>
Made MakeConv(const GoldenCase& c, bool deferred) {
  return Make<Convolution>({.in = deferred ? kDeferred : c.Int("in", 0),
                            .out = c.Int("out", 0),
                            .kernel = SizeOf(c, "kernel", 1),
                            .stride = SizeOf(c, "stride", 1),
                            .padding = SizeOf(c, "padding", 0),
                            .dilation = SizeOf(c, "dilation", 1),
                            .groups = c.Int("groups", 1),
                            .bias = c.Flag("bias", true),
                            .padding_mode = PadModeOf(c)});
}

template <class Convolution>
Made MakeConvTranspose(const GoldenCase& c, bool deferred) {
  return Make<Convolution>({.in = deferred ? kDeferred : c.Int("in", 0),
                            .out = c.Int("out", 0),
                            .kernel = SizeOf(c, "kernel", 1),
                            .stride = SizeOf(c, "stride", 1),
                            .padding = SizeOf(c, "padding", 0),
                            .output_padding = SizeOf(c, "output_padding", 0),
                            .groups = c.Int("groups", 1),
                            .bias = c.Flag("bias", true),
                            .dilation = SizeOf(c, "dilation", 1)});
}

Made MakeEmbedding(const GoldenCase& c, bool) {
  EmbeddingOptions o = {.count = c.Int("count", 0), .size = c.Int("size", 0)};
  if (c.Has("padding_idx")) o.padding_idx = c.Int("padding_idx", 0);
  return Make<Embedding>(o);
}

Made MakeLinear(const GoldenCase& c, bool deferred) {
  return Make<Linear>({.in = deferred ? kDeferred : c.Int("in", 0),
                       .out = c.Int("out", 0),
                       .bias = c.Flag("bias", true)});
}

// The second operand stands where losses have their target.
Made MakeBilinear(const GoldenCase& c, bool deferred) {
  return Make<Bilinear>({.in1 = deferred ? kDeferred : c.Int("in1", 0),
                         .in2 = deferred ? kDeferred : c.Int("in2", 0),
                         .out = c.Int("out", 0),
                         .bias = c.Flag("bias", true)});
}

Made MakeCrossEntropyLoss(const GoldenCase& c, bool) {
  return Make<CrossEntropyLoss>({.weight = InputOf(c, "weight"),
                                 .ignore_index = c.Int("ignore_index", -100),
                                 .reduction = ReductionOf(c),
                                 .label_smoothing = c.Number("label_smoothing", 0)});
}

Made MakeNllLoss(const GoldenCase& c, bool) {
  return Make<NllLoss>({.weight = InputOf(c, "weight"),
                        .ignore_index = c.Int("ignore_index", -100),
                        .reduction = ReductionOf(c)});
}

Made MakeBceWithLogitsLoss(const GoldenCase& c, bool) {
  return Make<BceWithLogitsLoss>({.weight = InputOf(c, "weight"),
                                  .pos_weight = InputOf(c, "pos_weight"),
                                  .reduction = ReductionOf(c)});
}

template <class Loss>
Made MakeLoss(const GoldenCase& c, bool) {
  typename Loss::Options options;
  options.reduction = ReductionOf(c);
  if constexpr (requires { options.weight; }) options.weight = InputOf(c, "weight");
  if constexpr (requires { options.beta; }) options.beta = c.Number("beta", 1);
  if constexpr (requires { options.delta; }) options.delta = c.Number("delta", 1);
  return Make<Loss>(options);
}

}  // namespace

const std::map<std::string, Factory>& Factories() {
  static const auto* factories = new std::map<std::string, Factory>{
      {"adaptive_avg_pool1d", MakeAdaptivePool<AdaptiveAvgPool1d>},
      {"adaptive_avg_pool2d", MakeAdaptivePool<AdaptiveAvgPool2d>},
      {"adaptive_avg_pool3d", MakeAdaptivePool<AdaptiveAvgPool3d>},
      {"adaptive_max_pool1d", MakeAdaptivePool<AdaptiveMaxPool1d>},
      {"adaptive_max_pool2d", MakeAdaptivePool<AdaptiveMaxPool2d>},
      {"adaptive_max_pool3d", MakeAdaptivePool<AdaptiveMaxPool3d>},
      {"avg_pool1d", MakePool<AvgPool1d>},
      {"avg_pool2d", MakePool<AvgPool2d>},
      {"avg_pool3d", MakePool<AvgPool3d>},
      {"batch_norm1d", MakeBatchNorm<BatchNorm1d>},
      {"batch_norm2d", MakeBatchNorm<BatchNorm2d>},
      {"batch_norm3d", MakeBatchNorm<BatchNorm3d>},
      {"bce_loss", MakeLoss<BceLoss>},
      {"bce_with_logits_loss", MakeBceWithLogitsLoss},
      {"bilinear", MakeBilinear},
      {"celu", MakePlain<Celu>},
      {"circular_pad1d", MakePlain<CircularPad1d>},
      {"circular_pad2d", MakePlain<CircularPad2d>},
      {"circular_pad3d", MakePlain<CircularPad3d>},
      {"constant_pad1d", MakePlain<ConstantPad1d>},
      {"constant_pad2d", MakePlain<ConstantPad2d>},
      {"constant_pad3d", MakePlain<ConstantPad3d>},
      {"conv1d", MakeConv<Conv1d>},
      {"conv2d", MakeConv<Conv2d>},
      {"conv3d", MakeConv<Conv3d>},
      {"conv_transpose1d", MakeConvTranspose<ConvTranspose1d>},
      {"conv_transpose2d", MakeConvTranspose<ConvTranspose2d>},
      {"conv_transpose3d", MakeConvTranspose<ConvTranspose3d>},
      {"cross_entropy_loss", MakeCrossEntropyLoss},
      {"dropout", MakePlain<Dropout>},
      {"elu", MakePlain<Elu>},
      {"embedding", MakeEmbedding},
      {"flatten",
       [](const GoldenCase& c, bool) {
         return Make<Flatten>({.start_dim = static_cast<int>(c.Int("start_dim", 1))});
       }},
      {"fold", MakeUnfolding<Fold>},
      {"gelu", MakePlain<Gelu>},
      {"glu", MakePlain<Glu>},
      {"group_norm", MakeGroupNorm},
      {"hardshrink", MakePlain<Hardshrink>},
      {"hardsigmoid", MakePlain<Hardsigmoid>},
      {"hardswish", MakePlain<Hardswish>},
      {"hardtanh", MakePlain<Hardtanh>},
      {"huber_loss", MakeLoss<HuberLoss>},
      {"identity", MakePlain<Identity>},
      {"kl_div_loss", MakePlain<KlDivLoss>},
      {"l1_loss", MakeLoss<L1Loss>},
      {"layer_norm", MakeLayerNorm},
      {"leaky_relu", MakePlain<LeakyRelu>},
      {"linear", MakeLinear},
      {"log_sigmoid", MakePlain<LogSigmoid>},
      {"log_softmax", MakePlain<LogSoftmax>},
      {"lp_pool1d", MakePool<LpPool1d>},
      {"lp_pool2d", MakePool<LpPool2d>},
      {"max_pool1d", MakePool<MaxPool1d>},
      {"max_pool2d", MakePool<MaxPool2d>},
      {"max_pool3d", MakePool<MaxPool3d>},
      {"max_unpool2d", MakePool<MaxUnpool2d>},
      {"mish", MakePlain<Mish>},
      {"mse_loss", MakeLoss<MseLoss>},
      {"nll_loss", MakeNllLoss},
      {"prelu", MakePrelu},
      {"reflection_pad1d", MakePlain<ReflectionPad1d>},
      {"reflection_pad2d", MakePlain<ReflectionPad2d>},
      {"reflection_pad3d", MakePlain<ReflectionPad3d>},
      {"relu", MakePlain<Relu>},
      {"relu6", MakePlain<Relu6>},
      {"replication_pad1d", MakePlain<ReplicationPad1d>},
      {"replication_pad2d", MakePlain<ReplicationPad2d>},
      {"replication_pad3d", MakePlain<ReplicationPad3d>},
      {"rms_norm", MakeRmsNorm},
      {"selu", MakePlain<Selu>},
      {"sigmoid", MakePlain<Sigmoid>},
      {"silu", MakePlain<Silu>},
      {"smooth_l1_loss", MakeLoss<SmoothL1Loss>},
      {"softmax", MakePlain<Softmax>},
      {"softmin", MakePlain<Softmin>},
      {"softplus", MakePlain<Softplus>},
      {"softshrink", MakePlain<Softshrink>},
      {"softsign", MakePlain<Softsign>},
      {"tanh", MakePlain<Tanh>},
      {"tanhshrink", MakePlain<Tanhshrink>},
      {"threshold", MakePlain<Threshold>},
      {"unfold", MakeUnfolding<Unfold>},
      {"zero_pad1d", MakePlain<ZeroPad1d>},
      {"zero_pad2d", MakePlain<ZeroPad2d>},
      {"zero_pad3d", MakePlain<ZeroPad3d>},
  };
  return *factories;
}

}  // namespace firn::nn
