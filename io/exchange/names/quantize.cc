// What the functions of tensor/ops/quantize are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(QuantizeLinear, .nnabla = "quantize_linear",
           .onnx = {"QuantizeLinear", "DynamicQuantizeLinear"});
FIRN_NAMES(DequantizeLinear, .nnabla = "dequantize_linear", .onnx = "DequantizeLinear");
FIRN_NAMES(BinarySigmoid, .nnabla = "binary_sigmoid");
FIRN_NAMES(BinaryTanh, .nnabla = "binary_tanh");
FIRN_NAMES(Binarize, .nnabla = {"binary_connect_affine", "binary_connect_convolution",
                                "binary_weight_affine", "binary_weight_convolution"});
FIRN_NAMES(FixedPointQuantize, .nnabla = "fixed_point_quantize");
FIRN_NAMES(Pow2Quantize, .nnabla = "pow2_quantize");
FIRN_NAMES(MinMaxQuantize, .nnabla = "min_max_quantize");
FIRN_NAMES(QuantizedMatmul, .onnx = {"QLinearMatMul", "MatMulInteger"});
FIRN_NAMES(QuantizedConv2d, .onnx = {"QLinearConv", "ConvInteger"});
FIRN_NAMES(MagnitudePrune, .nnabla = "prune");
FIRN_NAMES(InqQuantize, .nnabla = {"inq_affine", "inq_convolution"});
