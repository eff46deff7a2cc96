// What the functions of tensor/ops/scan are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(Cumsum, .nnabla = "cumsum", .onnx = "CumSum");
FIRN_NAMES(Cumprod, .nnabla = "cumprod");
FIRN_NAMES(Sort, .nnabla = "sort");
FIRN_NAMES(Argsort, .nnabla = "sort");
FIRN_NAMES(Topk, .nnabla = "top_k_data", .onnx = "TopK");
FIRN_NAMES(Searchsorted, .nnabla = "searchsorted");
FIRN_NAMES(Unique, .nnabla = "unique", .onnx = "Unique");
