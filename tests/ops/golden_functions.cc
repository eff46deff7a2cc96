// The functions whose vectors cannot be fed to one registered operation as they are.

#include <optional>

#include "absl/strings/str_cat.h"
#include "tensor/ops.h"
#include "tests/ops/golden_calls.h"

namespace firn::testing {
namespace {

using Args = GoldenArgs;

StateDict Y(Tensor y) { return {{"y", std::move(y)}}; }

StateDict List(const std::vector<Tensor>& tensors) {
  StateDict results;
  for (const Tensor& t : tensors) results.Insert(absl::StrCat("y.", results.size()), t);
  return results;
}

StateDict Pair(const ValuesAndIndices& pair) {
  return {{"values", pair.values}, {"indices", pair.indices}};
}

template <Tensor (*F)(const Tensor&)>
StateDict Unary(Args& a) {
  return Y(F(a["x"]));
}

template <Tensor (*F)(const Tensor&, const Tensor&)>
StateDict Binary(Args& a) {
  return Y(F(a["x"], a["y"]));
}

template <Tensor (*F)(const Tensor&, const Tensor&, double)>
StateDict Scaled(Args& a) {
  return Y(F(a["x"], a["y"], a.Number("alpha", 1)));
}

// Without `dim` it is the registered operation, whose attribute `flatten` is true by itself.
template <Tensor (*Along)(const Tensor&, int64_t, bool)>
StateDict ArgReduce(Args& a, const char* name) {
  if (!a.Has("dim")) return CallOp(Op(name), a);
  return Y(Along(a["x"], a.Int("dim", 0), a.Flag("keepdim", false)));
}

template <ValuesAndIndices (*F)(const Tensor&, int64_t, bool)>
StateDict Extreme(Args& a) {
  return Pair(F(a["x"], a.Int("dim", 0), a.Flag("keepdim", false)));
}

int64_t Dim(Args& a, int64_t otherwise = 0) { return a.Int("dim", otherwise); }

Sizes Size(Args& a, const char* attr, int64_t otherwise) {
  return Sizes(a.Ints(attr, {otherwise}));
}

std::optional<Sizes> Stride(Args& a) {
  if (!a.Has("stride")) return {};
  return Size(a, "stride", 1);
}

template <class Enum>
Enum EnumOf(Args& a, const char* attr, Enum otherwise) {
  return static_cast<Enum>(a.Enumerator(attr, static_cast<int64_t>(otherwise)));
}

ConvPadding Padding(Args& a) {
  const std::string text = a.Text("padding");
  if (text == "same") return kSame;
  if (text == "valid") return kValid;
  return Size(a, "padding", 0);
}

StateDict CallArange(Args& a) {
  const Tensor start = a["start"], end = a["end"], step = a.Has("step") ? a["step"] : Tensor(1);
  if (start.dtype() == DType::kI64) {
    return Y(Arange(start.Item<int64_t>(), end.Item<int64_t>(), step.Item<int64_t>()));
  }
  return Y(Arange(a.Number("start", 0), a.Number("end", 0), a.Number("step", 1)));
}

using ConvFunction = Tensor(const Tensor&, const Tensor&, const Tensor&, const ConvOptions&);
template <ConvFunction* kFunction>
StateDict CallConv(Args& a) {
  return Y(kFunction(a["x"], a["weight"], a["bias"],
                     {.stride = Size(a, "stride", 1),
                      .padding = Padding(a),
                      .dilation = Size(a, "dilation", 1),
                      .groups = a.Int("groups", 1)}));
}

using ConvTransposeFunction = Tensor(const Tensor&, const Tensor&, const Tensor&,
                                     const ConvTransposeOptions&);
template <ConvTransposeFunction* kFunction>
StateDict CallConvTranspose(Args& a) {
  return Y(kFunction(a["x"], a["weight"], a["bias"],
                     {.stride = Size(a, "stride", 1),
                      .padding = Size(a, "padding", 0),
                      .output_padding = Size(a, "output_padding", 0),
                      .groups = a.Int("groups", 1),
                      .dilation = Size(a, "dilation", 1)}));
}

template <Tensor (*Pool)(const Tensor&, const MaxPoolOptions&),
          ValuesAndIndices (*PoolWithIndices)(const Tensor&, const MaxPoolOptions&)>
StateDict CallMaxPool(Args& a) {
  const MaxPoolOptions options = {.kernel = Size(a, "kernel", 1),
                                  .stride = Stride(a),
                                  .padding = Size(a, "padding", 0),
                                  .dilation = Size(a, "dilation", 1),
                                  .ceil_mode = a.Flag("ceil_mode", false)};
  if (!a.Flag("return_indices", false)) return Y(Pool(a["x"], options));
  const ValuesAndIndices both = PoolWithIndices(a["x"], options);
  return {{"y", both.values}, {"indices", Cast(both.indices, DType::kI64)}};
}

template <Tensor (*Pool)(const Tensor&, const Sizes&),
          ValuesAndIndices (*PoolWithIndices)(const Tensor&, const Sizes&)>
StateDict CallAdaptiveMaxPool(Args& a) {
  const Sizes size = Size(a, "output_size", 1);
  if (!a.Flag("return_indices", false)) return Y(Pool(a["x"], size));
  const ValuesAndIndices both = PoolWithIndices(a["x"], size);
  return {{"y", both.values}, {"indices", Cast(both.indices, DType::kI64)}};
}

StateDict CallMaxUnpool2d(Args& a) {
  std::optional<Sizes> output_size;
  if (a.Has("output_size")) output_size = Size(a, "output_size", 1);
  return Y(MaxUnpool2d(a["x"], a["indices"],
                       {.kernel = Size(a, "kernel", 1),
                        .stride = Stride(a),
                        .padding = Size(a, "padding", 0),
                        .output_size = output_size}));
}

using AvgPoolFunction = Tensor(const Tensor&, const AvgPoolOptions&);
template <AvgPoolFunction* kFunction>
StateDict CallAvgPool(Args& a) {
  return Y(kFunction(a["x"], {.kernel = Size(a, "kernel", 1),
                              .stride = Stride(a),
                              .padding = Size(a, "padding", 0),
                              .ceil_mode = a.Flag("ceil_mode", false),
                              .count_include_pad = a.Flag("count_include_pad", true),
                              .divisor_override = a.Int("divisor_override", 0)}));
}

template <Tensor (*kFunction)(const Tensor&, double, const LpPoolOptions&)>
StateDict CallLpPool(Args& a) {
  return Y(kFunction(a["x"], a.Number("p", 2),
                     {.kernel = Size(a, "kernel", 1),
                      .stride = Stride(a),
                      .ceil_mode = a.Flag("ceil_mode", false)}));
}

template <class Options>
Options UnfoldingOptions(Args& a) {
  Options o;
  o.kernel = Size(a, "kernel", 1);
  o.dilation = Size(a, "dilation", 1);
  o.padding = Size(a, "padding", 0);
  o.stride = Size(a, "stride", 1);
  return o;
}

StateDict CallFold(Args& a) {
  auto options = UnfoldingOptions<FoldOptions>(a);
  options.output_size = Size(a, "output_size", 1);
  return Y(Fold(a["x"], options));
}

StateDict CallBatchNorm(Args& a) {
  return Y(BatchNorm(a["x"], a["running_mean"], a["running_var"], a["weight"], a["bias"],
                     {.training = a.Flag("training", false),
                      .momentum = a.Number("momentum", 0.1),
                      .eps = a.Number("eps", 1e-5),
                      .activation = EnumOf(a, "activation", FusedActivation::kNone)}));
}

StateDict CallAdamStep(Args& a) {
  const AdamStepAttrs standard;
  // `amsgrad` is an option of the class; the operation is given max_var.
  AdamStep(a["param"], a["grad"], a["mean"], a["var"],
           a.Flag("amsgrad", false) ? a["max_var"] : Tensor(), a["step"], a["lr"],
           {{.beta1 = a.Number("beta1", standard.beta1),
             .beta2 = a.Number("beta2", standard.beta2),
             .eps = a.Number("eps", standard.eps),
             .weight_decay = a.Number("weight_decay", 0)}});
  return {};
}

StateDict CallEmbedding(Args& a) {
  std::optional<int64_t> padding_idx;
  if (a.Has("padding_idx")) padding_idx = a.Int("padding_idx", 0);
  return Y(Embedding(
      a["indices"], a["weight"],
      {.padding_idx = padding_idx, .scale_grad_by_freq = a.Flag("scale_grad_by_freq", false)}));
}

// The tensors `indices` at the places `dims` of a subscript (default: the first ones).
std::vector<Tensor> Subscript(Args& a) {
  const std::vector<Tensor> indices = a.List("indices");
  const std::vector<int64_t> dims = a.Ints("dims");
  if (dims.empty()) return indices;
  std::vector<Tensor> entries(static_cast<size_t>(dims.back()) + 1);
  for (size_t i = 0; i < dims.size(); ++i) entries[static_cast<size_t>(dims[i])] = indices[i];
  return entries;
}

StateDict CallSplit(Args& a) {
  if (a.Has("sizes")) return List(Split(a["x"], a.Ints("sizes"), Dim(a)));
  return List(Split(a["x"], a.Int("size", 0), Dim(a)));
}

StateDict CallVarMean(Args& a) {
  const VarMeanResult r =
      VarMean(a["x"], a.Ints("dims"), a.Int("correction", 1), a.Flag("keepdim", false));
  return {{"var", r.var}, {"mean", r.mean}};
}

StateDict CallNanToNum(Args& a) {
  NanToNumOptions options = {.nan = a.Number("nan", 0)};
  if (a.Has("posinf")) options.posinf = a.Number("posinf", 0);
  if (a.Has("neginf")) options.neginf = a.Number("neginf", 0);
  return Y(NanToNum(a["x"], options));
}

StateDict CallRmsNorm(Args& a) {
  const std::vector<int64_t> shape = a.Ints("normalized_shape");
  return Y(RmsNorm(a["x"], Shape(absl::MakeConstSpan(shape)), a["weight"], a.Number("eps", 0)));
}

StateDict CallAssign(Args& a) {
  Assign(a["target"], a["source"]);
  return {};
}

std::map<std::string, GoldenFunction> Elementwise() {
  return {
      {"add", Scaled<Add>},
      {"sub", Scaled<Sub>},
      {"mul", Binary<Mul>},
      {"div",
       [](Args& a) { return Y(Div(a["x"], a["y"], EnumOf(a, "rounding", DivRounding::kNone))); }},
      {"maximum", Binary<Maximum>},
      {"minimum", Binary<Minimum>},
      {"pow", Binary<Pow>},
      {"eq", Binary<Eq>},
      {"ne", Binary<Ne>},
      {"gt", Binary<Gt>},
      {"ge", Binary<Ge>},
      {"lt", Binary<Lt>},
      {"le", Binary<Le>},
      {"acos", Unary<Acos>},
      {"acosh", Unary<Acosh>},
      {"asin", Unary<Asin>},
      {"asinh", Unary<Asinh>},
      {"atan", Unary<Atan>},
      {"atanh", Unary<Atanh>},
      {"cosh", Unary<Cosh>},
      {"log10", Unary<Log10>},
      {"sinc", Unary<Sinc>},
      {"lgamma", Unary<Lgamma>},
      {"digamma", Unary<Digamma>},
      {"mish", [](Args& a) { return Y(Mish(a["x"])); }},
      {"log_sigmoid", [](Args& a) { return Y(LogSigmoid(a["x"])); }},
      {"softsign", [](Args& a) { return Y(Softsign(a["x"])); }},
      {"hardswish", [](Args& a) { return Y(Hardswish(a["x"])); }},
      {"isnan", Unary<Isnan>},
      {"isfinite", Unary<Isfinite>},
      {"bitwise_not", Unary<BitwiseNot>},
      {"isinf",
       [](Args& a) {
         return Y(Isinf(a["x"], {a.Flag("positive", true), a.Flag("negative", true)}));
       }},
      {"hardsigmoid",
       [](Args& a) {
         return Y(Hardsigmoid(a["x"], a.Number("alpha", 1.0 / 6), a.Number("beta", 0.5)));
       }},
      {"hardshrink", [](Args& a) { return Y(Hardshrink(a["x"], a.Number("lambda", 0.5))); }},
      {"softshrink", [](Args& a) { return Y(Softshrink(a["x"], a.Number("lambda", 0.5))); }},
      {"threshold",
       [](Args& a) {
         return Y(Threshold(a["x"], a.Number("threshold", 0), a.Number("value", 0)));
       }},
      {"erf", Unary<Erf>},
      {"tan", Unary<Tan>},
      {"sinh", Unary<Sinh>},
      {"log2", Unary<Log2>},
      {"atan2", [](Args& a) { return Y(Atan2(a["y"], a["x"])); }},
      {"logaddexp", Binary<Logaddexp>},
      {"remainder", Binary<Remainder>},
      {"fmod", Binary<Fmod>},
      {"bitwise_and", Binary<BitwiseAnd>},
      {"bitwise_or", Binary<BitwiseOr>},
      {"bitwise_xor", Binary<BitwiseXor>},
      {"bitwise_left_shift", Binary<BitwiseLeftShift>},
      {"bitwise_right_shift", Binary<BitwiseRightShift>},
      {"lerp", [](Args& a) { return Y(Lerp(a["start"], a["end"], a["weight"])); }},
      {"add_n", [](Args& a) { return Y(AddN(a.List("tensors"))); }},
      {"nan_to_num", CallNanToNum},
      {"prelu", [](Args& a) { return Y(Prelu(a["x"], a["weight"])); }},
      {"relu6", [](Args& a) { return Y(Relu6(a["x"])); }},
      {"tanhshrink", [](Args& a) { return Y(Tanhshrink(a["x"])); }},
      {"celu", [](Args& a) { return Y(Celu(a["x"], a.Number("alpha", 1))); }},
      {"glu", [](Args& a) { return Y(Glu(a["x"], a.Int("dim", -1))); }},
      {"selu", [](Args& a) { return Y(Selu(a["x"])); }},
      {"masked_fill", [](Args& a) { return Y(MaskedFill(a["x"], a["mask"], a["value"])); }},
      {"assign", CallAssign},
      {"adam_step", CallAdamStep},
      {"huber_loss",
       [](Args& a) {
         return Y(HuberLoss(a["x"], a["y"],
                            {.reduction = EnumOf(a, "reduction", Reduction::kMean),
                             .delta = a.Number("delta", 1)}));
       }},
      {"binary_cross_entropy",
       [](Args& a) {
         return Y(BinaryCrossEntropy(
             a["p"], a["target"],
             {.weight = a["weight"], .reduction = EnumOf(a, "reduction", Reduction::kMean)}));
       }},
      {"binary_cross_entropy_with_logits",
       [](Args& a) {
         return Y(
             BinaryCrossEntropyWithLogits(a["x"], a["target"],
                                          {.weight = a["weight"],
                                           .pos_weight = a["pos_weight"],
                                           .reduction = EnumOf(a, "reduction", Reduction::kMean)}));
       }},
      {"nll_loss",
       [](Args& a) {
         return Y(NllLoss(a["log_probs"], a["target"],
                          {.weight = a["weight"],
                           .ignore_index = a.Int("ignore_index", -100),
                           .reduction = EnumOf(a, "reduction", Reduction::kMean)}));
       }},
      {"cross_entropy",
       [](Args& a) {
         return Y(CrossEntropy(a["logits"], a["target"],
                               {.weight = a["weight"],
                                .ignore_index = a.Int("ignore_index", -100),
                                .reduction = EnumOf(a, "reduction", Reduction::kMean),
                                .label_smoothing = a.Number("label_smoothing", 0)}));
       }},
  };
}

std::map<std::string, GoldenFunction> Shapes() {
  return {
      {"arange", CallArange},
      {"eye",
       [](Args& a) {
         return Y(Eye(a.Int("n", 0), a.Int("m", a.Int("n", 0)), a.Int("offset", 0)));
       }},
      {"detach", [](Args& a) { return Y(Detach(a["x"])); }},
      {"expand", [](Args& a) { return Y(Expand(a["x"], a.Ints("shape"))); }},
      {"reshape", [](Args& a) { return Y(Reshape(a["x"], a.Ints("shape"))); }},
      {"sum_to",
       [](Args& a) {
         const std::vector<int64_t> sizes = a.Ints("shape");
         return Y(SumTo(a["x"], Shape(absl::MakeConstSpan(sizes))));
       }},
      {"movedim",
       [](Args& a) { return Y(Movedim(a["x"], a.Ints("source"), a.Ints("destination"))); }},
      {"tile", [](Args& a) { return Y(Tile(a["x"], a.Ints("repeats"))); }},
      {"concat", [](Args& a) { return Y(Concat(a.List("tensors"), Dim(a))); }},
      {"stack", [](Args& a) { return Y(Stack(a.List("tensors"), Dim(a))); }},
      {"split", CallSplit},
      {"chunk", [](Args& a) { return List(Chunk(a["x"], a.Int("n", 0), Dim(a))); }},
      {"unbind", [](Args& a) { return List(Unbind(a["x"], Dim(a))); }},
      {"embedding", CallEmbedding},
      {"index", [](Args& a) { return Y(Index(a["x"], Subscript(a))); }},
      {"index_put",
       [](Args& a) {
         return Y(IndexPut(a["x"], Subscript(a), a["values"], a.Flag("accumulate", false)));
       }},
      {"masked_select", [](Args& a) { return Y(MaskedSelect(a["x"], a["mask"])); }},
      {"nonzero", [](Args& a) { return Y(Nonzero(a["x"])); }},
      {"one_hot", [](Args& a) { return Y(OneHot(a["indices"], a.Int("num_classes", -1))); }},
  };
}

std::map<std::string, GoldenFunction> Reductions() {
  return {
      {"argmax", [](Args& a) { return ArgReduce<Argmax>(a, "argmax"); }},
      {"argmin", [](Args& a) { return ArgReduce<Argmin>(a, "argmin"); }},
      {"max", Extreme<Max>},
      {"min", Extreme<Min>},
      {"var_mean", CallVarMean},
      {"cumprod",
       [](Args& a) {
         return Y(Cumprod(a["x"], a.Int("dim", 0),
                          {a.Flag("exclusive", false), a.Flag("reverse", false)}));
       }},
      {"softmin", [](Args& a) { return Y(Softmin(a["x"], a.Int("dim", 0))); }},
      {"einsum", [](Args& a) { return Y(Einsum(a.Text("equation"), a.List("tensors"))); }},
  };
}

std::map<std::string, GoldenFunction> Images() {
  return {
      {"conv1d", CallConv<Conv1d>},
      {"conv2d", CallConv<Conv2d>},
      {"conv3d", CallConv<Conv3d>},
      {"conv_transpose1d", CallConvTranspose<ConvTranspose1d>},
      {"conv_transpose2d", CallConvTranspose<ConvTranspose2d>},
      {"conv_transpose3d", CallConvTranspose<ConvTranspose3d>},
      {"max_pool1d", CallMaxPool<MaxPool1d, MaxPool1dWithIndices>},
      {"max_pool2d", CallMaxPool<MaxPool2d, MaxPool2dWithIndices>},
      {"max_pool3d", CallMaxPool<MaxPool3d, MaxPool3dWithIndices>},
      {"adaptive_max_pool1d", CallAdaptiveMaxPool<AdaptiveMaxPool1d, AdaptiveMaxPool1dWithIndices>},
      {"adaptive_max_pool2d", CallAdaptiveMaxPool<AdaptiveMaxPool2d, AdaptiveMaxPool2dWithIndices>},
      {"adaptive_max_pool3d", CallAdaptiveMaxPool<AdaptiveMaxPool3d, AdaptiveMaxPool3dWithIndices>},
      {"max_unpool2d", CallMaxUnpool2d},
      {"avg_pool1d", CallAvgPool<AvgPool1d>},
      {"avg_pool2d", CallAvgPool<AvgPool2d>},
      {"avg_pool3d", CallAvgPool<AvgPool3d>},
      {"adaptive_avg_pool1d",
       [](Args& a) { return Y(AdaptiveAvgPool1d(a["x"], Size(a, "output_size", 1))); }},
      {"adaptive_avg_pool2d",
       [](Args& a) { return Y(AdaptiveAvgPool2d(a["x"], Size(a, "output_size", 1))); }},
      {"adaptive_avg_pool3d",
       [](Args& a) { return Y(AdaptiveAvgPool3d(a["x"], Size(a, "output_size", 1))); }},
      {"lp_pool1d", CallLpPool<LpPool1d>},
      {"lp_pool2d", CallLpPool<LpPool2d>},
      {"unfold", [](Args& a) { return Y(Unfold(a["x"], UnfoldingOptions<UnfoldOptions>(a))); }},
      {"fold", CallFold},
      {"batch_norm", CallBatchNorm},
      {"layer_norm",
       [](Args& a) {
         const std::vector<int64_t> shape = a.Ints("normalized_shape");
         return Y(LayerNorm(a["x"], Shape(absl::MakeConstSpan(shape)), a["weight"], a["bias"],
                            a.Number("eps", 1e-5)));
       }},
      {"rms_norm", CallRmsNorm},
      {"group_norm",
       [](Args& a) {
         return Y(GroupNorm(a["x"], a.Int("num_groups", 1), a["weight"], a["bias"],
                            a.Number("eps", 1e-5)));
       }},
  };
}

}  // namespace

const std::map<std::string, GoldenFunction>& GoldenFunctions() {
  static const auto* functions = [] {
    auto* all = new std::map<std::string, GoldenFunction>(Elementwise());
    for (auto part : {Shapes(), Reductions(), Images()}) all->merge(part);
    return all;
  }();
  return *functions;
}

}  // namespace firn::testing
