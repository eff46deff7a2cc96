#ifndef FIRN_AUTOGRAD_GRAPH_ARITHMETIC_H_
#define FIRN_AUTOGRAD_GRAPH_ARITHMETIC_H_

#include <cstdint>

namespace firn {

// What a compiled graph may do to rounding.
enum class Arithmetic : uint8_t {
  kExact,  // bit for bit what the captured code computes
  // The same in real arithmetic, rounded elsewhere. One exception shows: a bias in front of a batch
  // norm, which the norm takes away again. Its gradient is 0, and so it keeps the value it had (but
  // for weight decay), where an ordinary run follows what rounding leaves of that 0, which an
  // optimizer like Adam scales up; the norm's running mean shifts by the same.
  kReordered,
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_ARITHMETIC_H_
