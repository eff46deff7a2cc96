// A call is done in rounds, each of as many elements as stay in a cache, and each element has an
// owner among the ranks. In a round every rank
//
//   1. puts its elements of other owners into their places in shared memory,
//   2. combines the elements that it owns, those of its own memory and those that others have put,
//      in the order of the ranks, and shows the result,
//   3. takes the results of the other owners.
//
// Counters say how many rounds a rank has finished of each step. The memory holds a number of
// rounds, its depth: a rank puts round i when all have combined round i - depth, and combines it
// when all have taken that one. Only a rank itself writes the places of what it owns or shows. It
// takes a place that nobody reads any more, and notes its number: ranks that keep step use only as
// many places as stay in a cache, ranks that others leave behind use all.
//
// Small all-reduces have no owners, since the ranks would have to meet twice: each rank puts all
// its elements, and combines those of all ranks for itself.

#include "firn/device/comm/shared_calls.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/comm/combine.h"
#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

// Bytes of a rank in one round without results: they are copied and combined while they are in a
// second-level cache.
constexpr int64_t kBytesOfARound = int64_t{256} << 10;
constexpr int64_t kLeastPart = int64_t{4} << 10;
// There are as many rounds as fit, up to kMostDepth: with few of them ranks wait for one another
// often, and a rank whose core others use waits long each time.
constexpr int64_t kBytesOfAll = int64_t{32} << 20;
constexpr int64_t kMostDepth = 32;
constexpr int64_t kLine = 64;
// Bytes of the places that are used while ranks keep step.
constexpr int64_t kBytesInUse = int64_t{256} << 10;
// Bytes of all ranks up to which an all-reduce has no owners; at most a part of a round.
constexpr int64_t kBytesWithoutOwners = kLeastPart;
// Steps of Advance(), each of some 30 microseconds.
constexpr int kMostSteps = 64;

static_assert(std::atomic<uint64_t>::is_always_lock_free);  // also between processes

int64_t PartBytes(int size) { return std::max(kBytesOfARound / size / kLine * kLine, kLeastPart); }
// The inputs and the result of all ranks.
int64_t BytesOfRound(int size) { return int64_t{size} * (size + 1) * PartBytes(size); }
int64_t Depth(int size) {
  return std::clamp(kBytesOfAll / BytesOfRound(size), int64_t{2}, kMostDepth);
}

const std::byte* At(const void* data, int64_t bytes) {
  return static_cast<const std::byte*>(data) + bytes;
}
std::byte* At(void* data, int64_t bytes) { return static_cast<std::byte*>(data) + bytes; }

void Copy(const void* from, void* to, int64_t bytes) {
  if (bytes != 0 && from != to) std::memcpy(to, from, static_cast<size_t>(bytes));
}

bool HasNoOwners(const Collective& c, int size) {
  return c.kind == CollectiveKind::kAllReduce &&
         c.count <= kBytesWithoutOwners / size / BytesOf(c.element);
}

bool IsWhole(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduce;
}

// What others need to know of a call.
struct Told {
  int64_t count;
  int32_t root;
  CollectiveKind kind;
  Element element;
  Reduction reduction;
};

}  // namespace

// The first bytes are those of SharedMemory.
struct alignas(2 * kLine) SharedCalls::RankState {
  int64_t key;
  std::atomic<uint64_t> put, combined, taken;  // rounds
  // By the call's number, for two calls: a rank that is one call ahead cannot have finished that
  // one.
  Told calls[2];
  // By round: where its elements are, and where its result. Written before the counter is.
  uint8_t put_at[kMostDepth], shown_at[kMostDepth];
};

int64_t SharedCalls::BytesFor(int size) {
  const int64_t states = int64_t{sizeof(RankState)} * size;
  return states + Depth(size) * BytesOfRound(size);
}

bool SharedCalls::Takes(const Collective& call) {
  return call.count > 0 && (call.reduces() || call.kind == CollectiveKind::kBroadcast ||
                            call.kind == CollectiveKind::kAllGather);
}

SharedCalls::SharedCalls(std::shared_ptr<SharedMemory> memory, int rank, int size)
    : memory_(std::move(memory)),
      rank_(rank),
      size_(size),
      part_bytes_(PartBytes(size)),
      depth_(static_cast<uint64_t>(Depth(size))),
      parts_(static_cast<size_t>(size)),
      put_until_(depth_),
      shown_until_(depth_) {}

