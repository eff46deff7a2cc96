#ifndef FIRN_AUTOGRAD_GRAPH_PHASE_H_
#define FIRN_AUTOGRAD_GRAPH_PHASE_H_

#include <cstdint>

namespace firn {

// When in a training step an operation ran.
enum class Phase : uint8_t { kForward, kBackward };

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PHASE_H_
