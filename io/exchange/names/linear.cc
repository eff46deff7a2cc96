// What the functions of tensor/ops/linear are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(Einsum, .nnabla = "einsum", .onnx = "Einsum");
FIRN_NAMES(Linear, .nnabla = "affine", .onnx = "Gemm");
FIRN_NAMES(Matmul, .nnabla = "batch_matmul", .onnx = "MatMul");
