#ifndef FIRN_DEVICE_COMM_KINDS_H_
#define FIRN_DEVICE_COMM_KINDS_H_

#include <cstdint>

#include "firn/device/enum_words.h"

namespace firn::comm {

// How elements of several ranks are reduced to one. Sums and products of integers wrap around. The
// smallest and the largest of numbers with a NaN among them is NaN.
enum class Reduction : uint8_t { kSum, kMean, kProd, kMin, kMax };
constexpr auto WordsOf(Reduction) {
  return inner::EnumWords<Reduction>({{Reduction::kSum, "sum"},
                                      {Reduction::kMean, "mean"},
                                      {Reduction::kProd, "prod"},
                                      {Reduction::kMin, "min"},
                                      {Reduction::kMax, "max"}});
}

enum class CollectiveKind : uint8_t {
  kBarrier,
  kBroadcast,
  kReduce,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kSend,
  kRecv,
};
constexpr auto WordsOf(CollectiveKind) {
  return inner::EnumWords<CollectiveKind>({{CollectiveKind::kBarrier, "barrier"},
                                           {CollectiveKind::kBroadcast, "broadcast"},
                                           {CollectiveKind::kReduce, "reduce"},
                                           {CollectiveKind::kAllReduce, "all_reduce"},
                                           {CollectiveKind::kAllGather, "all_gather"},
                                           {CollectiveKind::kReduceScatter, "reduce_scatter"},
                                           {CollectiveKind::kSend, "send"},
                                           {CollectiveKind::kRecv, "recv"}});
}

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_KINDS_H_
