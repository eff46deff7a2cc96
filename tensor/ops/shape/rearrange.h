#ifndef FIRN_TENSOR_OPS_SHAPE_REARRANGE_H_
#define FIRN_TENSOR_OPS_SHAPE_REARRANGE_H_

// The same elements in other places. Any dtype.

#include <optional>
#include <vector>

#include "firn/device/enum_words.h"
#include "firn/tensor/dim_list.h"
#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/tensor.h"

namespace firn {

// x [n, c, ...] with its channels, seen as [groups, c / groups], transposed (Zhang et al., 2018).
// Throws unless groups divides c.
Tensor ChannelShuffle(const Tensor& x, inner::Integer groups);

// [..., c r^2, h, w] -> [..., c, h r, w r] with r = upscale (Shi et al., 2016): y[.., c, h r + i,
// w r + j] = x[.., (c r + i) r + j, h, w]. Throws when r^2 does not divide the channels.
Tensor PixelShuffle(const Tensor& x, inner::Integer upscale);
// The inverse: [..., c, h r, w r] -> [..., c r^2, h, w] with r = downscale. Throws when r does not
// divide h and w.
Tensor PixelUnshuffle(const Tensor& x, inner::Integer downscale);

namespace inner {
// Attributes of roll_dim: 0 <= dim < rank, 0 <= shift < the size there.
struct RollDimAttrs {
  int64_t dim = 0, shift = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("shift", shift);
  }
};
}  // namespace inner

// x moved on by shifts[i] along dims[i]; elements that leave at one end come in at the other.
// Without dims, one shift of the flattened x, which keeps its shape. Throws when the lists differ
// in length, and when a dim is out of range.
Tensor Roll(const Tensor& x, const DimList& shifts, const DimList& dims = {});

// x moved on by `shifts` along its last dimensions, the last shift along the last one; a negative
// one moves back. Elements that leave are lost, and `border` says what comes in, as for Pad
// (NNabla's shift; its reflect is kSymmetric). Throws on more shifts than dimensions, and Pad's
// errors.
Tensor Shift(const Tensor& x, const DimList& shifts, PadMode border = PadMode::kReplicate);

// x turned by 90 degrees k times, from dims[0] to dims[1] (numpy.rot90). Throws unless dims are two
// dimensions of x.
Tensor Rot90(const Tensor& x, inner::Integer k = 1, const DimList& dims = {0, 1});

// Every element along `dim` repeated as many times as `repeats` says, side by side
// (numpy.repeat); without dim, of the flattened x. `repeats` is a number, or an integer tensor with
// an element for each one of the dimension, or with one for all. A tensor is read on the host: it
// waits for a CUDA device, and is an error during capture. Throws on a negative number of repeats.
Tensor RepeatInterleave(const Tensor& x, const Tensor& repeats, std::optional<int64_t> dim = {});

// The order of a grid's dimensions.
enum class MeshIndexing : uint8_t {
  kIj,  // as the tensors come: matrices
  kXy,  // the first two swapped: images
};
constexpr auto WordsOf(MeshIndexing) {
  return inner::EnumWords<MeshIndexing>({{MeshIndexing::kIj, "ij"}, {MeshIndexing::kXy, "xy"}});
}

// For n tensors of sizes s_0, ..., s_{n - 1} (1-D, or 0-d for one element) n views of shape
// [s_0, ..., s_{n - 1}], of which number i changes along dimension i alone (numpy.meshgrid). Throws
// on an empty list and tensors of more dimensions.
std::vector<Tensor> Meshgrid(const std::vector<Tensor>& tensors,
                             MeshIndexing indexing = MeshIndexing::kIj);

namespace inner {
struct SlidingWindowAttrs {
  int64_t dim = -1;
  int64_t size = 1;
  int64_t step = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("size", size);
    v.Field("step", step);
  }
};

// The opposite of SlidingWindow: what `step` apart windows y, [..., count, size, ...] with the
// windows in `dim`, add up to where they overlap, in a dimension of `length`, at least what they
// cover. Numbers behind them are 0.
Tensor AddWindows(const Tensor& y, int dim, int64_t step, int64_t length);
}  // namespace inner

// A view of all windows of `size` neighbours along `dim`, `step` apart: that dimension counts
// windows, and a new last one the elements of a window (Tensor.unfold of PyTorch). Windows overlap
// where step < size. Throws when dim is out of range, unless 1 <= size <= the dimension's and
// step >= 1.
Tensor SlidingWindow(const Tensor& x, inner::Integer dim, inner::Integer size,
                     inner::Integer step = 1);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_REARRANGE_H_
