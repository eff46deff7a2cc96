// Philox4x32-10 on kPhiloxLanes counters at once; the same numbers as Philox4x32, lane by lane.

#include "tensor/kernels/cpu/random.h"

#include <atomic>

namespace firn::cpu {

PhiloxState TakeCounters(KernelContext& k, int i, int64_t counters) {
  int64_t* s = k.inout<int64_t>(i);
  if (s == nullptr) return {};  // never: the state is not optional
  const int64_t offset = std::atomic_ref<int64_t>(s[1]).fetch_add(counters);
  return {static_cast<uint64_t>(s[0]), static_cast<uint64_t>(offset)};
}

void PhiloxBlock(const PhiloxState& state, uint64_t first, PhiloxLanes* out) {
  alignas(64) uint32_t c0[kPhiloxLanes], c1[kPhiloxLanes], c2[kPhiloxLanes], c3[kPhiloxLanes];
  for (int i = 0; i < kPhiloxLanes; ++i) {
    const uint64_t n = state.offset + first + static_cast<uint64_t>(i);
    c0[i] = static_cast<uint32_t>(n);
    c1[i] = static_cast<uint32_t>(n >> 32);
    c2[i] = c3[i] = 0;
  }
  uint32_t key0 = static_cast<uint32_t>(state.seed), key1 = static_cast<uint32_t>(state.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kPhiloxLanes; ++i) {
      const uint64_t p0 = uint64_t{0xD2511F53} * c0[i];
      const uint64_t p1 = uint64_t{0xCD9E8D57} * c2[i];
      c0[i] = static_cast<uint32_t>(p1 >> 32) ^ c1[i] ^ key0;
      c1[i] = static_cast<uint32_t>(p1);
      c2[i] = static_cast<uint32_t>(p0 >> 32) ^ c3[i] ^ key1;
      c3[i] = static_cast<uint32_t>(p0);
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  for (int i = 0; i < kPhiloxLanes; ++i) {
    out->v[0][i] = c0[i];
    out->v[1][i] = c1[i];
    out->v[2][i] = c2[i];
    out->v[3][i] = c3[i];
  }
}

}  // namespace firn::cpu
