// Which attributes operators have, as ONNX's own schemas say (onnx 1.23; onnx_attributes_test.py
// compares them). Without this table a misspelt attribute, or one of a later version, would be
// ignored silently, and the result would be a different network.
#include "firn/io/onnx/internal/onnx_attributes.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

namespace firn::io::internal {
namespace {

// In the order of names; operators without a row have none. "name@13" is there since opset 13,
// "name<7" before 7.
struct Row {
  std::string_view op;
  std::string_view attributes;
};

constexpr Row kRows[] = {
    {"Abs", "consumed_inputs<6"},
    {"Add", "axis<7 broadcast<7 consumed_inputs<6"},
    {"AffineGrid", "align_corners"},
    {"And", "axis<7 broadcast<7"},
    {"ArgMax", "axis keepdims select_last_index@12"},
    {"ArgMin", "axis keepdims select_last_index@12"},
    {"Attention",
     "is_causal kv_num_heads left_window_size@25 q_num_heads qk_matmul_output_mode "
     "right_window_size@25 scale softcap softmax_precision"},
    {"AveragePool",
     "auto_pad ceil_mode@10 count_include_pad@7 dilations@19 kernel_shape pads strides"},
    {"BatchNormalization",
     "consumed_inputs<6 epsilon is_test<7 momentum spatial<9 training_mode@14"},
    {"Bernoulli", "dtype seed"},
    {"BitCast", "to"},
    {"BitShift", "direction"},
    {"BlackmanWindow", "output_datatype periodic"},
    {"Cast", "round_mode@24 saturate@19 to"},
    {"CastLike", "round_mode@24 saturate@19"},
    {"CausalConvWithState", "activation"},
    {"Ceil", "consumed_inputs<6"},
    {"Celu", "alpha"},
    {"CenterCropPad", "axes"},
    {"Clip", "consumed_inputs<6 max<11 min<11"},
    {"Col2Im", "dilations pads strides"},
    {"Compress", "axis"},
    {"Concat", "axis"},
    {"ConcatFromSequence", "axis new_axis"},
    {"Constant",
     "sparse_value@11 value value_float@12 value_floats@12 value_int@12 value_ints@12 "
     "value_string@12 value_strings@12"},
    {"ConstantOfShape", "value"},
    {"Conv", "auto_pad dilations group kernel_shape pads strides"},
    {"ConvInteger", "auto_pad dilations group kernel_shape pads strides"},
    {"ConvTranspose",
     "auto_pad dilations group kernel_shape output_padding output_shape pads strides"},
    {"CumProd", "exclusive reverse"},
    {"CumSum", "exclusive reverse"},
    {"DFT", "axis<20 inverse onesided"},
    {"DeformConv", "dilations group kernel_shape offset_group pads strides"},
    {"DepthToSpace", "blocksize mode@11"},
    {"DequantizeLinear", "axis@13 block_size@21 output_dtype@23"},
    {"Div", "axis<7 broadcast<7 consumed_inputs<6"},
    {"Dropout", "consumed_inputs<6 is_test<7 ratio<12 seed@12"},
    {"Einsum", "equation"},
    {"Elu", "alpha consumed_inputs<6"},
    {"Equal", "axis<7 broadcast<7"},
    {"Exp", "consumed_inputs<6"},
    {"EyeLike", "dtype k"},
    {"Flatten", "axis"},
    {"Floor", "consumed_inputs<6"},
    {"GRU",
     "activation_alpha activation_beta activations clip direction hidden_size layout@14 "
     "linear_before_reset@3 output_sequence<7"},
    {"Gather", "axis"},
    {"GatherElements", "axis"},
    {"GatherND", "batch_dims@12"},
    {"Gelu", "approximate"},
    {"Gemm", "alpha beta broadcast<7 transA transB"},
    {"GlobalLpPool", "p"},
    {"Greater", "axis<7 broadcast<7"},
    {"GridSample", "align_corners mode padding_mode"},
    {"GroupNormalization", "epsilon num_groups stash_type@21"},
    {"HammingWindow", "output_datatype periodic"},
    {"HannWindow", "output_datatype periodic"},
    {"HardSigmoid", "alpha beta consumed_inputs<6"},
    {"Hardmax", "axis"},
    {"If", "else_branch then_branch"},
    {"ImageDecoder", "pixel_format"},
    {"InstanceNormalization", "consumed_inputs<6 epsilon"},
    {"IsInf", "detect_negative detect_positive"},
    {"LRN", "alpha beta bias size"},
    {"LSTM",
     "activation_alpha activation_beta activations clip direction hidden_size input_forget "
     "layout@14 output_sequence<7"},
    {"LayerNormalization", "axis epsilon stash_type"},
    {"LeakyRelu", "alpha consumed_inputs<6"},
    {"Less", "axis<7 broadcast<7"},
    {"LinearAttention", "chunk_size kv_num_heads q_num_heads scale update_rule"},
    {"Log", "consumed_inputs<6"},
    {"LogSoftmax", "axis"},
    {"Loop", "body"},
    {"LpNormalization", "axis p"},
    {"LpPool", "auto_pad ceil_mode@18 dilations@18 kernel_shape p pads strides"},
    {"Max", "consumed_inputs<6"},
    {"MaxPool", "auto_pad ceil_mode@10 dilations@10 kernel_shape pads storage_order@8 strides"},
    {"MaxRoiPool", "pooled_shape spatial_scale"},
    {"MaxUnpool", "kernel_shape pads strides"},
    {"Mean", "consumed_inputs<6"},
    {"MeanVarianceNormalization", "axes"},
    {"MelWeightMatrix", "output_datatype"},
    {"Min", "consumed_inputs<6"},
    {"Mod", "fmod"},
    {"Mul", "axis<7 broadcast<7 consumed_inputs<6"},
    {"Multinomial", "dtype sample_size seed"},
    {"Neg", "consumed_inputs<6"},
    {"NegativeLogLikelihoodLoss", "ignore_index reduction"},
    {"NonMaxSuppression", "center_point_box"},
    {"OneHot", "axis"},
    {"Optional", "type"},
    {"Or", "axis<7 broadcast<7"},
    {"PRelu", "consumed_inputs<6"},
    {"Pad", "mode paddings<2 pads@2<11 value<11"},
    {"Pow", "axis<7 broadcast<7"},
    {"QLinearConv", "auto_pad dilations group kernel_shape pads strides"},
    {"QuantizeLinear", "axis@13 block_size@21 output_dtype@21 precision@23 saturate@19"},
    {"RMSNormalization", "axis epsilon stash_type"},
    {"RNN",
     "activation_alpha activation_beta activations clip direction hidden_size layout@14 "
     "output_sequence<7"},
    {"RandomNormal", "dtype mean scale seed shape"},
    {"RandomNormalLike", "dtype mean scale seed"},
    {"RandomUniform", "dtype high low seed shape"},
    {"RandomUniformLike", "dtype high low seed"},
    {"Range", "stash_type@27"},
    {"Reciprocal", "consumed_inputs<6"},
    {"ReduceL1", "axes<18 keepdims noop_with_empty_axes@18"},
    {"ReduceL2", "axes<18 keepdims noop_with_empty_axes@18"},
    {"ReduceLogSum", "axes<18 keepdims noop_with_empty_axes@18"},
    {"ReduceLogSumExp", "axes<18 keepdims noop_with_empty_axes@18"},
    {"ReduceMax", "axes<18 keepdims noop_with_empty_axes@18"},
    {"ReduceMean", "axes<18 keepdims noop_with_empty_axes@18"},
    {"ReduceMin", "axes<18 keepdims noop_with_empty_axes@18"},
    {"ReduceProd", "axes<18 keepdims noop_with_empty_axes@18"},
    {"ReduceSum", "axes<13 keepdims noop_with_empty_axes@13"},
    {"ReduceSumSquare", "axes<18 keepdims noop_with_empty_axes@18"},
    {"RegexFullMatch", "pattern"},
    {"Relu", "consumed_inputs<6"},
    {"Reshape", "allowzero@14 consumed_inputs<5 shape<5"},
    {"Resize",
     "antialias@18 axes@18 coordinate_transformation_mode@11 cubic_coeff_a@11 exclude_outside@11 "
     "extrapolation_value@11 keep_aspect_ratio_policy@18 mode nearest_mode@11"},
    {"ReverseSequence", "batch_axis time_axis"},
    {"RoiAlign",
     "coordinate_transformation_mode@16 mode output_height output_width sampling_ratio "
     "spatial_scale"},
    {"RotaryEmbedding", "interleaved num_heads rotary_embedding_dim"},
    {"STFT", "onesided"},
    {"Scan",
     "body directions<9 num_scan_inputs scan_input_axes@9 scan_input_directions@9 "
     "scan_output_axes@9 scan_output_directions@9"},
    {"Scatter", "axis"},
    {"ScatterElements", "axis reduction@16"},
    {"ScatterND", "reduction@16"},
    {"Selu", "alpha consumed_inputs<6 gamma"},
    {"SequenceEmpty", "dtype"},
    {"SequenceMap", "body"},
    {"Shape", "end@15 start@15"},
    {"Shrink", "bias lambd"},
    {"Sigmoid", "consumed_inputs<6"},
    {"Slice", "axes<10 ends<10 starts<10"},
    {"Softmax", "axis"},
    {"SoftmaxCrossEntropyLoss", "ignore_index reduction"},
    {"SpaceToDepth", "blocksize mode@28"},
    {"Split", "axis num_outputs@18 split<13"},
    {"SplitToSequence", "axis keepdims"},
    {"Sqrt", "consumed_inputs<6"},
    {"Squeeze", "axes<13"},
    {"StringNormalizer", "case_change_action is_case_sensitive locale stopwords"},
    {"StringSplit", "delimiter maxsplit"},
    {"Sub", "axis<7 broadcast<7 consumed_inputs<6"},
    {"Sum", "consumed_inputs<6"},
    {"SwiGLU", "alpha"},
    {"Swish", "alpha"},
    {"Tanh", "consumed_inputs<6"},
    {"TensorScatter", "axis mode"},
    {"TfIdfVectorizer",
     "max_gram_length max_skip_count min_gram_length mode ngram_counts ngram_indexes pool_int64s "
     "pool_strings weights"},
    {"ThresholdedRelu", "alpha"},
    {"TopK", "axis k<10 largest@11 sorted@11"},
    {"Transpose", "perm"},
    {"Trilu", "upper"},
    {"Unique", "axis sorted"},
    {"Unsqueeze", "axes<13"},
    {"Upsample", "height_scale<7 mode scales@7<9 width_scale<7"},
    {"Xor", "axis<7 broadcast<7"},
};

static_assert(std::is_sorted(std::begin(kRows), std::end(kRows),
                             [](const Row& a, const Row& b) { return a.op < b.op; }));

struct Attribute {
  std::string_view name;
  int64_t since = 0, until = std::numeric_limits<int64_t>::max();
};

// Takes "<7" or "@13" off the end of a word.
void TakeNumber(char sign, std::string_view* word, int64_t* number) {
  const size_t at = word->find(sign);
  if (at == word->npos) return;
  std::from_chars(word->data() + at + 1, word->data() + word->size(), *number);
  *word = word->substr(0, at);
}

Attribute AttributeOf(std::string_view word) {
  Attribute a{.name = word};
  TakeNumber('<', &a.name, &a.until);
  TakeNumber('@', &a.name, &a.since);
  return a;
}

template <class F>
void ForEachAttribute(std::string_view op, int64_t opset, F f) {
  const auto* const row =
      std::lower_bound(std::begin(kRows), std::end(kRows), op,
                       [](const Row& r, std::string_view name) { return r.op < name; });
  if (row == std::end(kRows) || row->op != op) return;
  std::string_view words = row->attributes;
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    const Attribute a = AttributeOf(words.substr(0, end));
    if (opset >= a.since && opset < a.until) f(a.name);
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

}  // namespace

bool HasOnnxAttribute(std::string_view op, int64_t opset, std::string_view attribute) {
  bool has = attribute.starts_with("__");
  ForEachAttribute(op, opset, [&](std::string_view name) { has |= name == attribute; });
  return has;
}

std::string OnnxAttributesOf(std::string_view op, int64_t opset) {
  std::string all;
  ForEachAttribute(
      op, opset, [&](std::string_view name) { all.append(all.empty() ? "" : ", ").append(name); });
  return all.empty() ? "none" : all;
}

}  // namespace firn::io::internal
