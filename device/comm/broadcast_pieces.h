#ifndef FIRN_DEVICE_COMM_BROADCAST_PIECES_H_
#define FIRN_DEVICE_COMM_BROADCAST_PIECES_H_

// Broadcasts of elements whose number comes from another rank.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "firn/device/comm/communicator.h"
#include "firn/device/status_macros.h"

namespace firn::comm {

// Gives all ranks the `count` elements that the root has in `all`, a string or vector. The others
// take memory as elements come, so that with a wrong count they take no more memory than was sent.
template <class Elements>
absl::Status BroadcastPieces(Communicator& comm, Elements& all, int64_t count, Element element,
                             int root) {
  constexpr int64_t kMostBytes = int64_t{1} << 20;
  const int64_t most = kMostBytes / BytesOf(element);
  for (int64_t begin = 0; begin < count; begin += most) {
    const int64_t piece = std::min(most, count - begin);
    if (comm.rank() != root) all.resize(static_cast<size_t>(begin + piece));
    FIRN_RETURN_IF_ERROR(comm.Broadcast(all.data() + begin, piece, element, root));
  }
  return absl::OkStatus();
}

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_BROADCAST_PIECES_H_
