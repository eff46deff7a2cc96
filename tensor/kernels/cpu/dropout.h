#ifndef FIRN_TENSOR_KERNELS_CPU_DROPOUT_H_
#define FIRN_TENSOR_KERNELS_CPU_DROPOUT_H_

#include "tensor/kernels/cpu/half.h"
#include "tensor/kernels/cpu/random.h"

namespace firn::cpu {

// Output 0 = input 0 (floating, contiguous) with each element dropped with probability p, as the
// random words from `at` on say, and the others scaled by 1 / (1 - p).
inline void DropElements(KernelContext& k, const PhiloxState& at, double p) {
  const int64_t n = k.in_spec(0).num_elements();
  // Below 2^32 - 1, so that it fits: p = 1 is a case of its own.
  const auto first_kept = static_cast<uint32_t>(std::min(p * 0x1p32, 0x1p32 - 1));
  VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Acc = ComputeOf<T>;
    const T* x = k.in<T>(0);
    T* y = k.out<T>();
    if (p == 1) {  // also where x is infinite
      std::fill(y, y + n, T(0));
      return;
    }
    const Acc scale = static_cast<Acc>(1 / (1 - p));
    // Copies: a number that a store of a result might change keeps the loop from being vectors.
    ForEachWordRow(at, n, [=](int64_t first, const uint32_t* words, int64_t count) {
      Piece<T, kWordRow> in, out;
      const Acc* const from = in.Read(x + first, count);
      Acc* const to = out.Room(y + first);
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) {
        const Acc v = from[i] * scale;
        to[i] = words[i] >= first_kept ? v : Acc{0};
      }
      out.Write(y + first, count);
    });
  });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_DROPOUT_H_
