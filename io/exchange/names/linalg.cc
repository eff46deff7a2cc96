// What the functions of tensor/ops/linalg are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(Cholesky, .nnabla = "batch_cholesky");
FIRN_NAMES(Inv, .nnabla = "batch_inv");
FIRN_NAMES(Det, .nnabla = "batch_det", .onnx = "Det");
FIRN_NAMES(Slogdet, .nnabla = "batch_logdet");
