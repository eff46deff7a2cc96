#ifndef FIRN_DEVICE_COMM_COMMUNICATOR_H_
#define FIRN_DEVICE_COMM_COMMUNICATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "firn/device/comm/collective.h"
#include "firn/device/device.h"

namespace firn::comm {

// A call that was started. Its destructor waits for it. Only one thread may use it at a time.
class Pending {
 public:
  virtual ~Pending() = default;
  // Returns when this rank's part is done and the call's memory is the caller's again, or with the
  // error that ended it. DeadlineExceeded, which names the ranks that did not come, after the
  // communicator's timeout. A second call gives the same again.
  virtual absl::Status Wait() = 0;
};

// Several ranks, of which this is one: processes or threads that make the same calls in the same
// order. Sums add the ranks' numbers in the order of the ranks, half types in f32 and rounded once,
// so that all ranks get the same bits.
//
// After an error, or an Abort on any rank, every call on every rank fails with the first error,
// because the ranks' data no longer fits together. Thread-compatible.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  // The rank's number among those of the same machine.
  int local_rank() const { return local_rank_; }
  // The device on which the memory of its calls lies.
  virtual Device device() const { return Device::Cpu(); }
  // How long calls wait for other ranks.
  virtual absl::Duration timeout() const { return absl::Seconds(60); }

  // The communicator of the same ranks for memory of a device, once DeviceRanks (device_ranks.h)
  // has made it; null before.
  std::unique_ptr<Communicator>& on_device() { return on_device_; }

  // Starts a call; several may be on their way, in the same order on all ranks. InvalidArgument for
  // one that makes no sense here (see Check in collective.h); the other ranks are not told.
  absl::StatusOr<std::unique_ptr<Pending>> Start(const Collective& call);
  // The same, and waits.
  absl::Status Run(const Collective& call);

  // Returns when all ranks have called it.
  absl::Status Barrier();
  // The root's elements, on all ranks.
  absl::Status Broadcast(void* data, int64_t count, Element element, int root);
  // The result of all ranks' elements, on the root; other ranks need no `out`.
  absl::Status Reduce(const void* in, void* out, int64_t count, Element element,
                      Reduction reduction, int root);
  // In place; on all ranks the same.
  absl::Status AllReduce(void* data, int64_t count, Element element, Reduction reduction);
  // The elements of all ranks, in their order: `out` has count x size().
  absl::Status AllGather(const void* in, void* out, int64_t count, Element element);
  // The rank's part of what AllReduce gives: `in` has count x size() elements, `out` count.
  absl::Status ReduceScatter(const void* in, void* out, int64_t count, Element element,
                             Reduction reduction);
  absl::Status Send(const void* data, int64_t count, Element element, int to);
  absl::Status Recv(void* data, int64_t count, Element element, int from);

  // The ranks that give the same color, ordered by key, then by their present rank. All ranks call
  // it; null for those with a negative color.
  virtual absl::StatusOr<std::unique_ptr<Communicator>> Split(int color, int key) = 0;

  // Ends all calls on their way, on all ranks, with an error that names this rank and says `why`.
  virtual void Abort(std::string_view why) = 0;

  // A function that returns the error that has ended the calls of these ranks, as far as this rank
  // knows, or OK. It may be called at any time on any thread, does not wait, and may outlive this
  // communicator. Null if this kind of communicator has no such function.
  virtual std::function<absl::Status()> Failures() const { return nullptr; }

 protected:
  Communicator(int rank, int size, int local_rank)
      : rank_(rank), size_(size), local_rank_(local_rank) {}

 private:
  // Starts a call that has passed Check.
  virtual absl::StatusOr<std::unique_ptr<Pending>> StartChecked(const Collective& call) = 0;
  // Starts such a call and waits for it. Data need not move before the wait.
  virtual absl::Status RunChecked(const Collective& call);

  const int rank_, size_, local_rank_;
  std::unique_ptr<Communicator> on_device_;
};

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_COMMUNICATOR_H_
