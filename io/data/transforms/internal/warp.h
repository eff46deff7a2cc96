#ifndef FIRN_IO_DATA_TRANSFORMS_INTERNAL_WARP_H_
#define FIRN_IO_DATA_TRANSFORMS_INTERNAL_WARP_H_

#include <cstdint>

#include "firn/io/data/transforms/affine.h"
#include "firn/io/data/transforms/internal/scene.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// Throws for kBicubic, which images that turn do not have.
void RequireWarpable(Interpolation interpolation, const char* who);

// The image seen through the matrix, height x width pixels, `fill` where it looks beside the image.
// Requires: a checked image, for which `fill` is a pixel; sides of at least 1; a finite matrix; an
// interpolation that RequireWarpable takes.
Tensor Warp(const Tensor& image, int64_t height, int64_t width, const AffineMatrix& matrix,
            Interpolation interpolation, double fill, const char* who);

// torchvision's _get_inverse_affine_matrix; translations in pixels.
AffineMatrix InverseAffine(const AffineOptions& options, const Point& center);

// Affine without the checks of its options. Requires: a checked image; `scene` may be null.
Tensor WarpAffine(const Tensor& image, const AffineOptions& options, Scene* scene, const char* who);
// Rotate, likewise.
Tensor WarpRotation(const Tensor& image, const RotateOptions& options, Scene* scene,
                    const char* who);

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_TRANSFORMS_INTERNAL_WARP_H_
