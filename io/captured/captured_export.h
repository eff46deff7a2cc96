#ifndef FIRN_IO_CAPTURED_CAPTURED_EXPORT_H_
#define FIRN_IO_CAPTURED_CAPTURED_EXPORT_H_

// The steps that all exporters of captured graphs share, whatever the format.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/autograd/graph/graph.h"
#include "firn/io/captured/captured_batch_norms.h"
#include "firn/io/captured/captured_states.h"

namespace firn::io::internal {

// The names of a graph's inputs or outputs: the given ones, and "input.0" and so on where none is
// given. `unique` takes a name and gives one that is free. InvalidArgument for a given name that is
// taken.
absl::StatusOr<std::vector<std::string>> NamesOfAll(
    const char* what, size_t count, const std::vector<std::string>& wishes,
    const std::function<std::string(const std::string&)>& unique);

// A state of a graph, or a constant.
struct CapturedState {
  ValueId id;
  bool is_state;     // else a constant
  std::string name;  // of a state: that of the module, or "state.N"
  bool written;      // the run writes the buffer, whose first value this is
};

// All of them in the order of their values, after CheckCaptured.
absl::StatusOr<std::vector<CapturedState>> StatesOf(const Graph& graph, const CapturedNames& names);

// Calls `write` for each operation, in the order in which they ran, with the batch norm that it
// stands for or null. The reasons why operations cannot be written join `refused`. Unimplemented if
// that is not empty at the end, with all reasons: "3 operations have no form in <where>: ...".
absl::Status WriteAll(const Graph& graph, const std::string& where,
                      const std::function<void(const Instr&, const CapturedBatchNorm*)>& write,
                      const std::vector<std::string>& refused);

}  // namespace firn::io::internal

#endif  // FIRN_IO_CAPTURED_CAPTURED_EXPORT_H_
