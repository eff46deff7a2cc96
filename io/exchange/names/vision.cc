// What the functions of tensor/ops/vision are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(RandomCrop, .nnabla = "random_crop");
FIRN_NAMES(RandomFlip, .nnabla = "random_flip");
FIRN_NAMES(RandomShift, .nnabla = "random_shift");
FIRN_NAMES(RandomErase, .nnabla = "random_erase");
FIRN_NAMES(ImageAugmentation, .nnabla = "image_augmentation");
FIRN_NAMES(DeformConv2d, .nnabla = "deformable_convolution", .onnx = "DeformConv");
FIRN_NAMES(GridSample, .nnabla = "warp_by_grid", .onnx = "GridSample");
FIRN_NAMES(AffineGrid, .nnabla = "affine_grid", .onnx = "AffineGrid");
FIRN_NAMES(WarpByFlow, .nnabla = "warp_by_flow");
FIRN_NAMES(Interpolate, .nnabla = {"interpolate", "unpooling"}, .onnx = "Resize");
FIRN_NAMES(NonMaxSuppression, .nnabla = "onnx_non_max_suppression", .onnx = "NonMaxSuppression");
FIRN_NAMES(NmsDetection2d, .nnabla = "nms_detection2d");
FIRN_NAMES(PatchCorrelation, .nnabla = "patch_correlation");
FIRN_NAMES(Resize, .nnabla = {"onnx_resize", "interpolate"}, .onnx = "Resize");
FIRN_NAMES(RoiAlign, .nnabla = "roi_align", .onnx = "RoiAlign");
FIRN_NAMES(RoiPool, .onnx = "MaxRoiPool");
FIRN_NAMES(AdaptiveSeparableConv2d, .nnabla = "adaptive_separable_convolution");
