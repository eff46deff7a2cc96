#ifndef FIRN_AUTOGRAD_GRAPH_ARITHMETIC_H_
#define FIRN_AUTOGRAD_GRAPH_ARITHMETIC_H_

#include <cstdint>

namespace firn {

// What a compiled graph may do to rounding.
enum class Arithmetic : uint8_t {
  kExact,  // bit for bit what the captured code computes
  // The same in real arithmetic, rounded elsewhere. One exception shows: a bias in front of a batch
  // norm, which the norm takes away again. Its gradient becomes exactly 0, so the bias keeps its
  // value (but for weight decay). In an ordinary run rounding makes that gradient slightly
  // different from 0, and an optimizer like Adam scales it up. The norm's running mean shifts by
  // the same.
  kReordered,
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_ARITHMETIC_H_
