#ifndef FIRN_AUTOGRAD_GRAPH_ARITHMETIC_H_
#define FIRN_AUTOGRAD_GRAPH_ARITHMETIC_H_

#include <cstdint>

namespace firn {

// What a compiled graph may do to rounding.
enum class Arithmetic : uint8_t {
  kExact,      // bit for bit what the captured code computes
  kReordered,  // the same in real arithmetic, rounded elsewhere
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_ARITHMETIC_H_
