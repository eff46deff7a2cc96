// dW[o, c, u, v] = sum over images and pixels of y[n, o, i, j] x[n, c, i s + u, j s + v].
//
// For one block of output channels o, one c and one row u of the kernel, the kw sums over a row of
// pixels stay in kw vector registers: one load of y and kw broadcast multiply-adds a pixel. Images
// are divided into a fixed number of parts, each with its own sums in workspace, added in order at
// the end, so the result does not depend on the number of threads.

#include "tensor/kernels/cpu/conv_first_layer.h"

#include <algorithm>

#include "device/parallel.h"
#include "device/simd.h"
#include "device/status_macros.h"

namespace firn::cpu {
namespace {

constexpr int64_t kParts = 16;
constexpr int64_t kMaxKernelWidth = 7;  // sums that fit in 16 registers with room to work

typedef float Lanes
    __attribute__((vector_size(kChannelBlock * sizeof(float)), aligned(4), may_alias));

// The pixels j of a row with 0 <= j * stride + shift < in.
struct Span {
  int64_t begin, end;
};
Span ValidColumns(int64_t out, int64_t in, int64_t stride, int64_t shift) {
  const int64_t begin = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t end = in - shift <= 0 ? 0 : (in - shift + stride - 1) / stride;
  return {std::min(begin, out), std::max(std::min(end, out), std::min(begin, out))};
}

// sums[v] += one row of y times the matching pixels of one row of x. Inner columns take all kw
// taps.
template <int kWidth>
void RowSums(const ConvProblem& p, const float* x, const float* y, Lanes* sums) {
  const int64_t s = p.attrs.stride.w, d = p.attrs.dilation.w;
  Lanes acc[kWidth];
  for (int v = 0; v < kWidth; ++v) acc[v] = sums[v];
  const Span first = ValidColumns(p.out_size.w, p.in_size.w, s, -p.attrs.padding.w);
  const Span last =
      ValidColumns(p.out_size.w, p.in_size.w, s, (kWidth - 1) * d - p.attrs.padding.w);
  const int64_t begin = std::min(first.begin, p.out_size.w);
  const int64_t end = std::max(begin, last.end);
  const auto load = [&](int64_t j) {
    return *reinterpret_cast<const Lanes*>(y + j * kChannelBlock);
  };
  for (int64_t j = begin; j < end; ++j) {
    const Lanes dy = load(j);
    const float* at = x + j * s - p.attrs.padding.w;
    for (int v = 0; v < kWidth; ++v) acc[v] += dy * at[v * d];
  }
  for (int v = 0; v < kWidth; ++v) {  // the borders
    const Span all = ValidColumns(p.out_size.w, p.in_size.w, s, v * d - p.attrs.padding.w);
    const float* at = x + v * d - p.attrs.padding.w;
    for (int64_t j = all.begin; j < std::min(begin, all.end); ++j) acc[v] += load(j) * at[j * s];
    for (int64_t j = std::max(end, all.begin); j < all.end; ++j) acc[v] += load(j) * at[j * s];
  }
  for (int v = 0; v < kWidth; ++v) sums[v] = acc[v];
}

using RowSumsFn = void (*)(const ConvProblem&, const float*, const float*, Lanes*);
constexpr RowSumsFn kRowSums[kMaxKernelWidth + 1] = {
    nullptr, RowSums<1>, RowSums<2>, RowSums<3>, RowSums<4>, RowSums<5>, RowSums<6>, RowSums<7>};

// Sums of the images [n0, n1): [out / block][c][kh][kw][block].
void PartSums(const ConvProblem& p, const float* x, const float* y, int64_t n0, int64_t n1,
              Lanes* sums) {
  const int64_t groups = p.out / kChannelBlock, taps = p.kernel.h * p.kernel.w;
  const int64_t in_image = p.in_size.h * p.in_size.w, out_image = p.out_size.h * p.out_size.w;
  std::fill(sums, sums + groups * p.in * taps, Lanes{});
  for (int64_t n = n0; n < n1; ++n) {
    for (int64_t o = 0; o < groups; ++o) {
      const float* dy = y + (n * groups + o) * out_image * kChannelBlock;
      for (int64_t c = 0; c < p.in; ++c) {
        const float* image = x + (n * p.in + c) * in_image;
        for (int64_t i = 0; i < p.out_size.h; ++i) {
          for (int64_t u = 0; u < p.kernel.h; ++u) {
            const int64_t row = i * p.attrs.stride.h - p.attrs.padding.h + u * p.attrs.dilation.h;
            if (row < 0 || row >= p.in_size.h) continue;
            kRowSums[p.kernel.w](p, image + row * p.in_size.w,
                                 dy + i * p.out_size.w * kChannelBlock,
                                 sums + (o * p.in + c) * taps + u * p.kernel.w);
          }
        }
      }
    }
  }
}

}  // namespace

absl::Status FirstLayerTakes(const ConvProblem& p) {
  FIRN_RETURN_IF(p.attrs.groups != 1 || p.in >= kChannelBlock || p.out % kChannelBlock != 0 ||
                     p.kernel.w > kMaxKernelWidth,
                 Unimplemented("wants fewer than ", kChannelBlock,
                               " input channels, a multiple of ", kChannelBlock,
                               " output channels and kernels up to ", kMaxKernelWidth, " wide"));
  return absl::OkStatus();
}

size_t FirstLayerWorkspace(const ConvProblem& p) {
  return static_cast<size_t>(kParts * p.out * p.in * p.kernel.h * p.kernel.w) * sizeof(float);
}

void FirstLayerWeightGrad(const ConvProblem& p, const float* x, const float* y, float* weight,
                          float* workspace) {
  const int64_t taps = p.kernel.h * p.kernel.w;
  const int64_t size = p.out * p.in * taps;  // floats in one part's sums
  ParallelFor(kParts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      PartSums(p, x, y, p.batch * part / kParts, p.batch * (part + 1) / kParts,
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
