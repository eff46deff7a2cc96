// What the functions of tensor/ops/shape are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(Cast, .onnx = {"Cast", "CastLike"});
FIRN_NAMES(Identity, .nnabla = "identity", .onnx = "Identity");
FIRN_NAMES(Detach, .nnabla = "unlink");
FIRN_NAMES(Expand, .nnabla = {"broadcast", "broadcast_to"}, .onnx = "Expand");
FIRN_NAMES(Tile, .nnabla = "tile", .onnx = "Tile");
FIRN_NAMES(Concat, .nnabla = "concatenate", .onnx = "Concat");
FIRN_NAMES(Stack, .nnabla = "stack");
FIRN_NAMES(Pad, .nnabla = "pad", .onnx = {"Pad", "CenterCropPad"});
FIRN_NAMES(Permute, .nnabla = "transpose", .onnx = "Transpose");
FIRN_NAMES(Movedim, .nnabla = "transpose", .onnx = "Transpose");
FIRN_NAMES(Transpose, .onnx = "Transpose");
FIRN_NAMES(Flip, .nnabla = "flip");
FIRN_NAMES(Select, .onnx = "Gather");
FIRN_NAMES(Slice, .nnabla = "slice", .onnx = "Slice");
FIRN_NAMES(SliceScatter, .onnx = "ScatterND");
FIRN_NAMES(Split, .onnx = "Split");
FIRN_NAMES(Chunk, .onnx = "Split");
FIRN_NAMES(Unbind, .nnabla = "split");
FIRN_NAMES(Reshape, .nnabla = "reshape", .onnx = "Reshape");
FIRN_NAMES(View, .nnabla = "reshape", .onnx = "Reshape");
FIRN_NAMES(Flatten, .onnx = "Flatten");
FIRN_NAMES(Squeeze, .onnx = "Squeeze");
FIRN_NAMES(Unsqueeze, .onnx = "Unsqueeze");
FIRN_NAMES(Diagonal, .nnabla = "matrix_diag_part");
FIRN_NAMES(DiagEmbed, .nnabla = "matrix_diag");
FIRN_NAMES(Tril, .nnabla = "trilu", .onnx = "Trilu");
FIRN_NAMES(Triu, .nnabla = "trilu", .onnx = "Trilu");
FIRN_NAMES(PixelShuffle, .onnx = "DepthToSpace");
FIRN_NAMES(PixelUnshuffle, .onnx = "SpaceToDepth");
FIRN_NAMES(Shift, .nnabla = "shift");
FIRN_NAMES(Meshgrid, .nnabla = "meshgrid");
FIRN_NAMES(ShapeOf, .nnabla = "shape", .onnx = {"Shape", "Size"});
