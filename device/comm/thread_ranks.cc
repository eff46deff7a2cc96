// Ranks meet in lanes: one for what all do, and one for each pair of a sender and a receiver. A
// lane has a round for each call that was started and not yet left by all; the last to come has
// every rank's memory in its hands, since nobody leaves before the round is done.

#include "firn/device/comm/thread_ranks.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "firn/device/comm/checked_ranks.h"
#include "firn/device/comm/combine.h"
#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

void Copy(const void* from, void* to, int64_t bytes) {
  if (bytes != 0 && from != to) std::memcpy(to, from, static_cast<size_t>(bytes));
}

void* Part(void* data, int64_t i, int64_t bytes) { return static_cast<char*>(data) + i * bytes; }

// All ranks' calls, in the order of their ranks; for a message, the sender's and the receiver's.
using Calls = std::vector<Collective>;

void Reduce(const Calls& calls, const Collective& to, int64_t from) {
  const int64_t skip = from * BytesOf(to.element);
  std::vector<const void*> parts;
  for (const Collective& c : calls) parts.push_back(static_cast<const char*>(c.in) + skip);
  Combine(to.element, to.reduction, parts, to.count, to.out);
}

// Memory of different ranks does not overlap; `in` and `out` of one rank may.
void Work(const Calls& calls) {
  const Collective& first = calls[0];
  const int64_t bytes = first.count * BytesOf(first.element);
  if (first.count == 0) return;
  switch (first.kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kRecv:
      return;
    case CollectiveKind::kSend:
      return Copy(first.in, calls[1].out, bytes);
    case CollectiveKind::kBroadcast:
      for (const Collective& c : calls) Copy(calls[static_cast<size_t>(c.root)].in, c.out, bytes);
      return;
    case CollectiveKind::kReduce:
      return Reduce(calls, calls[static_cast<size_t>(first.root)], 0);
    case CollectiveKind::kAllReduce:
      Reduce(calls, first, 0);
      for (const Collective& c : calls) Copy(first.out, c.out, bytes);
      return;
    case CollectiveKind::kAllGather:
      for (size_t i = 0; i < calls.size(); ++i) {
        for (const Collective& c : calls) {
          Copy(calls[i].in, Part(c.out, static_cast<int64_t>(i), bytes), bytes);
        }
      }
      return;
    case CollectiveKind::kReduceScatter:
      for (size_t i = 0; i < calls.size(); ++i) {
        Reduce(calls, calls[i], static_cast<int64_t>(i) * first.count);
      }
      return;
  }
}

// One call of all members of a lane.
struct Round {
  std::vector<std::optional<Collective>> calls;  // by member
  size_t came = 0, left = 0;
  bool done = false;
};

struct Lane {
  std::vector<int> ranks;  // of the members, in their order
  std::deque<Round> rounds;
  uint64_t first = 0;          // the number of rounds[0]
  std::vector<uint64_t> next;  // each member's next round
  Round& round(uint64_t number) { return rounds[number - first]; }
};

class Group : public std::enable_shared_from_this<Group> {
 public:
  Group(int size, const ThreadRanksOptions& options)
      : size_(size), options_(options), here_(static_cast<size_t>(size), true) {}

  std::unique_ptr<Communicator> Rank(int rank);