// Zeros are an object's beginning here.
SharedCalls::RankState& SharedCalls::state(int rank) const {
  return reinterpret_cast<RankState*>(memory_->data())[rank];
}

std::byte* SharedCalls::PartAt(int rank, uint64_t place, int part) const {
  const int64_t row = static_cast<int64_t>(place) * size_ + rank;
  return At(&state(size_), (row * (size_ + 1) + part) * part_bytes_);
}

// Other ranks' notes are not trusted.
std::byte* SharedCalls::Input(int from, int to, uint64_t round) const {
  return PartAt(from, state(from).put_at[round % depth_] % depth_, to);
}

std::byte* SharedCalls::Result(int of, uint64_t round) const {
  return PartAt(of, state(of).shown_at[round % depth_] % depth_, size_);
}

uint8_t SharedCalls::FreePlace(std::vector<uint64_t>& until, uint64_t round, uint64_t read) const {
  uint64_t place = round % places_;
  while (until[place] > read) place = (place + 1) % depth_;  // all have read some round
  until[place] = round + 1;
  return static_cast<uint8_t>(place);
}

template <class Counter>
uint64_t SharedCalls::Least(Counter RankState::*counter) const {
  uint64_t least = (state(0).*counter).load(std::memory_order_acquire);
  for (int r = 1; r < size_; ++r) {
    least = std::min(least, (state(r).*counter).load(std::memory_order_acquire));
  }
  return least;
}

int64_t SharedCalls::MostOfARound() const {
  const Collective& c = calls_.front();
  return part_bytes_ / BytesOf(c.element) * (IsWhole(c.kind) ? size_ : 1);
}

SharedCalls::Range SharedCalls::Of(int owner, int64_t i) const {
  const Collective& c = calls_.front();
  const int64_t begin = i * MostOfARound(), count = std::min(MostOfARound(), c.count - begin);
  if (!IsWhole(c.kind)) return {begin, count};
  // Owners get whole cache lines, so that no two write the same one.
  const int64_t line = kLine / BytesOf(c.element);
  const int64_t part = ((count + size_ - 1) / size_ + line - 1) / line * line;
  const int64_t from = std::min(owner * part, count);
  return {begin + from, std::min(part, count - from)};
}

uint64_t SharedCalls::Start(const Collective& call) {
  calls_.push_back(call);
  if (calls_.size() == 1) Begin();
  return first_ + calls_.size() - 1;
}

void SharedCalls::Begin() {
  const Collective& c = calls_.front();
  put_ = combined_ = taken_ = 0;
  rounds_ = (c.count + MostOfARound() - 1) / MostOfARound();
  no_owners_ = HasNoOwners(c, size_);
  const int64_t bytes = std::min(c.count, MostOfARound()) * BytesOf(c.element);
  places_ = std::clamp(static_cast<uint64_t>(kBytesInUse / bytes), uint64_t{1}, depth_);
  state(rank_).calls[first_ % 2] = {c.count, c.root, c.kind, c.element, c.reduction};
}

void SharedCalls::Put(int64_t i) {
  const Collective& c = calls_.front();
  const int64_t size = BytesOf(c.element);
  if (no_owners_) return Copy(c.in, Input(rank_, 0, base_), c.count * size);
  for (int owner = 0; c.reduces() && owner < size_; ++owner) {
    if (owner == rank_) continue;
    const Range range = Of(owner, i);
    const int64_t skip = c.kind == CollectiveKind::kReduceScatter ? owner * c.count : 0;
    Copy(At(c.in, (skip + range.begin) * size), Input(rank_, owner, RoundOf(i)),
         range.count * size);
  }
}

absl::Status SharedCalls::CheckFit() const {
  const Collective& mine = calls_.front();
  for (int r = 0; r < size_; ++r) {
    const Told told = state(r).calls[first_ % 2];  // which may be anything
    const Collective other = {.kind = told.kind,
                              .element = told.element,
                              .reduction = told.reduction,
                              .root = told.root,
                              .count = told.count};
    FIRN_RETURN_IF(!Fit(mine, other),
                   FailedPrecondition("rank ", rank_, " called ", mine.ToString(), ", rank ", r,
                                      " ", other.ToString()));
  }
  return absl::OkStatus();
}

void SharedCalls::CombineAll() {
  const Collective& c = calls_.front();
  for (int r = 0; r < size_; ++r) {
    parts_[static_cast<size_t>(r)] = r == rank_ ? c.in : Input(r, 0, base_);
  }
  comm::Combine(c.element, c.reduction, parts_, c.count, c.out);
}

