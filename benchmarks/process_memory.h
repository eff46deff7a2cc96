#ifndef FIRN_BENCHMARKS_PROCESS_MEMORY_H_
#define FIRN_BENCHMARKS_PROCESS_MEMORY_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace firn::benchmarks {

// VmRSS (now) or VmHWM (peak) of this process in MiB, counting everything that is resident. 0 where
// the system does not say.
double ResidentMb(const std::string& field);

// VmHWM in MiB of a child that does `work` and nothing else. Requires: this process has not
// computed yet, since the memory that it holds counts. Errors: Unavailable where the system has no
// VmHWM; what `work` returned or threw; Internal for a child that ended otherwise.
absl::StatusOr<double> PeakMbOfChild(absl::FunctionRef<absl::Status()> work);

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_PROCESS_MEMORY_H_