  // Returns the number of the round. The last rank to come does the round's work before this
  // returns.
  absl::StatusOr<uint64_t> Come(const Collective& call, int rank) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Wait(const Collective& call, int rank, uint64_t number) ABSL_LOCKS_EXCLUDED(mutex_);
  // This group's calls, and those of the groups that were made of it.
  void Fail(const absl::Status& why) ABSL_LOCKS_EXCLUDED(mutex_) {
    std::vector<std::shared_ptr<Group>> parts;
    {
      const absl::MutexLock lock(&mutex_);
      FailLocked(why);
      for (const auto& [key, part] : parts_) parts.push_back(part);
    }
    for (const auto& part : parts) part->Fail(why);
  }
  absl::Status failed() ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    return failed_;
  }
  void Leave(int rank) ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    here_[static_cast<size_t>(rank)] = false;
  }
  // The group of the ranks that gave `color` in this one's split number `split`: made by the first.
  std::shared_ptr<Group> Part(uint64_t split, int color, int size) ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::MutexLock lock(&mutex_);
    std::shared_ptr<Group>& part = parts_[{split, color}];
    if (part == nullptr) part = std::make_shared<Group>(size, options_);
    if (!failed_.ok()) part->Fail(failed_);
    return part;
  }
  int size() const { return size_; }
  absl::Duration timeout() const { return options_.timeout; }

 private:
  using LaneKey = std::pair<int, int>;  // sender and receiver; -1 for what all do

  static LaneKey KeyOf(const Collective& call, int rank) {
    if (call.kind == CollectiveKind::kSend) return {rank, call.root};
    if (call.kind == CollectiveKind::kRecv) return {call.root, rank};
    return {-1, -1};
  }
  Lane& LaneOf(const LaneKey& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FailLocked(const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (failed_.ok()) failed_ = why;
  }
  // The reason why the round can never be done; OK while it can.
  absl::Status Lost(const Lane& lane, const Round& round) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int size_;
  const ThreadRanksOptions options_;
  absl::Mutex mutex_;
  absl::Status failed_ ABSL_GUARDED_BY(mutex_);
  std::vector<bool> here_ ABSL_GUARDED_BY(mutex_);  // ranks whose communicators are there
  int working_ ABSL_GUARDED_BY(mutex_) = 0;         // ranks that move data just now
  std::map<LaneKey, Lane> lanes_ ABSL_GUARDED_BY(mutex_);
  std::map<std::pair<uint64_t, int>, std::shared_ptr<Group>> parts_ ABSL_GUARDED_BY(mutex_);
};

Lane& Group::LaneOf(const LaneKey& key) {
  Lane& lane = lanes_[key];
  if (!lane.next.empty()) return lane;
  lane.ranks.clear();  // left over where memory ran out below
  if (key.first >= 0) {
    lane.ranks = {key.first, key.second};
  } else {
    for (int i = 0; i < size_; ++i) lane.ranks.push_back(i);
  }
  lane.next.assign(lane.ranks.size(), 0);
  return lane;
}

size_t MemberOf(const Lane& lane, int rank) {
  return static_cast<size_t>(std::find(lane.ranks.begin(), lane.ranks.end(), rank) -
                             lane.ranks.begin());
}

absl::StatusOr<uint64_t> Group::Come(const Collective& call, int rank) {
  Calls calls;
  {
    const absl::MutexLock lock(&mutex_);
    FIRN_RETURN_IF_ERROR(failed_);
    Lane& lane = LaneOf(KeyOf(call, rank));
    const size_t member = MemberOf(lane, rank);
    const uint64_t number = lane.next[member];
    calls.reserve(lane.ranks.size());  // before anything has changed
    if (number == lane.first + lane.rounds.size()) {
      lane.rounds.push_back({.calls = std::vector<std::optional<Collective>>(lane.ranks.size())});
    }
    Round& round = lane.round(number);
    for (size_t i = 0; i < round.calls.size(); ++i) {
      if (!round.calls[i] || Fit(*round.calls[i], call)) continue;
      FailLocked(FailedPrecondition("call ", number, ": rank ", lane.ranks[i], " called ",
                                    round.calls[i]->ToString(), ", rank ", rank, " ",
                                    call.ToString()));
      return failed_;
    }
    round.calls[member] = call;
    ++lane.next[member];
    if (++round.came < lane.ranks.size()) return number;
    for (const auto& c : round.calls) calls.push_back(*c);
    ++working_;
  }
  try {
    Work(calls);
  } catch (const std::exception& e) {
    const absl::MutexLock lock(&mutex_);
    --working_;
    FailLocked(absl::AbortedError(
        absl::StrCat("rank ", rank, " gave up: ", call.ToString(), ": ", e.what())));
    throw;
  }
  const absl::MutexLock lock(&mutex_);
  --working_;
  Lane& lane = LaneOf(KeyOf(call, rank));
  const uint64_t number = lane.next[MemberOf(lane, rank)] - 1;
  lane.round(number).done = true;
  return number;
}

absl::Status Group::Lost(const Lane& lane, const Round& round) const {
  FIRN_RETURN_IF_ERROR(failed_);
  for (size_t i = 0; i < lane.ranks.size(); ++i) {
    if (!round.calls[i] && !here_[static_cast<size_t>(lane.ranks[i])]) {
      return Unavailable("rank ", lane.ranks[i], " is gone");
    }
  }
  return absl::OkStatus();
}

