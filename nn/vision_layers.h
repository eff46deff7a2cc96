#ifndef FIRN_NN_VISION_LAYERS_H_
#define FIRN_NN_VISION_LAYERS_H_

// Layers of images without parameters; options, formulas and shapes are those of the operations.

#include "firn/nn/function_layer.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/shape/rearrange.h"
#include "firn/tensor/ops/vision/interpolate.h"
#include "firn/tensor/ops/vision/roi_align.h"
#include "firn/tensor/ops/vision/roi_pool.h"

namespace firn::nn {

using Upsample = LayerOfFunction<"Upsample", firn::Interpolate>;

struct PixelShuffleOptions {
  int64_t upscale = 1;
  template <class V>
  void Visit(V& v) {
    v.Always("upscale", upscale);
  }
  void Check(const char* where) const { CheckSizes(where, {{"upscale", upscale}}); }
};
using PixelShuffle = LayerOfFunction<"PixelShuffle", firn::PixelShuffle, PixelShuffleOptions>;

struct PixelUnshuffleOptions {
  int64_t downscale = 1;
  template <class V>
  void Visit(V& v) {
    v.Always("downscale", downscale);
  }
  void Check(const char* where) const { CheckSizes(where, {{"downscale", downscale}}); }
};
using PixelUnshuffle =
    LayerOfFunction<"PixelUnshuffle", firn::PixelUnshuffle, PixelUnshuffleOptions>;

struct ChannelShuffleOptions {
  int64_t groups = 1;
  template <class V>
  void Visit(V& v) {
    v.Always("groups", groups);
  }
  void Check(const char* where) const { CheckSizes(where, {{"groups", groups}}); }
};
using ChannelShuffle =
    LayerOfFunction<"ChannelShuffle", firn::ChannelShuffle, ChannelShuffleOptions>;

// Both are called with (x, boxes).
struct RoiAlignFunction {
  static constexpr const char* kName = "RoiAlign";
  using Options = inner::RoiAlignAttrs;
  static Tensor Call(const Tensor& x, const Tensor& boxes, const Options& o) {
    return firn::RoiAlign(x, boxes, o.output_size,
                          {.spatial_scale = o.spatial_scale,
                           .sampling_ratio = o.sampling_ratio,
                           .aligned = o.aligned});
  }
};
using RoiAlign = FunctionLayerOf<RoiAlignFunction, Tensor, Tensor>;
using RoiPool = LayerOfFunction<"RoiPool", firn::RoiPool, inner::RoiPoolAttrs>;

}  // namespace firn::nn

#endif  // FIRN_NN_VISION_LAYERS_H_
