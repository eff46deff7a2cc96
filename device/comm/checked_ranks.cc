// Before each call all ranks gather a description of it, six numbers of each, so that all see the
// same and decide alike. A message carries its description in front of its elements, so the sender
// need not wait.

#include "firn/device/comm/checked_ranks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/enum_words.h"
#include "firn/device/environment.h"
#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

// What a rank says of a call: its number, kind, element, reduction, root and count.
using Said = std::array<int64_t, 6>;
// Split's kind: it is compared like a call, although no Collective has it.
constexpr int64_t kSplit = -1;

bool HasRoot(CollectiveKind kind) {
  return kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce;
}

// Fields that do not matter to the call's kind are 0.
Said Describe(int64_t number, const Collective& call) {
  const auto kind = static_cast<int64_t>(call.kind);
  if (call.kind == CollectiveKind::kBarrier) return {number, kind, 0, 0, 0, 0};
  return {number,
          kind,
          static_cast<int64_t>(call.element),
          call.reduces() ? static_cast<int64_t>(call.reduction) : 0,
          HasRoot(call.kind) ? call.root : 0,
          call.count};
}

// The enumerator of that number, which another rank has sent.
template <class E>
bool Find(int64_t number, E& found) {
  if (inner::WordList(inner::kWordsOf<E>).WordFor(number) == nullptr) return false;
  found = static_cast<E>(number);
  return true;
}

std::string ToText(const Said& said, int root) {
  const auto& [number, kind, element, reduction, unused, count] = said;
  if (kind == kSplit) return "split";
  Collective call{.root = root, .count = count};
  if (!Find(kind, call.kind) || !Find(element, call.element) || !Find(reduction, call.reduction)) {
    return absl::StrCat("something that is no call (", kind, ", ", element, ", ", reduction, ")");
  }
  return call.ToString();
}

std::string ToText(const Said& said) { return ToText(said, static_cast<int>(said[4])); }

// What is known of a communicator beside its ranks; shared with calls on their way.
struct Shared {
  std::unique_ptr<Communicator> ranks;
  std::vector<int> outer;  // the number of each rank before any Split
  absl::Status failed;

  std::string Name(int rank) const {
    const int before = outer[static_cast<size_t>(rank)];
    if (before == rank) return absl::StrCat("rank ", rank);
    return absl::StrCat("rank ", rank, " (", before, " before Split)");
  }
  absl::Status Fail(const std::string& why) {
    if (failed.ok()) failed = FailedPrecondition(why);
    ranks->Abort(why);
    return failed;
  }
};

// A message and its description.
class CheckedMessage : public Pending {
 public:
  CheckedMessage(std::shared_ptr<Shared> shared, const Collective& call, int64_t number)
      : shared_(std::move(shared)),
        sends_(call.kind == CollectiveKind::kSend),
        other_(call.root),
        mine_(Describe(number, call)),
        theirs_(mine_) {}
  ~CheckedMessage() override { Wait().IgnoreError(); }

  absl::Status Start(const Collective& call) {
    Collective said{.kind = call.kind,
                    .element = Element::kI64,
                    .root = other_,
                    .count = static_cast<int64_t>(mine_.size())};
    (sends_ ? said.in = mine_.data() : said.out = theirs_.data());
    FIRN_ASSIGN_OR_RETURN(said_, shared_->ranks->Start(said));
    FIRN_ASSIGN_OR_RETURN(data_, shared_->ranks->Start(call));
    return absl::OkStatus();
  }

  absl::Status Wait() override {
    if (said_ == nullptr) return result_;
    result_ = said_->Wait();
    said_ = nullptr;
    if (result_.ok() && !sends_) result_ = Compare();
    const absl::Status moved = data_ == nullptr ? absl::OkStatus() : data_->Wait();
    if (result_.ok()) result_ = moved;
    return result_;
  }

 private:
  absl::Status Compare() const {
    Said want = mine_;
    want[1] = static_cast<int64_t>(CollectiveKind::kSend);
    if (theirs_ == want) return absl::OkStatus();
    const int rank = shared_->ranks->rank();
    return shared_->Fail(absl::StrCat("message ", mine_[0], ": ", shared_->Name(other_), " called ",
                                      ToText(theirs_, rank), ", ", shared_->Name(rank), " ",
                                      ToText(mine_, other_)));
  }

  const std::shared_ptr<Shared> shared_;
  const bool sends_;
  const int other_;
  const Said mine_;
  Said theirs_;
  std::unique_ptr<Pending> said_, data_;
  absl::Status result_;
};

