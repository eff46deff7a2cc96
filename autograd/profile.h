#ifndef FIRN_AUTOGRAD_PROFILE_H_
#define FIRN_AUTOGRAD_PROFILE_H_

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/phase.h"
#include "firn/tensor/tensor.h"

namespace firn {

class StaticGraph;

// What operations cost on one thread. A plain value. Times are wall-clock; those of operations are
// measured around each call. They contain what the call allocates and records, but neither the
// program between calls nor the profiler itself. `seconds` contains all of that, so its part
// outside of operations is larger than in an unobserved run.
//
// The observer that was made last is nearest to the operation: the time of hooks and of an
// AnomalyScope counts as the operation's if they are made inside the profiled step, and as time
// between operations if they were there before.
struct Profile {
  // All calls of one operation from one module in one direction.
  struct Row {
    std::string operation;  // "conv2d"
    std::string path;       // of the module: "net.stem.conv1", or ""
    Phase phase = Phase::kForward;
    int64_t calls = 0;
    double seconds = 0;          // of all calls
    double median_seconds = 0;   // of one
    std::optional<double> flop;  // of all calls, as autograd/flops.h counts; none without a rule
    int64_t bytes = 0;           // of arguments and results of all calls; 0 for views
    double share = 0;            // of the time that all operations took, 0 to 1
  };
  // One call, in the order in which they began.
  struct Event {
    size_t row = 0;
    double start = 0;  // in seconds after the first run began
    double seconds = 0;
  };
  std::vector<Row> rows;  // the most expensive first
  std::vector<Event> events;
  int64_t runs = 0;
  double seconds = 0;  // of all runs
  double median_run_seconds = 0;
  double operation_seconds = 0;  // of all operations

  // A table with a line for each operation, over all its callers; the most expensive first.
  std::string ByOperation() const;
  // A table of the modules as a tree, each with everything inside it.
  std::string ByModule() const;
  // The rows, with a line of names. Throws firn::Error when the file cannot be written; so does
  // WriteTrace. Files appear whole or not at all.
  void WriteCsv(const std::string& path) const;
  // Every call on a time line, for https://ui.perfetto.dev and chrome://tracing.
  void WriteTrace(const std::string& path) const;

  // ByOperation().
  friend std::ostream& operator<<(std::ostream& out, const Profile& profile);
};

// Runs `step` and times every operation in it: forward, backward, optimizer, and the steps of
// frozen graphs. The first run of a program is slower than others: memory is new to it. What `step`
// throws passes through.
Profile ProfileStep(absl::FunctionRef<void()> step, inner::Integer runs = 1);

// The same for runs of a frozen graph, after one that does not count. They change its states.
// Throws firn::Error.
Profile ProfileGraph(StaticGraph& graph, absl::Span<const Tensor> inputs, inner::Integer runs = 10);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_PROFILE_H_