absl::Status Group::Wait(const Collective& call, int rank, uint64_t number) {
  const absl::MutexLock lock(&mutex_);
  Lane& lane = LaneOf(KeyOf(call, rank));
  Round& round = lane.round(number);
  // Other ranks may still move this rank's memory after something failed.
  const auto over = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return round.done || (working_ == 0 && !Lost(lane, round).ok());
  };
  const bool in_time = mutex_.AwaitWithTimeout(absl::Condition(&over), options_.timeout);
  // All ranks have come, and the last one is moving this rank's memory, or has failed to.
  if (!in_time && round.came == lane.ranks.size()) mutex_.Await(absl::Condition(&over));
  if (!in_time && !round.done) {
    std::vector<int> missing;
    for (size_t i = 0; i < lane.ranks.size(); ++i) {
      if (!round.calls[i]) missing.push_back(lane.ranks[i]);
    }
    FailLocked(absl::DeadlineExceededError(absl::StrCat(
        call.ToString(), " on rank ", rank, " waited ", absl::FormatDuration(options_.timeout),
        " for rank ", absl::StrJoin(missing, ", "))));
  }
  if (!round.done) {
    FailLocked(Lost(lane, round));
    return failed_;
  }
  ++round.left;
  while (!lane.rounds.empty() && lane.rounds.front().left == lane.ranks.size()) {
    lane.rounds.pop_front();
    ++lane.first;
  }
  return absl::OkStatus();
}

class ThreadPending : public Pending {
 public:
  ThreadPending(std::shared_ptr<Group> group, const Collective& call, int rank, uint64_t number)
      : group_(std::move(group)), call_(call), rank_(rank), number_(number) {}
  ~ThreadPending() override { Wait().IgnoreError(); }
  absl::Status Wait() override {
    if (!result_) result_ = group_->Wait(call_, rank_, number_);
    return *result_;
  }

 private:
  const std::shared_ptr<Group> group_;
  const Collective call_;
  const int rank_;
  const uint64_t number_;
  std::optional<absl::Status> result_;
};

class ThreadRank : public Communicator {
 public:
  ThreadRank(std::shared_ptr<Group> group, int rank)
      : Communicator(rank, group->size(), rank), group_(std::move(group)) {}
  ~ThreadRank() override { group_->Leave(rank()); }
  absl::Duration timeout() const override { return group_->timeout(); }

  absl::StatusOr<std::unique_ptr<Communicator>> Split(int color, int key) override {
    const int64_t mine[2] = {color, key};
    std::vector<int64_t> all(2 * static_cast<size_t>(size()));
    FIRN_RETURN_IF_ERROR(AllGather(mine, all.data(), 2, Element::kI64));
    const uint64_t split = splits_++;
    if (color < 0) return std::unique_ptr<Communicator>();
    std::vector<std::pair<int64_t, int>> ranks;  // by their keys
    for (int i = 0; i < size(); ++i) {
      const size_t at = 2 * static_cast<size_t>(i);
      if (all[at] == color) ranks.emplace_back(all[at + 1], i);
    }
    std::sort(ranks.begin(), ranks.end());
    const auto place = std::find(ranks.begin(), ranks.end(), std::pair<int64_t, int>(key, rank()));
    return group_->Part(split, color, static_cast<int>(ranks.size()))
        ->Rank(static_cast<int>(place - ranks.begin()));
  }

  void Abort(std::string_view why) override {
    group_->Fail(absl::AbortedError(absl::StrCat("rank ", rank(), " gave up: ", std::string(why))));
  }
  std::function<absl::Status()> Failures() const override {
    return [group = group_] { return group->failed(); };
  }

 private:
  absl::StatusOr<std::unique_ptr<Pending>> StartChecked(const Collective& call) override {
    FIRN_ASSIGN_OR_RETURN(const uint64_t number, group_->Come(call, rank()));
    return std::make_unique<ThreadPending>(group_, call, rank(), number);
  }

  const std::shared_ptr<Group> group_;
  uint64_t splits_ = 0;
};

std::unique_ptr<Communicator> Group::Rank(int rank) {
  return std::make_unique<ThreadRank>(shared_from_this(), rank);
}

}  // namespace

std::vector<std::unique_ptr<Communicator>> ThreadRanks(int size,
                                                       const ThreadRanksOptions& options) {
  const auto group = std::make_shared<Group>(size, options);
  std::vector<std::unique_ptr<Communicator>> ranks;
  for (int i = 0; i < size; ++i) ranks.push_back(CheckedIfAsked(group->Rank(i)));
  return ranks;
}

}  // namespace firn::comm
