#ifndef FIRN_TESTS_DEVICE_COMM_FAKE_NCCL_MEETING_H_
#define FIRN_TESTS_DEVICE_COMM_FAKE_NCCL_MEETING_H_

// The part of the stand-in for NCCL in which ranks meet. Ranks meet in lanes: one for calls of all
// ranks, and one for each pair and direction. A rank's elements are copied when its stream comes to
// the call; its results are written when all have come.

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "firn/device/comm/collective.h"
#include "firn/device/comm/combine.h"

namespace firn::comm::fake {

// Guards everything in this file. Code that holds it never takes the device's mutex; the reverse is
// allowed.
inline std::mutex mutex;

struct Arrival {
  Collective call;
  bool recorded;
  std::vector<char> gives;
};
struct Lane {
  std::vector<std::vector<std::optional<Arrival>>> rounds;  // by member
  std::map<size_t, size_t> next;                            // each member's next round
};
struct World {
  int size = 0, came = 0;
  std::map<std::pair<int, int>, Lane> lanes;
  // For each pair and direction, the sides that have ever called: connecting them takes both.
  std::map<std::pair<int, int>, std::set<size_t>> sides = {};
};
struct Comm {
  std::shared_ptr<World> world;
  int rank = 0;
  int device = -1;  // the device of its first stream
  bool in_progress = true, over = false;
  std::vector<std::pair<int, int>> connecting = {};  // by the call that is in progress
};
inline bool IsMessage(const Collective& c) {
  return c.kind == CollectiveKind::kSend || c.kind == CollectiveKind::kRecv;
}

// What a rank reads or writes, in elements.
inline int64_t Given(const Collective& c, int size) {
  return c.kind == CollectiveKind::kReduceScatter ? c.count * size : c.count;
}
inline int64_t Taken(const Collective& c, int size) {
  return c.kind == CollectiveKind::kAllGather ? c.count * size : c.count;
}

struct Meeting {
  std::shared_ptr<Comm> comm;
  std::vector<Collective> calls;
  bool recorded = false;            // into a graph
  std::vector<size_t> rounds = {};  // empty until the stream has come here

  std::pair<int, int> KeyOf(const Collective& c) const {
    if (c.kind == CollectiveKind::kSend) return {comm->rank, c.root};
    if (c.kind == CollectiveKind::kRecv) return {c.root, comm->rank};
    return {-1, -1};
  }
  size_t MemberOf(const Collective& c) const {
    if (IsMessage(c)) return c.kind == CollectiveKind::kSend ? 0 : 1;
    return static_cast<size_t>(comm->rank);
  }

  void Arrive(const Collective& c) {
    Lane& lane = comm->world->lanes[KeyOf(c)];
    const size_t round = lane.next[MemberOf(c)]++;
    const auto members = static_cast<size_t>(IsMessage(c) ? 2 : comm->world->size);
    if (round == lane.rounds.size()) lane.rounds.emplace_back(members);
    Arrival arrival{c, recorded, {}};
    const bool gives = c.kind != CollectiveKind::kRecv &&
                       (c.kind != CollectiveKind::kBroadcast || c.root == comm->rank);
    if (gives) {
      const auto* const from = static_cast<const char*>(c.in);
      arrival.gives.assign(from, from + Given(c, comm->world->size) * BytesOf(c.element));
    }
    lane.rounds[round][MemberOf(c)] = std::move(arrival);
    rounds.push_back(round);
  }

  const std::vector<std::optional<Arrival>>& RoundOf(size_t i) const {
    return comm->world->lanes[KeyOf(calls[i])].rounds[rounds[i]];
  }

  bool Met(size_t i) const {
    for (const auto& arrival : RoundOf(i)) {
      if (!arrival) return false;
      const bool self = IsMessage(calls[i]) && arrival->call.kind == calls[i].kind;
      if (arrival->recorded != recorded) return false;
      if (!self && !Fit(arrival->call, calls[i])) return false;
    }
    return true;
  }

  void Deliver(size_t i) const {
    const Collective& c = calls[i];
    const auto& round = RoundOf(i);
    const int64_t bytes = c.count * BytesOf(c.element);
    auto* const out = static_cast<char*>(c.out);
    if (c.reduces()) {
      if (c.kind == CollectiveKind::kReduce && c.root != comm->rank) return;
      const int64_t begin = c.kind == CollectiveKind::kReduceScatter ? comm->rank * bytes : 0;
      std::vector<const void*> parts;
      for (const auto& arrival : round) parts.push_back(arrival->gives.data() + begin);
      Combine(c.element, c.reduction, parts, c.count, out);
    } else if (c.kind == CollectiveKind::kAllGather) {
      for (size_t r = 0; r < round.size(); ++r) {
        std::memcpy(out + static_cast<int64_t>(r) * bytes, round[r]->gives.data(),
                    static_cast<size_t>(bytes));
      }
    } else if (c.kind == CollectiveKind::kBroadcast) {
      std::memcpy(out, round[static_cast<size_t>(c.root)]->gives.data(),
                  static_cast<size_t>(bytes));
    } else if (c.kind == CollectiveKind::kRecv) {
      std::memcpy(out, round[0]->gives.data(), static_cast<size_t>(bytes));
    }
  }

  bool operator()() {
    const std::lock_guard<std::mutex> lock(mutex);
    if (comm->over) return true;
    if (rounds.empty()) {
      for (const Collective& c : calls) Arrive(c);
    }
    for (size_t i = 0; i < calls.size(); ++i) {
      if (!Met(i)) return false;
    }
    for (size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].count != 0) Deliver(i);
    }
    return true;
  }
};

}  // namespace firn::comm::fake

#endif  // FIRN_TESTS_DEVICE_COMM_FAKE_NCCL_MEETING_H_
