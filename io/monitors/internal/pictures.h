#ifndef FIRN_IO_MONITORS_INTERNAL_PICTURES_H_
#define FIRN_IO_MONITORS_INTERNAL_PICTURES_H_

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// The first `most` images of a batch [N, ..., C, H, W] as pixels, u8 [1 or 3, H, W]: normalised by
// `normalize`, which gets f32 [n, C, H, W] and returns numbers from 0 to 1, or without it by the
// least and largest element of all of them together. If there are more than three channels, the
// first three stay; two channels get a third one of ones. NaN becomes black. Throws
// kInvalidArgument, naming `who`, for fewer than three dimensions, no elements, or another shape
// from `normalize`.
std::vector<Tensor> PicturesOf(const Tensor& images, int64_t most,
                               const std::function<Tensor(const Tensor&)>& normalize,
                               std::string_view who);

// Pictures of one size side by side, as many in a row as there are rows (rounded up), each with
// `pad` black pixels at its right and below it.
Tensor Tile(const std::vector<Tensor>& pictures, int64_t pad);

}  // namespace firn::io::internal

#endif  // FIRN_IO_MONITORS_INTERNAL_PICTURES_H_
