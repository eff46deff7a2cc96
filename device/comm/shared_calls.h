#ifndef FIRN_DEVICE_COMM_SHARED_CALLS_H_
#define FIRN_DEVICE_COMM_SHARED_CALLS_H_

// Collective calls of ranks that see the same memory.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/device/comm/collective.h"
#include "firn/device/comm/shared_memory.h"

namespace firn::comm {

// The calls of one rank in their order, which is the same on all ranks. Nothing here waits: a
// caller that waits calls Advance() until its call is done. Only a rank's own Advance() touches the
// rank's own memory, so the memory is free as soon as nobody calls that. Thread-compatible.
class SharedCalls {
 public:
  // Bytes of the memory of `size` ranks.
  static int64_t BytesFor(int size);
  // Whether a call goes through shared memory, which calls that move elements of all ranks, or of
  // one to all, do.
  static bool Takes(const Collective& call);

  // Requires: `memory` has BytesFor(size) bytes, and is new.
  SharedCalls(std::shared_ptr<SharedMemory> memory, int rank, int size);

  // The number of the call. Requires: Takes(call).
  uint64_t Start(const Collective& call);
  bool IsDone(uint64_t number) const { return number < first_; }
  // Does the work that other ranks have made possible, for a few milliseconds at most, and returns
  // whether there was any. FailedPrecondition where ranks have made calls that do not fit together.
  absl::StatusOr<bool> Advance();

 private:
  struct RankState;
  struct Range {
    int64_t begin, count;  // elements
  };

  RankState& state(int rank) const;
  // Part `part` of what a rank has at a place; the last part is its results'.
  std::byte* PartAt(int rank, uint64_t place, int part) const;
  std::byte* Input(int from, int to, uint64_t round) const;
  std::byte* Result(int of, uint64_t round) const;
  // Gives `round` a place whose round is among the first `read` ones.
  uint8_t FreePlace(std::vector<uint64_t>& until, uint64_t round, uint64_t read) const;
  uint64_t RoundOf(int64_t i) const { return base_ + static_cast<uint64_t>(i); }
  // The smallest of all ranks' counters of one kind.
  template <class Counter>
  uint64_t Least(Counter RankState::*counter) const;
  // What rank `owner` gathers or sums in the call's round `i`.
  Range Of(int owner, int64_t i) const;
  int64_t MostOfARound() const;
  void Begin();
  void Put(int64_t i);
  absl::Status CheckFit() const;
  void Combine(int64_t i);
  void CombineAll();
  void Take(int64_t i);
  // Each does its step of the next round if that is possible, and returns whether it was.
  bool TakeNext();
  absl::StatusOr<bool> CombineNext();
  bool PutNext();
  absl::StatusOr<bool> Step();

  const std::shared_ptr<SharedMemory> memory_;
  const int rank_, size_;
  const int64_t part_bytes_;      // what a rank puts for one other in a round
  const uint64_t depth_;          // rounds that memory is there for
  std::deque<Collective> calls_;  // the first is on its way
  uint64_t first_ = 0;            // its number
  uint64_t base_ = 0;             // the number of its first round
  int64_t rounds_ = 0, put_ = 0, combined_ = 0, taken_ = 0;  // of the first call
  bool no_owners_ = false;                                   // of the first call
  uint64_t places_ = 1;                                      // that it uses in step
  std::vector<const void*> parts_;
  std::vector<uint64_t> put_until_, shown_until_;  // by place: one more than its last round
};

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_SHARED_CALLS_H_
