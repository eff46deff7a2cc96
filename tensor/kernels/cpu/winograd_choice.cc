// When Winograd beats a direct convolution: an estimate of both times, in nanoseconds of one core.
//
// Constants fit measurements on an AMD Milan (Zen 3, AVX2, 102 GFLOP/s a core) against the direct
// AVX2 kernels of oneDNN 2.6.3, weights reordered from and to [out][in][3][3] in both. Winograd
// takes a third of the time for 64 to 128 channels and images of 8x8 to 56x56, half for 16
// channels. It loses where the filters are many for few tiles (batch 1 of 512 channels and 7x7) and
// where images fill little of their tiles (2x2, 1x64). Nominal GFLOP/s forward / data / weights:
//
//   batch  channels    image    Winograd          direct
//   64     128, 128    8x8      296 / 300 / 270   85 / 94 / 70
//   64     64, 64      32x32    246 / 249 / 253   92 / 98 / 71
//   64     32, 32      28x28    172 / 177 / 155   89 / 93 / 63
//   64     16, 16      7x7      108 / 110 / 102   45 / 62 / 52
//   8      512, 512    4x4       74 /  82 /  80   64 / 62 / 39
//   2      512, 512    7x7       55 /  62 /  60   64 / 66 / 49
//   1      512, 512    7x7       32 /  36 /  32   55 / 56 / 45
//   64     32, 32      2x2       42 /  51 /  44   62 / 102 / -

#include <cstdint>

#include "firn/tensor/kernels/cpu/winograd.h"

namespace firn {

bool WinogradIsFaster(const WinogradShape& shape, ConvPass pass, double direct_speed) {
  const double pairs = static_cast<double>(shape.in_channels * shape.out_channels);
  const double channels = static_cast<double>(shape.in_channels + shape.out_channels);
  const bool in_cache = pairs < 100'000;  // 14 MB of transformed filters

  constexpr double kGflops = 95;      // in the transform domain
  constexpr double kTransformNs = 8;  // one channel of a tile, there or back
  const double filter_ns = in_cache ? 6 : 22;
  const int64_t tile = 7 - shape.kernel, taps = shape.kernel;
  const double tiles = static_cast<double>(shape.batch * ((shape.height + tile - 1) / tile) *
                                           ((shape.width + tile - 1) / tile));
  const double winograd_ns =
      tiles * (72 * pairs / kGflops + kTransformNs * channels) + filter_ns * pairs;

  // Direct kernels skip rows of padding, not columns.
  const double direct_gflops = pass == ConvPass::kBackwardWeight ? 60 : 78;
  const double reorder_ns = in_cache ? 2 : 5;
  const int64_t rows = taps * shape.height - (taps / 2) * (taps / 2 + 1);
  const double products = static_cast<double>(shape.batch * rows * taps * shape.width);
  const double direct_ns = (2 * products / direct_gflops + reorder_ns) * pairs;

  return winograd_ns < direct_ns / direct_speed;
}

}  // namespace firn
