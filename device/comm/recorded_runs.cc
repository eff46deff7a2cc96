// Places are numbered within the process, so two graphs of one rank never have the same.

#include "firn/device/comm/recorded_runs.h"

#include <atomic>

namespace firn::comm {
namespace {

std::atomic<int64_t> places = 0;

}  // namespace

RunPlace::RunPlace() : number_(places.fetch_add(1, std::memory_order_relaxed) + 1) {}

RecordedRuns* RecordedRunsOf(Communicator& ranks) { return dynamic_cast<RecordedRuns*>(&ranks); }

}  // namespace firn::comm
