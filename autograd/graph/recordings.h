#ifndef FIRN_AUTOGRAD_GRAPH_RECORDINGS_H_
#define FIRN_AUTOGRAD_GRAPH_RECORDINGS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "firn/device/comm/recorded_runs.h"
#include "firn/device/context.h"
#include "firn/device/device.h"

namespace firn {

// The steps of a frozen graph as recorded work of its device (CUDA graphs), one recording for each
// set of addresses that they run with: in practice few sets occur, since the allocator hands the
// same blocks out in turn.
//
// The first run with new addresses is an ordinary one, which also warms libraries up; the second
// records. If recording fails, a message says so once on stderr, and runs stay ordinary.
class Recordings {
 public:
  explicit Recordings(Device device) : device_(device) {}

  // Runs what `queue` queues with operands at `addresses`.
  absl::Status Run(absl::Span<char* const> addresses, absl::FunctionRef<absl::Status()> queue);

  // The same for steps that call other ranks, where it is they who decide together what is
  // recorded. `queue` must wait for the calls that it starts.
  absl::Status RunWithRanks(comm::RecordedRuns& ranks, absl::Span<char* const> addresses,
                            absl::FunctionRef<absl::Status()> queue);

  // How many runs were launches of a recording.
  int64_t launches() const { return launches_; }

  // What the device said when it could not record, "" until then.
  const std::string& failure() const { return failure_; }

 private:
  static constexpr size_t kMost = 8;  // the longest unused one goes then

  struct Entry {
    std::vector<char*> addresses;
    std::unique_ptr<Recording> recording;  // null: seen once
    int64_t last_used = 0;
    std::shared_ptr<const comm::RunPlace> place = nullptr;  // for RunWithRanks
  };

  Entry& EntryFor(absl::Span<char* const> addresses);
  void Note(const std::string& failure);

  const Device device_;
  std::vector<Entry> entries_;
  std::string failure_;
  int64_t runs_ = 0, launches_ = 0;
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_RECORDINGS_H_
