// What the functions of tensor/ops/index are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(Index, .nnabla = "bool_gather", .onnx = "Compress");
FIRN_NAMES(IndexPut, .nnabla = {"bool_scatter", "bool_fill"});
FIRN_NAMES(Embedding, .nnabla = "embed", .onnx = "Gather");
FIRN_NAMES(OneHot, .nnabla = "one_hot", .onnx = "OneHot");
FIRN_NAMES(Gather, .onnx = "GatherElements");
FIRN_NAMES(ScatterAdd, .nnabla = "scatter_add", .onnx = "ScatterElements");
FIRN_NAMES(Nonzero, .nnabla = "nonzero", .onnx = "NonZero");
FIRN_NAMES(IndexSelect, .nnabla = "gather", .onnx = "Gather");
FIRN_NAMES(MaskedScatter, .nnabla = "bool_scatter");
FIRN_NAMES(GatherNd, .nnabla = "gather_nd", .onnx = "GatherND");
FIRN_NAMES(ScatterNd, .nnabla = "scatter_nd", .onnx = "ScatterND");
FIRN_NAMES(Scatter, .onnx = "ScatterElements");
FIRN_NAMES(ScatterReduce, .onnx = "ScatterElements");
