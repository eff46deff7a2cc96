#ifndef FIRN_DEVICE_COMM_SHARED_STATUS_H_
#define FIRN_DEVICE_COMM_SHARED_STATUS_H_

// Exchange of errors and texts about work that each rank does for itself, or one for all.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "firn/device/comm/communicator.h"

namespace firn::comm {

// OK if all ranks give OK. Otherwise on every rank the same: the error of the first rank that has
// one, with "rank 2: " in front. All ranks call it, those whose work failed too. Also the
// communicator's errors.
absl::Status StatusOfAll(Communicator& comm, const absl::Status& own);

// Gives all ranks what the root has, any bytes. All ranks call it. Internal where the root says
// that it has more than 2^20 texts or 2^31 bytes.
absl::Status BroadcastTexts(Communicator& comm, std::vector<std::string>& texts, int root);

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_SHARED_STATUS_H_
