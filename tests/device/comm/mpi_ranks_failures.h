#ifndef FIRN_TESTS_DEVICE_COMM_MPI_RANKS_FAILURES_H_
#define FIRN_TESTS_DEVICE_COMM_MPI_RANKS_FAILURES_H_

// How processes of mpi_ranks_check print results, and what those do that fail.

#include <memory>
#include <string>
#include <string_view>

#include "firn/device/comm/communicator.h"

namespace firn::comm {

// Prints "rank R of N: text".
void Say(const Communicator& c, const std::string& text);

// Returns when all ranks have called it, or 30 s later. The launcher ends all when one has ended,
// and a communicator that has failed tells nothing: files do.
void EndTogether();

// unlike, stopped, exception, abort, late, late_split, alone, differ or differ_in_part; with any
// other text the rank ends without giving up. Returns the exit status of the process.
int Fail(std::unique_ptr<Communicator>& ranks, std::string_view what);
// Whether ranks are to wait for a second only.
bool IsBriefFailure(std::string_view what);

}  // namespace firn::comm

#endif  // FIRN_TESTS_DEVICE_COMM_MPI_RANKS_FAILURES_H_
