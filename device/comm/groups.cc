// A table of communicators for the process. Lookups try the thread's own world first.

#include "firn/device/comm/groups.h"

#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "firn/device/comm/thread_ranks.h"
#include "firn/device/environment.h"
#include "firn/device/launch.h"
#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

struct Table {
  absl::Mutex mutex;
  std::map<int64_t, Communicator*> groups ABSL_GUARDED_BY(mutex);
  int64_t last ABSL_GUARDED_BY(mutex) = 0;
  Communicator* world ABSL_GUARDED_BY(mutex) = nullptr;
};

Table& TheTable() {
  static auto* const table = new Table;  // never destroyed: groups may be global
  return *table;
}

thread_local Communicator* world_here = nullptr;

int64_t Add(Communicator& ranks) {
  Table& t = TheTable();
  const absl::MutexLock lock(&t.mutex);
  t.groups[++t.last] = &ranks;
  return t.last;
}

// The communicator of the only rank there is.
absl::StatusOr<Communicator*> Alone() {
  FIRN_RETURN_IF_ERROR(env::CheckLaunch());
  const env::Launched launched = env::LaunchedAs();
  FIRN_RETURN_IF(launched.size > 1 && !launched.without_mpi,
                 FailedPrecondition("a launcher has started ", launched.size,
                                    " processes, of which this one has set no world of several "
                                    "ranks (comm::SetWorld); each would work alone"));
  thread_local const std::unique_ptr<Communicator> alone = std::move(ThreadRanks(1).front());
  return alone.get();
}

}  // namespace

Group::Group(Communicator& ranks) : number_(Add(ranks)) {}

Group::~Group() {
  Table& t = TheTable();
  const absl::MutexLock lock(&t.mutex);
  t.groups.erase(number_);
}

void SetWorld(Communicator* world) {
  Table& t = TheTable();
  const absl::MutexLock lock(&t.mutex);
  t.world = world;
}

void UnsetWorld(const Communicator& world) {
  Table& t = TheTable();
  const absl::MutexLock lock(&t.mutex);
  if (t.world == &world) t.world = nullptr;
}

WorldScope::WorldScope(Communicator& world) : outer_(world_here) { world_here = &world; }

WorldScope::~WorldScope() { world_here = outer_; }

absl::StatusOr<Communicator*> FindGroup(int64_t group) {
  if (group == kWorld && world_here != nullptr) return world_here;
  Table& t = TheTable();
  Communicator* found = nullptr;
  {
    const absl::MutexLock lock(&t.mutex);
    if (group == kWorld) {
      found = t.world;
    } else if (const auto it = t.groups.find(group); it != t.groups.end()) {
      found = it->second;
    }
  }
  if (found != nullptr) return found;
  FIRN_RETURN_IF(group != kWorld, NotFound("there is no group ", group,
                                           " of ranks in this process now (comm::Group); 0 is "
                                           "the world"));
  return Alone();
}

}  // namespace firn::comm
