// MPI can begin only once in a process, so a second call gets the existing world.

#include "firn/nn/parallel/world.h"

#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/const_init.h"
#include "absl/synchronization/mutex.h"
#include "firn/device/comm/groups.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn {

std::shared_ptr<comm::Communicator> Init(const comm::WorldRanksOptions& options) {
  ABSL_CONST_INIT static absl::Mutex mutex(absl::kConstInit);
  static std::weak_ptr<comm::Communicator> present;
  const absl::MutexLock lock(&mutex);
  std::shared_ptr<comm::Communicator> world = present.lock();
  if (world == nullptr) {
    auto made = comm::WorldRanks(options);
    RaiseIfError(made.status(), "init");
    world = {made->release(), [](comm::Communicator* c) {
               comm::UnsetWorld(*c);
               delete c;
             }};
    comm::SetWorld(world.get());
    present = world;
  }
  return world;
}

std::shared_ptr<comm::Communicator> Init(int /*argc*/, char** /*argv*/,
                                         const comm::WorldRanksOptions& options) {
  return Init(options);
}

}  // namespace firn
