#ifndef FIRN_BENCHMARKS_WORKER_LOOP_H_
#define FIRN_BENCHMARKS_WORKER_LOOP_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "benchmarks/json_line.h"

namespace firn::benchmarks {

// The loop of a worker of compare.py or op_compare.py (peers/README.md): reads a command from each
// line and writes the answer, a JSON object; for an error, or a firn::Error that was thrown,
// {"error": "..."}. Ends at the command "quit" or at the end of the input.
void AnswerCommands(absl::FunctionRef<absl::StatusOr<std::string>(const JsonLine&)> answer);

// In milliseconds: by the clock, or the processor time of the process.
double NowMs(bool cpu);

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_WORKER_LOOP_H_
