// A thread for each element that is written.
#include "firn/tensor/kernels/cuda/fft_rows.h"
#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/divide.h"

namespace firn::cuda {
namespace {

template <class T>
struct ReadFftRowsBody {
  FftPlaces at;
  const T* x;
  int64_t count, real_size;
  T* rows;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t line = i;
    const int64_t part = TakeDigit(line, at.parts), t = TakeDigit(line, count);
    const bool none = t >= at.length || (real_size > 0 && part == 1 && 2 * t % real_size == 0);
    if (none) {
      rows[i] = T(0);
      return;
    }
    const int64_t in = TakeDigit(line, at.inner);
    rows[i] = x[((line * at.length + t) * at.inner + in) * at.parts + part];
  }
};

template <class T>
struct WriteFftRowsBody {
  FftPlaces at;
  T factor;
  const T* rows;
  T* y;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t outer = i;
    const int64_t part = TakeDigit(outer, at.parts), in = TakeDigit(outer, at.inner);
    const int64_t t = TakeDigit(outer, at.length);
    y[i] = factor * rows[((outer * at.inner + in) * at.length + t) * at.parts + part];
  }
};

template <class F>
absl::Status VisitTransformed(DType dtype, const F& f) {
  return dtype == DType::kF32 ? f(TypeTag<float>()) : f(TypeTag<double>());
}

}  // namespace

absl::Status ReadFftRows(const Queue& queue, DType dtype, const FftPlaces& places, const void* x,
                         int64_t count, int64_t real_size, void* rows) {
  return VisitTransformed(dtype, [&]<class T>(TypeTag<T>) {
    return ForEach(queue, places.lines() * count * places.parts,
                   ReadFftRowsBody<T>{places, static_cast<const T*>(x), count, real_size,
                                      static_cast<T*>(rows)});
  });
}

absl::Status WriteFftRows(const Queue& queue, DType dtype, const FftPlaces& places, double factor,
                          const void* rows, void* y) {
  return VisitTransformed(dtype, [&]<class T>(TypeTag<T>) {
    return ForEach(queue, places.lines() * places.length * places.parts,
                   WriteFftRowsBody<T>{places, static_cast<T>(factor), static_cast<const T*>(rows),
                                       static_cast<T*>(y)});
  });
}

}  // namespace firn::cuda
