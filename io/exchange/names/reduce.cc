// What the functions of tensor/ops/reduce are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(Amax, .nnabla = "max", .onnx = "ReduceMax");
FIRN_NAMES(Amin, .nnabla = "min", .onnx = "ReduceMin");
FIRN_NAMES(Max, .nnabla = "max");
FIRN_NAMES(Min, .nnabla = "min");
FIRN_NAMES(Logsumexp, .onnx = "ReduceLogSumExp");
FIRN_NAMES(Norm, .nnabla = "norm", .onnx = {"ReduceL1", "ReduceL2", "GlobalLpPool"});
FIRN_NAMES(Argmax, .nnabla = "max", .onnx = {"ArgMax", "Hardmax"});
FIRN_NAMES(Argmin, .nnabla = "min", .onnx = "ArgMin");
FIRN_NAMES(Prod, .nnabla = "prod", .onnx = "ReduceProd");
FIRN_NAMES(Sum, .nnabla = {"sum", "reduce_sum"},
           .onnx = {"ReduceSum", "ReduceSumSquare", "ReduceLogSum"});
FIRN_NAMES(Mean, .nnabla = {"mean", "reduce_mean"}, .onnx = "ReduceMean");
