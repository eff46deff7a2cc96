// What the functions of tensor/ops/vision are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(GridSample, .nnabla = "warp_by_grid", .onnx = "GridSample");
FIRN_NAMES(AffineGrid, .nnabla = "affine_grid", .onnx = "AffineGrid");
FIRN_NAMES(WarpByFlow, .nnabla = "warp_by_flow");
FIRN_NAMES(Interpolate, .nnabla = {"interpolate", "unpooling"}, .onnx = "Resize");
