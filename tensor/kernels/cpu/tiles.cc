// Moves and conversions into and out of tiles, compiled here for all loops.

#include "tensor/kernels/cpu/tiles.h"

#include "tensor/kernels/width.h"

namespace firn::cpu {
namespace {

template <class From, class To>
void FetchRow(const From* from, int64_t step, int64_t n, To* to) {
  if (step == 1) {
    for (int64_t j = 0; j < n; ++j) to[j] = static_cast<To>(from[j]);
  } else {
    for (int64_t j = 0; j < n; ++j) to[j] = static_cast<To>(from[j * step]);
  }
}

template <class From, class To>
void FetchAs(const void* const* rows, int64_t num_rows, int64_t n, int64_t step, void* to) {
  for (int64_t i = 0; i < num_rows; ++i) {
    FetchRow(static_cast<const From*>(rows[i]), step, n, static_cast<To*>(to) + i * n);
  }
}

template <class T>
void RoundTo(const float* from, int64_t n, void* to) {
  T* const out = static_cast<T*>(to);
  for (int64_t i = 0; i < n; ++i) out[i] = T(from[i]);
}

}  // namespace

FetchFn Fetcher(DType from, DType to) {
  if (from != to) return from == DType::kF16 ? FetchAs<Half, float> : FetchAs<BFloat16, float>;
  return VisitWidth(from, []<class T>(TypeTag<T>) -> FetchFn { return FetchAs<T, T>; });
}

void Round(const float* tile, int64_t n, DType to, void* out) {
  to == DType::kF16 ? RoundTo<Half>(tile, n, out) : RoundTo<BFloat16>(tile, n, out);
}

}  // namespace firn::cpu
