// What the functions of tensor/ops/compare are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(Isnan, .nnabla = "isnan", .onnx = "IsNaN");
FIRN_NAMES(Isinf, .nnabla = "isinf", .onnx = "IsInf");
FIRN_NAMES(Eq, .nnabla = {"equal", "equal_scalar"}, .onnx = "Equal");
FIRN_NAMES(Ne, .nnabla = {"not_equal", "not_equal_scalar"});
FIRN_NAMES(Lt, .nnabla = {"less", "less_scalar"}, .onnx = "Less");
FIRN_NAMES(Le, .nnabla = {"less_equal", "less_equal_scalar"}, .onnx = "LessOrEqual");
FIRN_NAMES(Gt, .nnabla = {"greater", "greater_scalar"}, .onnx = "Greater");
FIRN_NAMES(Ge, .nnabla = {"greater_equal", "greater_equal_scalar"}, .onnx = "GreaterOrEqual");
FIRN_NAMES(LogicalAnd, .nnabla = {"logical_and", "logical_and_scalar"}, .onnx = "And");
FIRN_NAMES(LogicalOr, .nnabla = {"logical_or", "logical_or_scalar"}, .onnx = "Or");
FIRN_NAMES(LogicalXor, .nnabla = {"logical_xor", "logical_xor_scalar"}, .onnx = "Xor");
FIRN_NAMES(LogicalNot, .nnabla = "logical_not", .onnx = "Not");
