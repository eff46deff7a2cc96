// Philox4x32-10 on kPhiloxLanes counters at once; the same numbers as Philox4x32, lane by lane.

#include "firn/tensor/kernels/cpu/random.h"

#include <atomic>

#include "firn/device/multiply_low.h"

namespace firn::cpu {

PhiloxState TakeCounters(KernelContext& k, int i, int64_t counters) {
  int64_t* s = k.inout<int64_t>(i);
  if (s == nullptr) return {};  // never happens: the state is not optional
  const int64_t offset = std::atomic_ref<int64_t>(s[1]).fetch_add(counters);
  return {static_cast<uint64_t>(s[0]), static_cast<uint64_t>(offset)};
}

void PhiloxBlock(const PhiloxState& state, uint64_t first, PhiloxLanes* out) {
  // A word in the lower half of each lane; the upper halves are ignored.
  using Words = Vec<uint64_t>;
  constexpr int kLanes = static_cast<int>(kSimdLanes<uint64_t>);
  constexpr int kParts = kPhiloxLanes / kLanes;
  Words c0[kParts], c1[kParts], c2[kParts], c3[kParts];
  for (int part = 0; part < kParts; ++part) {
    for (int i = 0; i < kLanes; ++i) {
      c0[part][i] = state.offset + first + static_cast<uint64_t>(part * kLanes + i);
    }
    c1[part] = c0[part] >> 32;
    c2[part] = c3[part] = Words{};
  }
  uint32_t key0 = static_cast<uint32_t>(state.seed), key1 = static_cast<uint32_t>(state.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int part = 0; part < kParts; ++part) {
      const Words p0 = MultiplyLow32(c0[part], Words{} + 0xD2511F53u);
      const Words p1 = MultiplyLow32(c2[part], Words{} + 0xCD9E8D57u);
      c0[part] = (p1 >> 32) ^ c1[part] ^ (Words{} + key0);
      c1[part] = p1;
      c2[part] = (p0 >> 32) ^ c3[part] ^ (Words{} + key1);
      c3[part] = p0;
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  for (int part = 0; part < kParts; ++part) {
    for (int i = 0; i < kLanes; ++i) {
      out->v[0][part * kLanes + i] = static_cast<uint32_t>(c0[part][i]);
      out->v[1][part * kLanes + i] = static_cast<uint32_t>(c1[part][i]);
      out->v[2][part * kLanes + i] = static_cast<uint32_t>(c2[part][i]);
      out->v[3][part * kLanes + i] = static_cast<uint32_t>(c3[part][i]);
    }
  }
}

}  // namespace firn::cpu
