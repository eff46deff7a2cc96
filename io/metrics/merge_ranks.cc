// Ranks may have different amounts of numbers: all first tell how many they have, and then send as
// many as the rank with most, in pieces, so that a false amount takes no more memory than was
// really sent.
#include "firn/io/metrics/merge_ranks.h"

#include <algorithm>

#include "firn/device/comm/communicator.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::io::internal {
namespace {

constexpr char kWho[] = "metric";
constexpr int64_t kMost = int64_t{1} << 30;   // numbers of a rank
constexpr int64_t kPiece = int64_t{1} << 16;  // of them, which travel at once

[[noreturn]] void RefuseNumbers(size_t got) {
  RaiseStatus(InvalidArgument("another rank's has ", got,
                              " numbers, which are not those of this one (want metrics of the same "
                              "kind and options on all ranks)"),
              kWho);
}

}  // namespace

void RefuseRanks() {
  RaiseStatus(InvalidArgument("those of several ranks cannot be made one (want Merge and "
                              "VisitNumbers, as io/metrics/merge_ranks.h says)"),
              kWho);
}

double NumberReader::Next() {
  if (at_ >= numbers_.size()) RefuseNumbers(numbers_.size());
  return numbers_[at_++];
}

double NumberReader::NextCount() {
  const double count = Next();
  if (!(count >= 0 && count <= 0x1p53)) RefuseNumbers(numbers_.size());
  return count;
}

size_t NumberReader::NextSize() {
  const double size = Next();
  if (!(size >= 0 && size <= static_cast<double>(numbers_.size()))) RefuseNumbers(numbers_.size());
  return static_cast<size_t>(size);
}

void NumberReader::Finish() const {
  if (at_ != numbers_.size()) RefuseNumbers(numbers_.size());
}

std::vector<std::vector<double>> NumbersOfRanks(const std::vector<double>& own,
                                                comm::Communicator& ranks) {
  const auto count = static_cast<int64_t>(own.size());
  const auto n = static_cast<size_t>(ranks.size());
  std::vector<int64_t> counts(n);
  RaiseIfError(ranks.AllGather(&count, counts.data(), 1, comm::Element::kI64), kWho);
  for (size_t rank = 0; rank < n; ++rank) {
    if (counts[rank] >= 0 && counts[rank] <= kMost) continue;
    RaiseStatus(InvalidArgument("rank ", rank, " has ", counts[rank], " numbers (want 0 to 2^30)"),
                kWho);
  }
  const int64_t most = *std::max_element(counts.begin(), counts.end());
  std::vector<std::vector<double>> all(n);
  for (int64_t begin = 0; begin < most; begin += kPiece) {
    const int64_t piece = std::min(kPiece, most - begin);
    std::vector<double> mine(static_cast<size_t>(piece)), gathered(n * mine.size());
    std::copy_n(own.begin() + std::min(begin, count), std::clamp<int64_t>(count - begin, 0, piece),
                mine.begin());
    RaiseIfError(ranks.AllGather(mine.data(), gathered.data(), piece, comm::Element::kF64), kWho);
    for (size_t rank = 0; rank < n; ++rank) {
      const auto from = gathered.begin() + static_cast<int64_t>(rank) * piece;
      all[rank].insert(all[rank].end(), from,
                       from + std::clamp<int64_t>(counts[rank] - begin, 0, piece));
    }
  }
  return all;
}

}  // namespace firn::io::internal
