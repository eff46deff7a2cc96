// Conversions into and out of tiles, compiled here for all loops.

#include "tensor/kernels/cpu/tiles.h"

#include <type_traits>

#include "device/check.h"
#include "tensor/kernels/convert.h"

namespace firn::cpu {
namespace {

template <class From, class To>
void FetchRow(const From* from, int64_t step, int64_t n, To* to) {
  if (step == 1) {
    for (int64_t j = 0; j < n; ++j) to[j] = ConvertTo<To>(from[j]);
  } else {
    for (int64_t j = 0; j < n; ++j) to[j] = ConvertTo<To>(from[j * step]);
  }
}

template <class From, class To>
void FetchAs(const void* const* rows, int64_t num_rows, int64_t n, int64_t step, void* to) {
  for (int64_t i = 0; i < num_rows; ++i) {
    FetchRow(static_cast<const From*>(rows[i]), step, n, static_cast<To*>(to) + i * n);
  }
}

template <class From, class To>
constexpr bool Fetched() {
  if constexpr (std::is_same_v<From, To> || std::is_same_v<To, bool>) return true;
  if constexpr (std::is_same_v<To, float>) return !std::is_integral_v<From> && sizeof(From) == 2;
  if constexpr (std::is_same_v<To, int32_t> || std::is_same_v<To, int64_t>) {
    return std::is_integral_v<From> && sizeof(From) < sizeof(To);
  }
  return false;
}

template <class From, class To>
void PutAs(const void* tile, int64_t n, void* out) {
  const From* const from = static_cast<const From*>(tile);
  To* const to = static_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = ConvertTo<To>(from[i]);
}

}  // namespace

FetchFn Fetcher(DType from, DType to) {
  FetchFn found = nullptr;
  VisitDType(to, [&]<class To>(TypeTag<To>) {
    VisitDType(from, [&]<class From>(TypeTag<From>) {
      if constexpr (Fetched<From, To>()) found = FetchAs<From, To>;
    });
  });
  FIRN_DCHECK(found != nullptr);
  return found;
}

void Put(const void* tile, int64_t n, DType to, void* out) {
  VisitDType(to, [&]<class To>(TypeTag<To>) {
    if constexpr (!std::is_integral_v<To>) {
      if constexpr (sizeof(To) == 2) PutAs<float, To>(tile, n, out);
    } else if constexpr (sizeof(To) < sizeof(int32_t)) {
      PutAs<int32_t, To>(tile, n, out);
    }
  });
}

}  // namespace firn::cpu
