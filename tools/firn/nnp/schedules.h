#ifndef FIRN_TOOLS_FIRN_NNP_SCHEDULES_H_
#define FIRN_TOOLS_FIRN_NNP_SCHEDULES_H_

#include <cstdint>
#include <functional>
#include <string>

#include "firn/io/nnabla_model/nnabla_model.h"

namespace firn::cli {

// The learning rate of an iteration, counted from 0, for a solver whose first rate is `lr`. Throws
// firn::Error, InvalidArgument, naming the field, for numbers that make no sense and for unknown
// schedulers, including Custom, of which NNabla has only the name.
std::function<double(int64_t iteration)> ScheduleOf(const io::nnabla::Solver& solver,
                                                    const std::string& at, double lr);

// The solver with the schedule for each of `processes`, which makes only its share of the
// iterations.
io::nnabla::Solver ScheduledForEach(io::nnabla::Solver solver, int64_t processes);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_NNP_SCHEDULES_H_
