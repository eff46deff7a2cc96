// What the functions of tensor/ops/elementwise are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(Add, .nnabla = {"add2", "bc_add2", "add_scalar"}, .onnx = "Add");
FIRN_NAMES(AddN, .nnabla = "add_n", .onnx = {"Sum", "Mean"});
FIRN_NAMES(Sub, .nnabla = {"sub2", "r_sub_scalar"}, .onnx = "Sub");
FIRN_NAMES(Mul, .nnabla = {"mul2", "mul_scalar", "mul_n"}, .onnx = "Mul");
FIRN_NAMES(Div, .nnabla = {"div2", "r_div_scalar"}, .onnx = "Div");
FIRN_NAMES(BitwiseNot, .onnx = "BitwiseNot");
FIRN_NAMES(BitwiseAnd, .onnx = "BitwiseAnd");
FIRN_NAMES(BitwiseOr, .onnx = "BitwiseOr");
FIRN_NAMES(BitwiseXor, .onnx = "BitwiseXor");
FIRN_NAMES(BitwiseLeftShift, .nnabla = "bit_shift", .onnx = "BitShift");
FIRN_NAMES(BitwiseRightShift, .nnabla = "bit_shift", .onnx = "BitShift");
FIRN_NAMES(Where, .nnabla = "where", .onnx = "Where");
FIRN_NAMES(MaskedFill, .nnabla = "bool_fill");
FIRN_NAMES(NanToNum, .nnabla = {"reset_nan", "reset_inf"});
FIRN_NAMES(Exp, .nnabla = "exp", .onnx = "Exp");
FIRN_NAMES(Log, .nnabla = "log", .onnx = "Log");
FIRN_NAMES(Maximum, .nnabla = {"maximum2", "maximum_scalar"}, .onnx = "Max");
FIRN_NAMES(Minimum, .nnabla = {"minimum2", "minimum_scalar"}, .onnx = "Min");
FIRN_NAMES(Clamp, .onnx = "Clip");
FIRN_NAMES(Remainder, .nnabla = "mod2", .onnx = "Mod");
FIRN_NAMES(Fmod, .nnabla = "mod2", .onnx = "Mod");
FIRN_NAMES(Pow, .nnabla = {"pow2", "pow_scalar", "r_pow_scalar"}, .onnx = "Pow");
FIRN_NAMES(Sqrt, .onnx = "Sqrt");
FIRN_NAMES(Reciprocal, .onnx = "Reciprocal");
FIRN_NAMES(Ceil, .nnabla = "ceil", .onnx = "Ceil");
FIRN_NAMES(Floor, .nnabla = "floor", .onnx = "Floor");
FIRN_NAMES(Round, .nnabla = "round", .onnx = "Round");
FIRN_NAMES(Abs, .nnabla = "abs", .onnx = "Abs");
FIRN_NAMES(Neg, .onnx = "Neg");
FIRN_NAMES(Sign, .nnabla = "sign", .onnx = "Sign");
FIRN_NAMES(Erf, .nnabla = "erf", .onnx = "Erf");
FIRN_NAMES(Sinc, .nnabla = "sinc");
FIRN_NAMES(Sin, .nnabla = "sin", .onnx = "Sin");
FIRN_NAMES(Cos, .nnabla = "cos", .onnx = "Cos");
FIRN_NAMES(Tan, .nnabla = "tan", .onnx = "Tan");
FIRN_NAMES(Asin, .nnabla = "asin", .onnx = "Asin");
FIRN_NAMES(Acos, .nnabla = "acos", .onnx = "Acos");
FIRN_NAMES(Atan, .nnabla = "atan", .onnx = "Atan");
FIRN_NAMES(Sinh, .nnabla = "sinh", .onnx = "Sinh");
FIRN_NAMES(Cosh, .nnabla = "cosh", .onnx = "Cosh");
FIRN_NAMES(Asinh, .nnabla = "asinh", .onnx = "Asinh");
FIRN_NAMES(Acosh, .nnabla = "acosh", .onnx = "Acosh");
FIRN_NAMES(Atanh, .nnabla = "atanh", .onnx = "Atanh");
FIRN_NAMES(Atan2, .nnabla = "atan2");
