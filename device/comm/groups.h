#ifndef FIRN_DEVICE_COMM_GROUPS_H_
#define FIRN_DEVICE_COMM_GROUPS_H_

// Communicators by number. Operations on tensors (tensor/ops/collective) name them so, since a
// graph can hold a number. A number is valid within one process; only 0, the world, is valid in
// all.

#include <cstdint>

#include "absl/status/statusor.h"
#include "firn/device/comm/communicator.h"

namespace firn::comm {

inline constexpr int64_t kWorld = 0;

// Gives a communicator a number while this lives. Ranks that are threads of one process
// give one each. Thread-safe; calls through the number are not, because a communicator is not.
class Group {
 public:
  // `ranks` must live longer.
  explicit Group(Communicator& ranks);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // 1 or more, never used again.
  int64_t number() const { return number_; }

 private:
  const int64_t number_;
};

// Sets group 0 for every thread that is in no WorldScope; null unsets it. `world` must live until
// it is replaced. Thread-safe.
void SetWorld(Communicator* world);
// Unsets the world if it still is this one.
void UnsetWorld(const Communicator& world);

// Makes `world` group 0 on this thread while this lives; the innermost scope counts. `world` must
// live longer.
class WorldScope {
 public:
  explicit WorldScope(Communicator& world);
  ~WorldScope();
  WorldScope(const WorldScope&) = delete;
  WorldScope& operator=(const WorldScope&) = delete;

 private:
  Communicator* const outer_;
};

// The communicator of that number, on this thread. A program that has set no world is the only rank
// of one. NotFound for a number that no Group has now; FailedPrecondition where a launcher of MPI
// has started several processes and this one has set no world, since each process would compute
// alone.
absl::StatusOr<Communicator*> FindGroup(int64_t group);

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_GROUPS_H_