class CheckedRank : public Communicator {
 public:
  explicit CheckedRank(std::shared_ptr<Shared> shared)
      : Communicator(shared->ranks->rank(), shared->ranks->size(), shared->ranks->local_rank()),
        shared_(std::move(shared)),
        sent_(static_cast<size_t>(size())),
        received_(static_cast<size_t>(size())) {}

  absl::StatusOr<std::unique_ptr<Communicator>> Split(int color, int key) override {
    FIRN_RETURN_IF_ERROR(Agree({calls_++, kSplit, 0, 0, 0, 0}));
    FIRN_ASSIGN_OR_RETURN(std::unique_ptr<Communicator> part, shared_->ranks->Split(color, key));
    if (part == nullptr) return part;
    const int64_t mine = shared_->outer[static_cast<size_t>(rank())];
    std::vector<int64_t> all(static_cast<size_t>(part->size()));
    FIRN_RETURN_IF_ERROR(part->AllGather(&mine, all.data(), 1, Element::kI64));
    auto shared = std::make_shared<Shared>();
    shared->ranks = std::move(part);
    for (const int64_t outer : all) shared->outer.push_back(static_cast<int>(outer));
    return std::make_unique<CheckedRank>(std::move(shared));
  }

  void Abort(std::string_view why) override { shared_->ranks->Abort(why); }
  std::function<absl::Status()> Failures() const override { return shared_->ranks->Failures(); }
  Device device() const override { return shared_->ranks->device(); }
  absl::Duration timeout() const override { return shared_->ranks->timeout(); }

 private:
  absl::StatusOr<std::unique_ptr<Pending>> StartChecked(const Collective& call) override {
    FIRN_RETURN_IF_ERROR(shared_->failed);
    if (call.kind == CollectiveKind::kSend || call.kind == CollectiveKind::kRecv) {
      auto& numbers = call.kind == CollectiveKind::kSend ? sent_ : received_;
      auto message = std::make_unique<CheckedMessage>(shared_, call,
                                                      numbers[static_cast<size_t>(call.root)]++);
      FIRN_RETURN_IF_ERROR(message->Start(call));
      return message;
    }
    FIRN_RETURN_IF_ERROR(Agree(Describe(calls_++, call)));
    return shared_->ranks->Start(call);
  }

  // Returns OK when all ranks are about to make the same call.
  absl::Status Agree(const Said& mine) {
    FIRN_RETURN_IF_ERROR(shared_->failed);
    std::vector<Said> all(static_cast<size_t>(size()));
    const absl::Status gathered = shared_->ranks->AllGather(
        mine.data(), all.data(), static_cast<int64_t>(mine.size()), Element::kI64);
    FIRN_RETURN_IF(
        !gathered.ok(),
        absl::Status(gathered.code(), absl::StrCat(gathered.message(), ", before ", ToText(mine),
                                                   " on ", shared_->Name(rank()))));
    const auto unlike =
        std::find_if(all.begin(), all.end(), [&](const Said& said) { return said != all[0]; });
    if (unlike == all.end()) return absl::OkStatus();
    // After this barrier all ranks have seen the difference, so that one may abort the calls on
    // their way.
    shared_->ranks->Barrier().IgnoreError();
    return shared_->Fail(
        absl::StrCat("call ", all[0][0], ": ", shared_->Name(0), " called ", ToText(all[0]), ", ",
                     shared_->Name(static_cast<int>(unlike - all.begin())), " ", ToText(*unlike)));
  }

  const std::shared_ptr<Shared> shared_;
  int64_t calls_ = 0;                     // of all ranks
  std::vector<int64_t> sent_, received_;  // messages to and from each rank
};

}  // namespace

std::unique_ptr<Communicator> CheckedRanks(std::unique_ptr<Communicator> ranks) {
  auto shared = std::make_shared<Shared>();
  shared->outer.resize(static_cast<size_t>(ranks->size()));
  std::iota(shared->outer.begin(), shared->outer.end(), 0);
  shared->ranks = std::move(ranks);
  return std::make_unique<CheckedRank>(std::move(shared));
}

std::unique_ptr<Communicator> CheckedIfAsked(std::unique_ptr<Communicator> ranks) {
  if (ranks->size() == 1 || !env::CheckCollectives()) return ranks;
  return CheckedRanks(std::move(ranks));
}

}  // namespace firn::comm
