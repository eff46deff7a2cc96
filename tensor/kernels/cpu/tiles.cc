// Moves and conversions into tiles, compiled here for all loops.

#include "firn/tensor/kernels/cpu/tiles.h"

#include <algorithm>

#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/width.h"

namespace firn::cpu {
namespace {

template <class T>
void GatherRow(const T* from, int64_t step, int64_t n, T* to) {
  if (step == 1) {
    std::copy_n(from, n, to);
  } else if (step == 0) {  // a constant step is what the compiler needs to vectorise
    std::fill_n(to, n, *from);
  } else {
    for (int64_t j = 0; j < n; ++j) to[j] = from[j * step];
  }
}

template <class T>
void Gather(const void* const* rows, int64_t num_rows, int64_t n, int64_t step, void* to) {
  for (int64_t i = 0; i < num_rows; ++i) {
    GatherRow(static_cast<const T*>(rows[i]), step, n, static_cast<T*>(to) + i * n);
  }
}

// Elements that lie apart are gathered first: conversions are fast only for adjacent elements.
template <class T>
void Widen(const void* const* rows, int64_t num_rows, int64_t n, int64_t step, void* to) {
  constexpr int64_t kPiece = 256;
  T piece[kPiece];
  float* floats = static_cast<float*>(to);
  for (int64_t i = 0; i < num_rows; ++i, floats += n) {
    const T* const row = static_cast<const T*>(rows[i]);
    if (step == 1) {
      ToFloats(row, n, floats);
      continue;
    }
    for (int64_t at = 0; at < n; at += kPiece) {
      const int64_t count = std::min(kPiece, n - at);
      GatherRow(row + at * step, step, count, piece);
      ToFloats(piece, count, floats + at);
    }
  }
}

}  // namespace

FetchFn Fetcher(DType from, DType to) {
  if (from != to) return from == DType::kF16 ? Widen<Half> : Widen<BFloat16>;
  return VisitWidth(from, []<class T>(TypeTag<T>) -> FetchFn { return Gather<T>; });
}

}  // namespace firn::cpu
