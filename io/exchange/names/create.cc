// What the functions of tensor/ops/create are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(Full, .nnabla = "constant", .onnx = {"ConstantOfShape", "Constant"});
FIRN_NAMES(Zeros, .nnabla = "constant", .onnx = "ConstantOfShape");
FIRN_NAMES(Ones, .nnabla = "constant", .onnx = "ConstantOfShape");
FIRN_NAMES(FullLike, .onnx = "ConstantOfShape");
FIRN_NAMES(ZerosLike, .onnx = "ConstantOfShape");
FIRN_NAMES(OnesLike, .onnx = "ConstantOfShape");
FIRN_NAMES(Eye, .nnabla = "eye_like", .onnx = "EyeLike");
FIRN_NAMES(Arange, .nnabla = "arange", .onnx = "Range");
FIRN_NAMES(Linspace, .nnabla = "linspace");
