#ifndef FIRN_TENSOR_KERNELS_CPU_WINOGRAD_H_
#define FIRN_TENSOR_KERNELS_CPU_WINOGRAD_H_

#include <cstddef>
#include <cstdint>

#include "firn/tensor/kernels/conv_pass.h"

namespace firn {

/// Winograd convolution in float32, F(4x4,3x3) and F(2x2,5x5): 36 multiplications per 4x4 (2x2)
/// outputs and channel pair where the direct method needs 144 (100) (Lavin & Gray, "Fast Algorithms
/// for Convolutional Neural Networks", 2016). The price is rounding: at most 2.5e-6 of the
/// largest output, where the direct method leaves 4e-7 to 7e-7 (tests/tensor/precision_test.cc).
///
/// Activations (x, y, dx, dy) are channel-blocked, [n][C / B][height][width][B] with
/// B = kChannelBlock, and aligned to 64 bytes. Weights (weight, dweight) are plain
/// [out][in][kernel][kernel]. Outputs are overwritten. Nothing is allocated; results do not depend
/// on the thread count. Thread rule: calls with different outputs and workspaces may run at the
/// same time.

/// A convolution with stride 1, dilation 1 and a padding of half the kernel: the output keeps the
/// input's size.
struct WinogradShape {
  int64_t batch = 0;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  int kernel = 3;  // or 5
};

/// Whether the functions below can compute this shape: all extents positive, a kernel of 3 or
/// 5, channels multiples of kChannelBlock.
bool WinogradSupports(const WinogradShape& shape);

/// Whether they beat a direct convolution for this shape (measured; see winograd_choice.cc) that
/// is `direct_speed` times as fast as one of f32. Requires: WinogradSupports(shape).
bool WinogradIsFaster(const WinogradShape& shape, ConvPass pass, double direct_speed = 1);

/// Bytes of scratch memory a pass needs, 64-byte aligned. It depends on the number of threads:
/// ask again when that changes. Huge pages help: the scratch is read in 36 strided streams.
size_t WinogradWorkspace(const WinogradShape& shape, ConvPass pass);

/// y = conv(x, weight) + bias. `bias` has out_channels values or is null.
void WinogradForward(const WinogradShape& shape, const float* x, const float* weight,
                     const float* bias, float* y, void* workspace);

/// The filters of a forward pass, transformed: so many values for any batch and image size, aligned
/// to 64 bytes.
int64_t WinogradFilterFloats(const WinogradShape& shape);
void WinogradTransformFilters(const WinogradShape& shape, const float* weight, float* filters);

/// WinogradForward with transformed filters, to the bit. The workspace may be smaller.
size_t WinogradFilteredWorkspace(const WinogradShape& shape);
void WinogradForwardFiltered(const WinogradShape& shape, const float* x, const float* filters,
                             const float* bias, float* y, void* workspace);

/// dx = gradient of sum(y * dy) with respect to x.
void WinogradBackwardData(const WinogradShape& shape, const float* dy, const float* weight,
                          float* dx, void* workspace);

/// dweight = gradient of sum(y * dy) with respect to weight.
void WinogradBackwardWeight(const WinogradShape& shape, const float* x, const float* dy,
                            float* dweight, void* workspace);

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_CPU_WINOGRAD_H_
