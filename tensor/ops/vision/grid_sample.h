#ifndef FIRN_TENSOR_OPS_VISION_GRID_SAMPLE_H_
#define FIRN_TENSOR_OPS_VISION_GRID_SAMPLE_H_

#include <cstdint>

#include "firn/device/enum_words.h"
#include "firn/tensor/tensor.h"

namespace firn {

enum class GridSampleMode : uint8_t { kLinear, kNearest, kCubic };
constexpr auto WordsOf(GridSampleMode) {
  return inner::EnumWords<GridSampleMode>({{GridSampleMode::kLinear, "bilinear"},
                                           {GridSampleMode::kNearest, "nearest"},
                                           {GridSampleMode::kCubic, "bicubic"}});
}
// The elements outside of x: zeros, its outermost elements, or its mirror image.
enum class GridSamplePadding : uint8_t { kZeros, kBorder, kReflection };
constexpr auto WordsOf(GridSamplePadding) {
  return inner::EnumWords<GridSamplePadding>({{GridSamplePadding::kZeros, "zeros"},
                                              {GridSamplePadding::kBorder, "border"},
                                              {GridSamplePadding::kReflection, "reflection"}});
}

struct GridSampleOptions {
  GridSampleMode mode = GridSampleMode::kLinear;
  GridSamplePadding padding = GridSamplePadding::kZeros;
  bool align_corners =
      false;  // -1 and 1 are the middles of the outermost elements, not their edges
  template <class V>
  void Visit(V& v) {
    v.Field("mode", mode);
    v.Field("padding", padding);
    v.Field("align_corners", align_corners);
  }
};

// x at the places of `grid`, as PyTorch's grid_sample: of each place its x, y (and z) from -1 at
// the left, upper edge to 1 at the right, lower one. Cubic is for images alone, with a = -0.75.
// A place of NaN lies outside, or at the first element where `padding` leaves nothing outside;
// there kCubic gives NaN, also of an infinite place, as PyTorch's does.
// Half types compute in f32. Gradients that are recorded (create_graph) are those of gathers and
// products, in many times the time and memory.
// x: [n, c, h, w] or [n, c, d, h, w], floating, of one size or more in each dimension
// grid: [n, oh, ow, 2] or [n, od, oh, ow, 3], of x's dtype      y: [n, c, oh, ow] ...
// Throws on other shapes and dtypes.
Tensor GridSample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options = {});

// The grid that maps places of a result of `size` to places of an image by an affine map, as
// PyTorch's affine_grid. theta: [n, 2, 3] for size [n, c, h, w] or [n, 3, 4] for [n, c, d, h, w]
// y: [n, h, w, 2] or [n, d, h, w, 3], for GridSample with the same `align_corners`
Tensor AffineGrid(const Tensor& theta, const Shape& size, inner::Flag align_corners = false);

// x with its elements moved: y[.., v, u] is x at (u + flow[:, 0], v + flow[:, 1]), and flow's third
// channel is along the depth of volumes (NNabla's warp_by_flow). Outside lies the border.
// Half types compute in f32. Throws on other shapes and dtypes.
// x: [n, c, h, w]      flow: [n, 2, h, w], in elements; or [n, c, d, h, w] and [n, 3, d, h, w]
Tensor WarpByFlow(const Tensor& x, const Tensor& flow);

namespace inner {
struct GridSampleAttrs : GridSampleOptions {
  bool pixels = false;  // the grid counts elements: 0 is the middle of the first, 1 of the second
  template <class V>
  void Visit(V& v) {
    GridSampleOptions::Visit(v);
    v.Field("pixels", pixels);
  }
};

// GridSample of places that are counted in elements, which are exact in images of any size.
// align_corners says only where reflection turns.
Tensor SampleElements(const Tensor& x, const Tensor& places, const GridSampleOptions& options = {});

// The operation grid_sample, written with others, which have gradients of any order.
// Requires: inputs that grid_sample takes.
Tensor SampledByOperations(const Tensor& x, const Tensor& grid, const GridSampleAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_GRID_SAMPLE_H_
