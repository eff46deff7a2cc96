// dW[o, c, u, v] = sum over images and pixels of y[n, o, i, j] x[n, c, i s + u, j s + v].
//
// A row of x, widened by its padding, meets the rows of y that a row u of the kernel takes it to:
// the kw sums of two blocks of output channels stay in registers, two loads of y and kw broadcasts
// a pixel. Images are divided into a fixed number of parts, each with its own sums in workspace,
// added in order at the end, so the result does not depend on the number of threads.

#include "firn/tensor/kernels/cpu/conv_first_layer.h"

#include <algorithm>

#include "firn/device/parallel.h"
#include "firn/device/simd.h"
#include "firn/device/status_macros.h"

namespace firn::cpu {
namespace {

constexpr int64_t kParts = 16;
constexpr int64_t kMaxKernelWidth = 7;  // sums that fit in 16 registers with room to work
constexpr int64_t kMaxPairWidth = 5;    // of two blocks

typedef float Lanes
    __attribute__((vector_size(kChannelBlock * sizeof(float)), aligned(4), may_alias));

// sums[b][v] += a row of y of block b times the matching pixels of a widened row of x. Blocks of y
// and of sums are `y_stride` floats and `sums_stride` vectors apart.
template <int kWidth, int kBlocks>
void RowSums(const ConvProblem& p, const float* x, const float* y, int64_t y_stride, Lanes* sums,
             int64_t sums_stride) {
  const int64_t step = p.attrs.stride[1], dilation = p.attrs.dilation[1];
  Lanes acc[kBlocks][kWidth];
  for (int b = 0; b < kBlocks; ++b) {
    for (int v = 0; v < kWidth; ++v) acc[b][v] = sums[b * sums_stride + v];
  }
  for (int64_t j = 0; j < p.out_size[1]; ++j, x += step, y += kChannelBlock) {
    Lanes dy[kBlocks];
    for (int b = 0; b < kBlocks; ++b) dy[b] = *reinterpret_cast<const Lanes*>(y + b * y_stride);
    for (int v = 0; v < kWidth; ++v) {
      const float at = x[v * dilation];
      for (int b = 0; b < kBlocks; ++b) acc[b][v] += dy[b] * at;
    }
  }
  for (int b = 0; b < kBlocks; ++b) {
    for (int v = 0; v < kWidth; ++v) sums[b * sums_stride + v] = acc[b][v];
  }
}

using RowSumsFn = void (*)(const ConvProblem&, const float*, const float*, int64_t, Lanes*,
                           int64_t);
constexpr RowSumsFn kOneBlock[] = {
    nullptr,       RowSums<1, 1>, RowSums<2, 1>, RowSums<3, 1>,
    RowSums<4, 1>, RowSums<5, 1>, RowSums<6, 1>, RowSums<kMaxKernelWidth, 1>};
constexpr RowSumsFn kTwoBlocks[] = {nullptr,       RowSums<1, 2>, RowSums<2, 2>,
                                    RowSums<3, 2>, RowSums<4, 2>, RowSums<kMaxPairWidth, 2>};

// The elements of a row of x and its padding that the kernel reaches.
int64_t WideRow(const ConvProblem& p) {
  return (p.out_size[1] - 1) * p.attrs.stride[1] + (p.kernel[1] - 1) * p.attrs.dilation[1] + 1;
}

void Widen(const ConvProblem& p, const float* row, float* wide) {
  const int64_t size = WideRow(p), left = std::min(p.attrs.padding[1], size);
  const int64_t inner = std::min(p.in_size[1], size - left);
  std::fill_n(wide, left, 0.0f);
  std::copy_n(row, inner, wide + left);
  std::fill_n(wide + left + inner, size - left - inner, 0.0f);
}

// Adds the products of one row of one input channel: `y` is that of the image and `sums` that of
// the channel, for all output channels and rows of the kernel.
void AddRow(const ConvProblem& p, int64_t row, const float* wide, const float* y, Lanes* sums) {
  const int64_t groups = p.out / kChannelBlock, step = p.attrs.stride[0];
  const int64_t y_stride = p.out_size[0] * p.out_size[1] * kChannelBlock;
  const int64_t sums_stride = p.in * p.kernel[0] * p.kernel[1];
  for (int64_t u = 0; u < p.kernel[0]; ++u) {
    const int64_t at = row + p.attrs.padding[0] - u * p.attrs.dilation[0];  // i * step
    if (at < 0 || at % step != 0 || at / step >= p.out_size[0]) continue;
    const float* dy = y + at / step * p.out_size[1] * kChannelBlock;
    for (int64_t o = 0; o < groups;) {
      const bool pair = p.kernel[1] <= kMaxPairWidth && o + 2 <= groups;
      (pair ? kTwoBlocks : kOneBlock)[p.kernel[1]](p, wide, dy + o * y_stride, y_stride,
                                                   sums + o * sums_stride + u * p.kernel[1],
                                                   sums_stride);
      o += pair ? 2 : 1;
    }
  }
}

// Sums of the images [n0, n1): [out / block][c][kh][kw][block]. `wide` holds a widened row.
void PartSums(const ConvProblem& p, const float* x, const float* y, int64_t n0, int64_t n1,
              float* wide, Lanes* sums) {
  const int64_t taps = p.kernel[0] * p.kernel[1];
  // std::fill would forget that Lanes need not be aligned.
  for (int64_t i = 0; i < p.out / kChannelBlock * p.in * taps; ++i) sums[i] = Lanes{};
  for (int64_t n = n0; n < n1; ++n) {
    const float* dy = y + n * p.out * p.out_size[0] * p.out_size[1];
    for (int64_t c = 0; c < p.in; ++c) {
      const float* image = x + (n * p.in + c) * p.in_size[0] * p.in_size[1];
      for (int64_t row = 0; row < p.in_size[0]; ++row) {
        Widen(p, image + row * p.in_size[1], wide);
        AddRow(p, row, wide, dy, sums + c * taps);
      }
    }
  }
}

}  // namespace

absl::Status FirstLayerTakes(const ConvProblem& p) {
  FIRN_RETURN_IF(p.dims() != 2, Unimplemented("wants images"));
  FIRN_RETURN_IF(p.attrs.groups != 1 || p.in >= kChannelBlock || p.out % kChannelBlock != 0 ||
                     p.kernel[1] > kMaxKernelWidth,
                 Unimplemented("wants fewer than ", kChannelBlock,
                               " input channels, a multiple of ", kChannelBlock,
                               " output channels and kernels up to ", kMaxKernelWidth, " wide"));
  return absl::OkStatus();
}

size_t FirstLayerWorkspace(const ConvProblem& p) {
  const int64_t sums = p.out * p.in * p.kernel[0] * p.kernel[1];
  return static_cast<size_t>(kParts * (sums + WideRow(p))) * sizeof(float);
}

void FirstLayerWeightGrad(const ConvProblem& p, const float* x, const float* y, float* weight,
                          float* workspace) {
  const int64_t taps = p.kernel[0] * p.kernel[1];
  const int64_t size = p.out * p.in * taps;  // floats in one part's sums
  ParallelFor(kParts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      PartSums(p, x, y, p.batch * part / kParts, p.batch * (part + 1) / kParts,
               workspace + kParts * size + part * WideRow(p),
               reinterpret_cast<Lanes*>(workspace + part * size));
    }
  });
  for (int64_t o = 0; o < p.out; ++o) {
    for (int64_t ck = 0; ck < p.in * taps; ++ck) {
      const int64_t from =
          (o / kChannelBlock * p.in * taps + ck) * kChannelBlock + o % kChannelBlock;
      float sum = 0;
      for (int64_t part = 0; part < kParts; ++part) sum += workspace[part * size + from];
      weight[o * p.in * taps + ck] = sum;
    }
  }
}

}  // namespace firn::cpu
