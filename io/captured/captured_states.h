#ifndef FIRN_IO_CAPTURED_CAPTURED_STATES_H_
#define FIRN_IO_CAPTURED_CAPTURED_STATES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "firn/autograd/graph/graph.h"
#include "firn/tensor/state_dict.h"

namespace firn::io::internal {

// The names of a captured graph's states, from a module's state_dict(), which must stay alive.
// Thread-compatible.
class CapturedNames {
 public:
  explicit CapturedNames(const StateDict& names);

  // "" for a state without a name.
  std::string NameOf(const Tensor& state) const;

 private:
  std::map<const char*, std::vector<const StateDict::Entry*>> by_place_;
};

// Whether the elements of a state or a constant can be read and are of the kind that was captured.
absl::Status CheckCaptured(const Value& value);

// By buffer: whether the run writes it; the states of random generators do not count.
std::vector<bool> WrittenBuffers(const Graph& graph);

}  // namespace firn::io::internal

#endif  // FIRN_IO_CAPTURED_CAPTURED_STATES_H_
