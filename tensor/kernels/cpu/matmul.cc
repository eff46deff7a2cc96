// Stacks of matrix products: many small ones are given out to the threads whole, few large ones run
// one after the other on all threads. Which of the two depends on the sizes only, and so does the
// workspace: products that need some share it in a fixed number of slots.

#include "firn/tensor/kernels/cpu/matmul.h"

#include <algorithm>

#include "firn/device/parallel.h"

namespace firn::cpu {
namespace {

constexpr int64_t kSlots = 16;
constexpr double kLargeFlops = 8e6;   // worth all threads
constexpr double kThreadFlops = 1e6;  // worth a thread

bool ByBatch(const MatmulPlan& p) {
  return p.batches >= kSlots || (p.batches > 1 && p.one.flops() < kLargeFlops);
}

// Each thread computes products of a stack alone, without memory for copies that only save time: it
// would limit the threads to the slots.
GemmShape OneOf(const MatmulPlan& p) {
  GemmShape one = p.one;
  one.in_place = ByBatch(p);
  return one;
}

}  // namespace

size_t MatmulWorkspace(DType dtype, const MatmulPlan& p) {
  const int64_t slots = ByBatch(p) ? std::min(p.batches, kSlots) : 1;
  return static_cast<size_t>(slots) * GemmWorkspace(dtype, OneOf(p));
}

template <class T>
void RunMatmul(const MatmulPlan& p, const T* a, const T* b, T* c, bool accumulate,
               void* workspace) {
  const GemmShape one = OneOf(p);
  const size_t bytes = GemmWorkspace(DTypeOf<T>(), one);
  const auto run = [&](int64_t begin, int64_t end, void* scratch) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = i, at_a = 0, at_b = 0;
      for (int d = p.batch.rank - 1; d >= 0; --d) {
        at_a += rest % p.batch[d] * p.a_batch[d];
        at_b += rest % p.batch[d] * p.b_batch[d];
        rest /= p.batch[d];
      }
      Gemm(one, a + at_a, b + at_b, c + i * p.one.m * p.one.n, accumulate, scratch);
    }
  };
  if (!ByBatch(p)) return run(0, p.batches, workspace);
  const int64_t slots = bytes == 0 ? p.batches : std::min(p.batches, kSlots);
  const double per_slot =
      p.one.flops() * static_cast<double>(p.batches) / static_cast<double>(slots);
  const auto grain = static_cast<int64_t>(kThreadFlops / std::max(per_slot, 1.0)) + 1;
  ParallelFor(slots, grain, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot) {
      run(p.batches * slot / slots, p.batches * (slot + 1) / slots,
          static_cast<char*>(workspace) + static_cast<size_t>(slot) * bytes);
    }
  });
}

template void RunMatmul(const MatmulPlan&, const float*, const float*, float*, bool, void*);
template void RunMatmul(const MatmulPlan&, const double*, const double*, double*, bool, void*);
template void RunMatmul(const MatmulPlan&, const Half*, const Half*, Half*, bool, void*);
template void RunMatmul(const MatmulPlan&, const BFloat16*, const BFloat16*, BFloat16*, bool,
                        void*);
template void RunMatmul(const MatmulPlan&, const int8_t*, const int8_t*, int8_t*, bool, void*);
template void RunMatmul(const MatmulPlan&, const uint8_t*, const uint8_t*, uint8_t*, bool, void*);
template void RunMatmul(const MatmulPlan&, const int32_t*, const int32_t*, int32_t*, bool, void*);
template void RunMatmul(const MatmulPlan&, const int64_t*, const int64_t*, int64_t*, bool, void*);

}  // namespace firn::cpu
