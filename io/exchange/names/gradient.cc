// What the functions of tensor/ops/gradient are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(ClipGradByValue, .nnabla = "clip_grad_by_value");
FIRN_NAMES(ClipGradByNorm, .nnabla = "clip_grad_by_norm");
FIRN_NAMES(TopKGrad, .nnabla = "top_k_grad");
