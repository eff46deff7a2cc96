#ifndef FIRN_TENSOR_OPS_CREATE_RANGE_H_
#define FIRN_TENSOR_OPS_CREATE_RANGE_H_

#include <optional>
#include <type_traits>

#include "firn/tensor/number.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct ArangeAttrs {
  int64_t size = 0;
  double start = 0, step = 1;     // of floating results
  int64_t first = 0, stride = 1;  // of integer results
  DType dtype = DType::kI64;
  DeviceType device_type = DeviceType::kCpu;
  int8_t device_index = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("size", size);
    v.Field("start", start);
    v.Field("step", step);
    v.Field("first", first);
    v.Field("stride", stride);
    v.Field("dtype", dtype);
    v.Field("device_type", device_type);
    v.Field("device_index", device_index);
  }
};
}  // namespace inner

struct ArangeOptions {
  std::optional<DType> dtype = {};  // default: i64 for integer arguments, else f32
  Device device = {};
};

namespace inner::internal {
template <class T>
concept PlainNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
Tensor ArangeIntegers(int64_t start, int64_t end, int64_t step, const ArangeOptions& options);
Tensor ArangeNumbers(double start, double end, double step, const ArangeOptions& options);
}  // namespace inner::internal

// start, start + step, ... before `end`: ceil((end - start) / step) elements. Throws when step is 0
// or leads away from `end`, and when an integer dtype does not hold all elements. Flags are not
// taken as numbers.
template <inner::internal::PlainNumber A, inner::internal::PlainNumber B,
          inner::internal::PlainNumber C = int>
Tensor Arange(A start, B end, C step = 1, const ArangeOptions& options = {}) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B> && std::is_integral_v<C>) {
    return inner::internal::ArangeIntegers(static_cast<int64_t>(start), static_cast<int64_t>(end),
                                           static_cast<int64_t>(step), options);
  } else {
    return inner::internal::ArangeNumbers(static_cast<double>(start), static_cast<double>(end),
                                          static_cast<double>(step), options);
  }
}
// 0, 1, ... before `end`.
template <inner::internal::PlainNumber T>
Tensor Arange(T end) {
  return Arange(T{0}, end);
}

namespace inner {
struct LinspaceAttrs {
  double start = 0, end = 1;
  int64_t steps = 0;
  DType dtype = kDefaultFloat;
  DeviceType device_type = DeviceType::kCpu;
  int8_t device_index = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("start", start);
    v.Field("end", end);
    v.Field("steps", steps);
    v.Field("dtype", dtype);
    v.Field("device_type", device_type);
    v.Field("device_index", device_index);
  }
};
}  // namespace inner

// `steps` evenly spaced numbers from `start` to `end`, both included and exact; one step gives
// `start`. Integer dtypes take the numbers truncated towards zero. Throws when steps is negative,
// and when an integer dtype does not hold them.
Tensor Linspace(inner::Number start, inner::Number end, inner::Integer steps,
                DType dtype = kDefaultFloat, Device device = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CREATE_RANGE_H_
