// randperm: the result of the CPU's shuffle, each element by itself. Step i swaps places i and
// Other(i) >= i, and place i is not touched again. So element i is what place p = Other(i) held
// before step i: p itself, unless an earlier step j, the last of them, had brought what place j
// held before step j; and so on. Each place lists the steps that swap something into it, one on the
// average and about log n for the last places. Their order in the list does not matter.

#include "tensor/kernels/cuda/atomic.cuh"
#include "tensor/kernels/cuda/random.cuh"
#include "tensor/ops/randperm.h"

namespace firn::randperm_cuda {
namespace {

struct Shuffle {
  const int64_t* state;
  int64_t n;
  int64_t* heads;  // of each place: a step that swaps something into it, or -1
  int64_t* nexts;  // of each step: another that swaps something into the same place, or -1
  int64_t* out;

  FIRN_HOST_DEVICE int64_t Other(int64_t i) const {
    const PhiloxResult words = PhiloxAt(cuda::StateAt(state), static_cast<uint64_t>(i / 2));
    const int half = static_cast<int>(i % 2) * 2;
    const uint64_t ahead =
        cpu::BelowFrom(static_cast<uint64_t>(n - i), words.v[half], words.v[half + 1]);
    return i + static_cast<int64_t>(ahead);
  }
};

struct ClearBody : Shuffle {
  FIRN_HOST_DEVICE void operator()(int64_t i) const { heads[i] = -1; }
};
struct ListBody : Shuffle {
  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    nexts[i] = cuda::AtomicExchange(heads + Other(i), i);
  }
};
struct FollowBody : Shuffle {
  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t place = Other(i), step = i;
    for (;;) {
      int64_t last = -1;
      for (int64_t j = heads[place]; j >= 0; j = nexts[j]) {
        if (j < step && j > last) last = j;
      }
      if (last < 0) break;
      place = step = last;
    }
    out[i] = place;
  }
};

size_t Workspace(const KernelQuery& q) {
  return 2 * static_cast<size_t>(q.out().num_elements()) * sizeof(int64_t);
}

absl::Status Run(KernelContext& k) {
  const int64_t n = k.attrs<RandpermAttrs>().n;
  int64_t* const lists = k.workspace<int64_t>();
  const Shuffle shuffle = {k.in<int64_t>(0), n, lists, lists + n, k.out<int64_t>()};
  FIRN_RETURN_IF_ERROR(cuda::ForEach(k, n, ClearBody{shuffle}));
  FIRN_RETURN_IF_ERROR(cuda::ForEach(k, n, ListBody{shuffle}));
  FIRN_RETURN_IF_ERROR(cuda::ForEach(k, n, FollowBody{shuffle}));
  return cuda::TakeCounters(k, 0, cpu::CeilDiv(n, 2));
}

FIRN_REGISTER_KERNELS(randperm) {
  return {{.name = "loop", .device = DeviceType::kCuda, .workspace = Workspace, .run = Run}};
}

}  // namespace
}  // namespace firn::randperm_cuda
