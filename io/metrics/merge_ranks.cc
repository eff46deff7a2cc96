// Ranks may have different amounts of numbers: all tell how many first, and send as many as the one
// that has most.
#include "firn/io/metrics/merge_ranks.h"

#include <algorithm>

#include "firn/device/comm/communicator.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::io::internal {
namespace {

constexpr char kWho[] = "metric";

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
  const auto most = static_cast<size_t>(*std::max_element(counts.begin(), counts.end()));
  std::vector<double> padded = own, gathered(n * most);
  padded.resize(most);
  RaiseIfError(ranks.AllGather(padded.data(), gathered.data(), static_cast<int64_t>(most),
                               comm::Element::kF64),
               kWho);
  std::vector<std::vector<double>> all;
  for (size_t rank = 0; rank < n; ++rank) {
    const double* const begin = gathered.data() + rank * most;
    all.emplace_back(begin, begin + counts[rank]);
  }
  return all;
}

}  // namespace firn::io::internal
