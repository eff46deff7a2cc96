#ifndef FIRN_TENSOR_KERNELS_CPU_RANDOM_H_
#define FIRN_TENSOR_KERNELS_CPU_RANDOM_H_

// Loops over random words. Element e of an operation gets word e (or the pair of words 2 e, 2 e +
// 1) behind the position that the operation took from its generator.

#include <algorithm>

#include "firn/device/own_flags.h"
#include "firn/device/parallel.h"
#include "firn/device/philox.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/random_words.h"
#include "firn/tensor/op.h"

namespace firn::cpu {

// Moves the generator's state in input `i` on by `counters` and returns where it was.
PhiloxState TakeCounters(KernelContext& k, int i, int64_t counters);

// Several counters side by side, so that the compiler keeps them in vector registers.
inline constexpr int kPhiloxLanes = 16;
struct PhiloxLanes {
  uint32_t v[4][kPhiloxLanes];
};
void PhiloxBlock(const PhiloxState& state, uint64_t first, PhiloxLanes* out);

// Calls f(e, w0, w1, w2, w3) with the words of counters [begin, end) for e = counter.
template <class F>
FIRN_ALWAYS_INLINE void ForEachCounter(const PhiloxState& state, int64_t begin, int64_t end,
                                       F&& f) {
  PhiloxLanes words;
  for (int64_t c = begin; c < end; c += kPhiloxLanes) {
    PhiloxBlock(state, static_cast<uint64_t>(c), &words);
    const int64_t lanes = std::min<int64_t>(kPhiloxLanes, end - c);
    for (int64_t i = 0; i < lanes; ++i) {
      f(c + i, words.v[0][i], words.v[1][i], words.v[2][i], words.v[3][i]);
    }
  }
}

inline constexpr int64_t kCounterGrain = 4096;

// The words of a block, one for each element.
inline constexpr int64_t kWordRow = 4 * kPhiloxLanes;

// f(first, words, count) for rows of kWordRow elements, the last one shorter, that make up [0, n),
// in parallel; takes CeilDiv(n, 4) counters.
template <class F>
void ForEachWordRow(const PhiloxState& state, int64_t n, F&& f) {
  ParallelFor(CeilDiv(n, kWordRow), kCounterGrain / kPhiloxLanes, [&](int64_t begin, int64_t end) {
    PhiloxLanes words;
    for (int64_t at = begin; at < end; ++at) {
      PhiloxBlock(state, static_cast<uint64_t>(at * kPhiloxLanes), &words);
      // The words are first put into the elements' order, so that the compiler vectorises f.
      alignas(64) uint32_t row[kWordRow];
      for (int i = 0; i < kPhiloxLanes; ++i) {
        for (int w = 0; w < 4; ++w) row[4 * i + w] = words.v[w][i];
      }
      const int64_t first = at * kWordRow, left = n - first;
      if (left >= kWordRow) {
        f(first, row, kWordRow);
      } else {
        f(first, row, left);
      }
    }
  });
}

// f(e, word) for every element e < n.
template <class F>
void ForEachWord(const PhiloxState& state, int64_t n, F&& f) {
  ForEachWordRow(state, n, [&](int64_t first, const uint32_t* words, int64_t count) {
    for (int64_t i = 0; i < count; ++i) f(first + i, words[i]);
  });
}

// f(e, high, low) for every element e < n, in parallel; takes CeilDiv(n, 2) counters.
template <class F>
void ForEachWordPair(const PhiloxState& state, int64_t n, F&& f) {
  ParallelFor(CeilDiv(n, 2), kCounterGrain, [&](int64_t begin, int64_t end) {
    PhiloxLanes words;
    for (int64_t c = begin; c < end; c += kPhiloxLanes) {
      PhiloxBlock(state, static_cast<uint64_t>(c), &words);
      alignas(64) uint32_t high[2 * kPhiloxLanes], low[2 * kPhiloxLanes];
      for (int i = 0; i < kPhiloxLanes; ++i) {
        for (int w = 0; w < 2; ++w) {
          high[2 * i + w] = words.v[2 * w][i];
          low[2 * i + w] = words.v[2 * w + 1][i];
        }
      }
      const int64_t first = 2 * c, left = std::min(n, 2 * end) - first;
      if (left >= 2 * kPhiloxLanes) {
        for (int i = 0; i < 2 * kPhiloxLanes; ++i) f(first + i, high[i], low[i]);
      } else {
        for (int64_t i = 0; i < left; ++i) f(first + i, high[i], low[i]);
      }
    }
  });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_RANDOM_H_
