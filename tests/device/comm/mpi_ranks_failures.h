#ifndef FIRN_TESTS_DEVICE_COMM_MPI_RANKS_FAILURES_H_
#define FIRN_TESTS_DEVICE_COMM_MPI_RANKS_FAILURES_H_

// What processes of mpi_ranks_check say, and those of them that fail.

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

// unlike, stopped, exception, abort, late, late_split, alone, differ or differ_in_part; others end
// as abort does where nobody gives up. What the process is to return.
int Fail(std::unique_ptr<Communicator>& ranks, std::string_view what);
// Whether ranks are to wait for a second only.
bool IsBriefFailure(std::string_view what);

}  // namespace firn::comm

#endif  // FIRN_TESTS_DEVICE_COMM_MPI_RANKS_FAILURES_H_
