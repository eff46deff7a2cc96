// Another rank of the machine writes arbitrary counters and calls into the shared memory.
#include "firn/device/comm/shared_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "firn/device/comm/shared_calls.h"
#include "firn/device/comm/thread_ranks.h"
#include "tests/fuzz/reader.h"

namespace firn::comm {
namespace {

constexpr int kRanks = 2;
constexpr size_t kState = 128;  // bytes that a rank has in front of all elements

// The memory has the same contents in every run; the state of the ranks starts with zeros.
std::shared_ptr<SharedMemory> Memory() {
  static const std::shared_ptr<SharedMemory> memory =
      *SharedMemory::Share(*ThreadRanks(1)[0], SharedCalls::BytesFor(kRanks), true);
  testing::FuzzCheck(memory != nullptr, "there is memory for two ranks");
  std::memset(memory->data(), 0, kRanks * kState);
  return memory;
}

// Elements of both ranks, and what becomes of them.
struct Numbers {
  std::vector<float> in = std::vector<float>(500, 1.0f), out = std::vector<float>(1000);
};

std::vector<Collective> Calls(Numbers& x) {
  const auto call = [&](CollectiveKind kind, int64_t count) {
    return Collective{.kind = kind, .count = count, .in = x.in.data(), .out = x.out.data()};
  };
  return {call(CollectiveKind::kAllReduce, 500), call(CollectiveKind::kAllGather, 500),
          call(CollectiveKind::kReduceScatter, 250), call(CollectiveKind::kBroadcast, 500),
          call(CollectiveKind::kReduce, 500)};
}

// Each 128 bytes become the state of rank 1, and rank 0 then goes on as far as it can.
FIRN_FUZZ_READER(ranks_shared_memory) {
  const std::shared_ptr<SharedMemory> memory = Memory();
  Numbers x;
  SharedCalls calls(memory, 0, kRanks);
  uint64_t last = 0;
  for (const Collective& call : Calls(x)) last = calls.Start(call);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kState, bytes.size()))) {
    std::memcpy(memory->data() + kState, bytes.data(), std::min(kState, bytes.size()));
    if (!calls.Advance().ok()) return false;
  }
  return calls.IsDone(last);
}

// The states of rank 1 while it makes the same calls.
FIRN_FUZZ_SEEDS(ranks_shared_memory) {
  const std::shared_ptr<SharedMemory> memory = Memory();
  Numbers first, second;
  SharedCalls a(memory, 0, kRanks), b(memory, 1, kRanks);
  uint64_t last = 0;
  for (const Collective& call : Calls(first)) last = a.Start(call);
  for (const Collective& call : Calls(second)) b.Start(call);
  std::string states;
  while (!a.IsDone(last)) {
    testing::FuzzCheck(b.Advance().ok(), "calls fit");
    states.append(reinterpret_cast<const char*>(memory->data()) + kState, kState);
    testing::FuzzCheck(a.Advance().ok(), "calls fit");
  }
  return {states};
}

}  // namespace
}  // namespace firn::comm