void SharedCalls::Combine(int64_t i) {
  const Collective& c = calls_.front();
  const uint64_t round = RoundOf(i);
  const int64_t size = BytesOf(c.element);
  const Range range = Of(rank_, i);
  std::byte* const result = Result(rank_, round);
  const int64_t skip = range.begin * size, bytes = range.count * size;
  if (!c.reduces()) {
    if (c.kind == CollectiveKind::kBroadcast && rank_ != c.root) return;
    const int64_t place = c.kind == CollectiveKind::kAllGather ? rank_ * c.count * size : 0;
    Copy(At(c.in, skip), result, bytes);
    Copy(At(c.in, skip), At(c.out, place + skip), bytes);
    return;
  }
  const bool scatters = c.kind == CollectiveKind::kReduceScatter;
  for (int r = 0; r < size_; ++r) {
    parts_[static_cast<size_t>(r)] = r == rank_
                                         ? At(c.in, (scatters ? rank_ * c.count * size : 0) + skip)
                                         : Input(r, rank_, round);
  }
  comm::Combine(c.element, c.reduction, parts_, range.count, scatters ? At(c.out, skip) : result);
  if (c.kind == CollectiveKind::kAllReduce ||
      (c.kind == CollectiveKind::kReduce && rank_ == c.root)) {
    Copy(result, At(c.out, skip), bytes);
  }
}

void SharedCalls::Take(int64_t i) {
  const Collective& c = calls_.front();
  const int64_t size = BytesOf(c.element);
  if (c.kind == CollectiveKind::kReduceScatter) return;
  if (c.kind == CollectiveKind::kReduce && rank_ != c.root) return;
  for (int owner = 0; owner < size_; ++owner) {
    if (owner == rank_ || (c.kind == CollectiveKind::kBroadcast && owner != c.root)) continue;
    const Range range = Of(owner, i);
    const int64_t skip = c.kind == CollectiveKind::kAllGather ? owner * c.count : 0;
    Copy(Result(owner, RoundOf(i)), At(c.out, (skip + range.begin) * size), range.count * size);
  }
}

bool SharedCalls::TakeNext() {
  if (taken_ == combined_ || RoundOf(taken_) >= Least(&RankState::combined)) return false;
  Take(taken_++);
  state(rank_).taken.store(RoundOf(taken_), std::memory_order_release);
  return true;
}

absl::StatusOr<bool> SharedCalls::CombineNext() {
  const uint64_t round = RoundOf(combined_);
  if (combined_ == put_ || round >= Least(&RankState::put)) return false;
  RankState& mine = state(rank_);
  if (no_owners_) {
    FIRN_RETURN_IF_ERROR(CheckFit());
    CombineAll();
    combined_ = taken_ = 1;
    mine.taken.store(round + 1, std::memory_order_release);
  } else {
    const uint64_t taken = Least(&RankState::taken);
    if (round >= taken + depth_) return false;
    if (combined_ == 0) FIRN_RETURN_IF_ERROR(CheckFit());
    mine.shown_at[round % depth_] = FreePlace(shown_until_, round, taken);
    Combine(combined_++);
  }
  mine.combined.store(round + 1, std::memory_order_release);
  return true;
}

bool SharedCalls::PutNext() {
  if (put_ == rounds_) return false;  // without a look at what other ranks write
  const uint64_t round = RoundOf(put_), combined = Least(&RankState::combined);
  if (round >= combined + depth_) return false;
  RankState& mine = state(rank_);
  mine.put_at[round % depth_] = FreePlace(put_until_, round, combined);
  Put(put_++);
  mine.put.store(round + 1, std::memory_order_release);
  return true;
}

absl::StatusOr<bool> SharedCalls::Step() {
  bool moved = TakeNext();
  FIRN_ASSIGN_OR_RETURN(const bool combined, CombineNext());
  moved |= combined;
  moved |= PutNext();
  return moved;
}

absl::StatusOr<bool> SharedCalls::Advance() {
  bool moved = false;
  for (int i = 0; i < kMostSteps && !calls_.empty(); ++i) {
    FIRN_ASSIGN_OR_RETURN(const bool step, Step());
    if (!step) break;
    moved = true;
    if (taken_ < rounds_) continue;
    base_ += static_cast<uint64_t>(rounds_);
    calls_.pop_front();
    ++first_;
    if (!calls_.empty()) Begin();
  }
  return moved;
}

}  // namespace firn::comm
