#ifndef FIRN_DEVICE_COMM_AGREEMENT_H_
#define FIRN_DEVICE_COMM_AGREEMENT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "firn/device/comm/communicator.h"

namespace firn::comm {

// OK if all ranks give the same lines. Otherwise every rank gets the same FailedPrecondition, which
// shows the first line in which rank 0 and the first rank unlike it differ, from both. All ranks
// call it. Each rank sends 24 bytes, and more only where the lines differ. Also the communicator's
// errors.
absl::Status CheckAgreement(Communicator& comm, const std::vector<std::string>& lines);

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_AGREEMENT_H_
