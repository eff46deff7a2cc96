#ifndef FIRN_NN_PARALLEL_AGREEMENT_H_
#define FIRN_NN_PARALLEL_AGREEMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "firn/device/comm/communicator.h"

namespace firn::nn::parallel {

// Throws firn::Error in the name of `who` unless all ranks give the same lines: on every rank the
// same error, FailedPrecondition with the first line in which rank 0 and the first rank unlike it
// differ, from both. All ranks call it. What travels is 24 bytes of each, and more only where they
// differ. Also throws what the communicator has for an error.
void CheckAgreement(comm::Communicator& comm, const std::vector<std::string>& lines,
                    std::string_view who);

}  // namespace firn::nn::parallel

#endif  // FIRN_NN_PARALLEL_AGREEMENT_H_
