#ifndef FIRN_TENSOR_KERNELS_CPU_CONV_REFERENCE_H_
#define FIRN_TENSOR_KERNELS_CPU_CONV_REFERENCE_H_

// Convolution by its definition, for every floating type: fast kernels are checked against it, and
// it runs in f64. Row-major tensors; accumulates in double. Problems are of three
// dimensions (ConvProblem::Lifted).

#include <algorithm>

#include "firn/device/parallel.h"
#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/problems/conv_problem.h"

namespace firn::cpu {

// Calls f(i, k) for the taps k of a kernel that meet input position i = o * stride - padding +
// k * dilation inside [0, in).
template <class F>
void ForEachTap(int64_t o, int64_t in, int64_t kernel, int64_t stride, int64_t padding,
                int64_t dilation, F&& f) {
  for (int64_t k = 0; k < kernel; ++k) {
    const int64_t i = o * stride - padding + k * dilation;
    if (i >= 0 && i < in) f(i, k);
  }
}

// Calls f(x offset in the image, tap offset in the kernel) for every tap of an output pixel.
template <class F>
void ForEachTapOf(const ConvProblem& p, int64_t pixel, F&& f) {
  const auto along = [&p](int axis, int64_t o, auto&& each) {
    ForEachTap(o, p.in_size[axis], p.kernel[axis], p.attrs.stride[axis], p.attrs.padding[axis],
               p.attrs.dilation[axis], each);
  };
  const int64_t ow = pixel % p.out_size[2], row = pixel / p.out_size[2];
  along(0, row / p.out_size[1], [&](int64_t id, int64_t kd) {
    along(1, row % p.out_size[1], [&](int64_t ih, int64_t kh) {
      const int64_t line = (id * p.in_size[1] + ih) * p.in_size[2];
      const int64_t taps = (kd * p.kernel[1] + kh) * p.kernel[2];
      along(2, ow, [&](int64_t iw, int64_t kw) { f(line + iw, taps + kw); });
    });
  });
}

template <class T>
void ConvForwardReference(const ConvProblem& p, const T* x, const T* weight, const T* bias, T* y) {
  const int64_t in_image = p.in_size.volume(), out_image = p.out_size.volume();
  const int64_t taps = p.kernel.volume(), cg = p.in_per_group();
  ParallelFor(p.batch * p.out, 1, [&](int64_t begin, int64_t end) {
    for (int64_t no = begin; no < end; ++no) {
      const int64_t n = no / p.out, o = no % p.out;
      const T* group = x + (n * p.in + o / p.out_per_group() * cg) * in_image;
      for (int64_t pixel = 0; pixel < out_image; ++pixel) {
        double sum = bias == nullptr ? 0 : static_cast<double>(bias[o]);
        ForEachTapOf(p, pixel, [&](int64_t i, int64_t k) {
          for (int64_t c = 0; c < cg; ++c) {
            sum += static_cast<double>(group[c * in_image + i]) *
                   static_cast<double>(weight[(o * cg + c) * taps + k]);
          }
        });
        y[no * out_image + pixel] = ConvertTo<T>(sum);
      }
    }
  });
}

// x = the data gradient of y. `sums` is scratch of the size of x.
template <class T>
void ConvBackwardDataReference(const ConvProblem& p, const T* y, const T* weight, T* x,
                               double* sums) {
  const int64_t in_image = p.in_size.volume(), out_image = p.out_size.volume();
  const int64_t taps = p.kernel.volume(), cg = p.in_per_group(), og = p.out_per_group();
  ParallelFor(p.batch * p.in, 1, [&](int64_t begin, int64_t end) {
    for (int64_t nc = begin; nc < end; ++nc) {
      const int64_t n = nc / p.in, c = nc % p.in, g = c / cg;
      double* sum = sums + nc * in_image;
      std::fill(sum, sum + in_image, 0.0);
      for (int64_t o = g * og; o < (g + 1) * og; ++o) {
        const T* w = weight + (o * cg + c % cg) * taps;
        const T* dy = y + (n * p.out + o) * out_image;
        for (int64_t pixel = 0; pixel < out_image; ++pixel) {
          ForEachTapOf(p, pixel, [&](int64_t i, int64_t k) {
            sum[i] += static_cast<double>(dy[pixel]) * static_cast<double>(w[k]);
          });
        }
      }
      for (int64_t i = 0; i < in_image; ++i) x[nc * in_image + i] = ConvertTo<T>(sum[i]);
    }
  });
}

template <class T>
void ConvBackwardWeightReference(const ConvProblem& p, const T* x, const T* y, T* weight,
                                 double* sums) {
  const int64_t in_image = p.in_size.volume(), out_image = p.out_size.volume();
  const int64_t taps = p.kernel.volume(), cg = p.in_per_group();
  ParallelFor(p.out * cg, 1, [&](int64_t begin, int64_t end) {
    for (int64_t oc = begin; oc < end; ++oc) {
      const int64_t o = oc / cg, c = oc % cg + o / p.out_per_group() * cg;
      double* sum = sums + oc * taps;
      std::fill(sum, sum + taps, 0.0);
      for (int64_t n = 0; n < p.batch; ++n) {
        const T* image = x + (n * p.in + c) * in_image;
        const T* dy = y + (n * p.out + o) * out_image;
        for (int64_t pixel = 0; pixel < out_image; ++pixel) {
          ForEachTapOf(p, pixel, [&](int64_t i, int64_t k) {
            sum[k] += static_cast<double>(dy[pixel]) * static_cast<double>(image[i]);
          });
        }
      }
      for (int64_t k = 0; k < taps; ++k) weight[oc * taps + k] = ConvertTo<T>(sum[k]);
    }
  });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_CONV_REFERENCE_H_
