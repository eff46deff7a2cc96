#include "tests/fuzz/ranks/strange_ranks.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "tests/device/comm/on_ranks.h"
#include "tests/fuzz/reader.h"

namespace firn::testing {
namespace {

using comm::Collective;
using comm::CollectiveKind;
using comm::Communicator;
using comm::Pending;

// Where others' elements arrive.
struct Place {
  char* data;
  size_t bytes;
};

std::vector<Place> PlacesOf(const Collective& c, int rank, int size) {
  auto* const out = static_cast<char*>(c.out);
  const auto bytes = static_cast<size_t>(c.count * BytesOf(c.element));
  switch (c.kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kSend:
      return {};
    case CollectiveKind::kBroadcast:
      if (rank == c.root) return {};
      break;
    case CollectiveKind::kReduce:
      if (rank != c.root) return {};
      break;
    case CollectiveKind::kAllGather: {
      std::vector<Place> places;
      for (int r = 0; r < size; ++r) {
        if (r != rank) places.push_back({out + static_cast<size_t>(r) * bytes, bytes});
      }
      return places;
    }
    default:
      break;
  }
  return {{out, bytes}};
}

class Done : public Pending {
 public:
  absl::Status Wait() override { return absl::OkStatus(); }
};

class Strange : public Communicator {
 public:
  Strange(int rank, int size, std::shared_ptr<std::string_view> left)
      : Communicator(rank, size, rank), left_(std::move(left)) {}

  // MPI knows the parts; they go on with the same bytes.
  absl::StatusOr<std::unique_ptr<Communicator>> Split(int color, int) override {
    if (color < 0) return std::unique_ptr<Communicator>();
    return std::make_unique<Strange>(rank(), size(), left_);
  }
  void Abort(std::string_view) override { *left_ = {}; }

 private:
  absl::StatusOr<std::unique_ptr<Pending>> StartChecked(const Collective& call) override {
    constexpr size_t kMostAhead = size_t{4} << 20;
    const size_t element = static_cast<size_t>(BytesOf(call.element));
    if (call.kind == CollectiveKind::kAllGather && call.count != 0) {
      const size_t own = static_cast<size_t>(call.count) * element;
      char* const mine = static_cast<char*>(call.out) + static_cast<size_t>(rank()) * own;
      if (mine != call.in) std::memcpy(mine, call.in, own);
    }
    for (const Place& place : PlacesOf(call, rank(), size())) {
      FuzzCheck(place.bytes <= left_->size() + kMostAhead, "memory is taken for what comes");
      FIRN_RETURN_IF(place.bytes > left_->size(), Internal("the others are gone"));
      if (place.bytes != 0) std::memcpy(place.data, left_->data(), place.bytes);
      left_->remove_prefix(place.bytes);
    }
    return std::make_unique<Done>();
  }

  const std::shared_ptr<std::string_view> left_;
};

// The bytes that have come, by call, in the order of the calls' starts.
using Notes = std::vector<std::string>;

class NotedCall : public Pending {
 public:
  NotedCall(std::unique_ptr<Pending> call, std::vector<Place> places, Notes& notes)
      : call_(std::move(call)), places_(std::move(places)), notes_(notes), at_(notes.size()) {
    notes_.emplace_back();
  }
  ~NotedCall() override { Wait().IgnoreError(); }
  absl::Status Wait() override {
    const absl::Status status = call_->Wait();
    for (const Place& place : std::exchange(places_, {})) {
      notes_[at_].append(place.data, place.bytes);
    }
    return status;
  }

 private:
  const std::unique_ptr<Pending> call_;
  std::vector<Place> places_;
  Notes& notes_;
  const size_t at_;
};

class Noting : public Communicator {
 public:
  Noting(std::unique_ptr<Communicator> ranks, Notes& notes)
      : Communicator(ranks->rank(), ranks->size(), ranks->local_rank()),
        ranks_(std::move(ranks)),
        notes_(notes) {}
  absl::StatusOr<std::unique_ptr<Communicator>> Split(int color, int key) override {
    FIRN_ASSIGN_OR_RETURN(std::unique_ptr<Communicator> part, ranks_->Split(color, key));
    if (part == nullptr) return part;
    return std::make_unique<Noting>(std::move(part), notes_);
  }
  void Abort(std::string_view why) override { ranks_->Abort(why); }

 private:
  absl::StatusOr<std::unique_ptr<Pending>> StartChecked(const Collective& call) override {
    FIRN_ASSIGN_OR_RETURN(std::unique_ptr<Pending> started, ranks_->Start(call));
    return std::make_unique<NotedCall>(std::move(started), PlacesOf(call, rank(), size()), notes_);
  }

  const std::unique_ptr<Communicator> ranks_;
  Notes& notes_;
};

}  // namespace

std::unique_ptr<Communicator> StrangeRank(int rank, int size, std::string_view bytes) {
  return std::make_unique<Strange>(rank, size, std::make_shared<std::string_view>(bytes));
}

std::string Received(int rank, int size,
                     const std::function<void(std::unique_ptr<Communicator>)>& body) {
  Notes notes;
  OnThreads(size, {}, [&](std::unique_ptr<Communicator>& ranks) {
    if (ranks->rank() == rank) ranks = std::make_unique<Noting>(std::move(ranks), notes);
    body(std::move(ranks));
  });
  return absl::StrJoin(notes, "");
}

}  // namespace firn::testing
