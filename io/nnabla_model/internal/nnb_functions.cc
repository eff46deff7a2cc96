// Source: build-tools/code_generator/api_levels.yaml of NNabla 1.39, of the functions that
// functions.yaml marks as supported by the C runtime; of weights, preprocess_for_exporter of its
// converter.
#include "firn/io/nnabla_model/internal/nnb_functions.h"

#include <utility>

namespace firn::io::internal {
namespace {

constexpr std::pair<std::string_view, uint16_t> kFunctions[] = {
    {"Affine", 0},
    {"DepthwiseConvolution", 2},
    {"Sigmoid", 11},
    {"Swish", 12},
    {"Tanh", 13},
    {"ReLU", 14},
    {"Softmax", 16},
    {"ELU", 17},
    {"SELU", 18},
    {"CReLU", 19},
    {"CELU", 20},
    {"PReLU", 21},
    {"MeanSubtraction", 23},
    {"Sum", 24},
    {"Add2", 31},
    {"RSubScalar", 40},
    {"RDivScalar", 41},
    {"RPowScalar", 42},
    {"Sign", 43},
    {"Minimum2", 44},
    {"Maximum2", 45},
    {"MinimumScalar", 46},
    {"MaximumScalar", 47},
    {"Abs", 68},
    {"Exp", 69},
    {"Log", 70},
    {"Identity", 71},
    {"BatchMatmul", 72},
    {"Round", 73},
    {"Concatenate", 74},
    {"Split", 75},
    {"Stack", 76},
    {"Slice", 77},
    {"Transpose", 78},
    {"Flip", 81},
    {"Shift", 82},
    {"MatrixDiag", 84},
    {"MatrixDiagPart", 85},
    {"BinarySigmoid", 105},
    {"BinaryTanh", 106},
    {"Reshape", 126},
    {"LeakyReLU", 128},
    {"Convolution", 265},
    {"MaxPooling", 266},
    {"AveragePooling", 267},
    {"SumPooling", 268},
    {"AddN", 281},
    {"MulN", 282},
    {"Unpooling", 287},
    {"Deconvolution", 292},
    {"Sub2", 308},
    {"Mul2", 309},
    {"Div2", 310},
    {"Pow2", 311},
    {"AddScalar", 312},
    {"MulScalar", 313},
    {"PowScalar", 314},
    {"TensorNormalization", 324},
    {"BatchNormalization", 326},
    {"Dropout", 336},
    {"Trilu", 360},
    {"BinaryWeightConvolution", 232},
    {"BinaryConnectConvolution", 233},
    {"BinaryWeightAffine", 234},
    {"BinaryConnectAffine", 235},
};

struct Weight {
  std::string_view type;
  size_t input;
  NnbWeight kind;
};
constexpr Weight kWeights[] = {
    {"Affine", 1, NnbWeight::kTransposed},
    {"BinaryConnectAffine", 1, NnbWeight::kTransposed},
    {"BinaryConnectAffine", 2, NnbWeight::kTransposed},
    {"BinaryWeightAffine", 1, NnbWeight::kTransposed},
    {"BinaryWeightAffine", 2, NnbWeight::kTransposed},
    {"BinaryConnectConvolution", 1, NnbWeight::kUnread},
    {"BinaryWeightConvolution", 1, NnbWeight::kUnread},
};

}  // namespace

const uint16_t* NnbNumberOf(std::string_view type) {
  for (const auto& [name, number] : kFunctions) {
    if (name == type) return &number;
  }
  return nullptr;
}

NnbWeight NnbWeightAt(std::string_view type, size_t input) {
  for (const Weight& weight : kWeights) {
    if (weight.type == type && weight.input == input) return weight.kind;
  }
  return NnbWeight::kNone;
}

}  // namespace firn::io::internal
