#ifndef FIRN_TENSOR_OPS_CONV_SIZE2_H_
#define FIRN_TENSOR_OPS_CONV_SIZE2_H_

#include <cstdint>

namespace firn {

// Height and width; one number means both.
struct Size2 {
  int64_t h = 1, w = 1;
  Size2() = default;
  Size2(int64_t both) : h(both), w(both) {}  // NOLINT: implicit, as in {.kernel = 3}
  Size2(int64_t height, int64_t width) : h(height), w(width) {}
  friend bool operator==(Size2, Size2) = default;
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CONV_SIZE2_H_
