#ifndef FIRN_DEVICE_COMM_COLLECTIVE_H_
#define FIRN_DEVICE_COMM_COLLECTIVE_H_

// What ranks do together, as data: one call of one rank.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "firn/device/comm/kinds.h"
#include "firn/device/enum_words.h"

namespace firn::comm {

// The types of elements: those of tensor/dtype.h without bool.
enum class Element : uint8_t { kF32, kF64, kF16, kBF16, kI8, kI32, kI64, kU8 };
constexpr auto WordsOf(Element) {
  return inner::EnumWords<Element>({{Element::kF32, "f32"},
                                    {Element::kF64, "f64"},
                                    {Element::kF16, "f16"},
                                    {Element::kBF16, "bf16"},
                                    {Element::kI8, "i8"},
                                    {Element::kI32, "i32"},
                                    {Element::kI64, "i64"},
                                    {Element::kU8, "u8"}});
}
int64_t BytesOf(Element element);

// A plain value. The memory is on the communicator's device, and belongs to the call until it is
// done. `in` and `out` do not overlap, but may be equal for a broadcast, reduce and all_reduce; for
// an all_gather, `in` may be the rank's place in `out`.
struct Collective {
  CollectiveKind kind = CollectiveKind::kBarrier;
  Element element = Element::kF32;
  Reduction reduction = Reduction::kSum;
  // The root of a broadcast or reduce, the other side of a send or recv; 0 for others.
  int root = 0;
  // Elements that each rank gives; for reduce_scatter, elements that each rank gets.
  int64_t count = 0;
  const void* in = nullptr;  // broadcast: of the root; recv, barrier: none
  void* out = nullptr;       // reduce: of the root; send, barrier: none

  bool reduces() const {
    return kind == CollectiveKind::kReduce || kind == CollectiveKind::kAllReduce ||
           kind == CollectiveKind::kReduceScatter;
  }
  // "all_reduce of 10 f32 (sum)".
  std::string ToString() const;
};

// InvalidArgument for a call that makes no sense on rank `rank` of `size`: negative or overflowing
// counts, missing memory, a root outside of the ranks, a mean of integers.
absl::Status Check(const Collective& call, int rank, int size);
// Whether the calls of two ranks belong together: both are the same call, or a send and a recv of
// the same message.
bool Fit(const Collective& a, const Collective& b);

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_COLLECTIVE_H_
