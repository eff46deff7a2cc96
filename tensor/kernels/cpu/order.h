#ifndef FIRN_TENSOR_KERNELS_CPU_ORDER_H_
#define FIRN_TENSOR_KERNELS_CPU_ORDER_H_

// Sorting lines of a row-major tensor together with their indices. A line is copied to workspace as
// pairs of value and index, ordered there, and written back; ties are ordered by index, which makes
// every order stable and every result the same at each run.

#include <algorithm>
#include <cstdint>

#include "device/parallel.h"
#include "tensor/kernels/cpu/lines.h"
#include "tensor/kernels/reducers.h"
#include "tensor/op.h"

namespace firn::cpu {

template <class C>
struct Ranked {
  C value;
  int64_t index;
};

// Whether a comes before b; NaN is the largest value.
template <bool kDescending>
struct Before {
  template <class C>
  bool operator()(const Ranked<C>& a, const Ranked<C>& b) const {
    const C &low = kDescending ? b.value : a.value, &high = kDescending ? a.value : b.value;
    if (low < high || (high != high && low == low)) return true;
    if (high < low || (low != low && high == high)) return false;
    return a.index < b.index;
  }
};

// Lines are shared by so many pieces of workspace, however many threads there are.
inline constexpr int64_t kOrderSlots = 16;

inline size_t OrderWorkspace(const Lines& l) {
  const int64_t slots = std::min(kOrderSlots, l.outer * l.inner);
  return static_cast<size_t>(slots) * static_cast<size_t>(l.length) * sizeof(Ranked<double>);
}

// Orders each line of x by select(begin, end, before), which puts the first `keep` pairs in place;
// they go to values and indices, whose lines have `keep` elements.
template <class T, class Select>
void OrderLines(const Lines& l, int64_t keep, const T* x, T* values, int64_t* indices,
                void* workspace, const Select& select) {
  using C = ComparedAs<T>;
  const int64_t lines = l.outer * l.inner, slots = std::min(kOrderSlots, lines);
  const int64_t grain = std::max<int64_t>(1, 2048 * slots / std::max<int64_t>(lines * l.length, 1));
  ParallelFor(slots, grain, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot) {
      auto* pairs = static_cast<Ranked<C>*>(workspace) + slot * l.length;
      for (int64_t line = lines * slot / slots; line < lines * (slot + 1) / slots; ++line) {
        const int64_t block = line / l.inner, column = line % l.inner;
        const T* from = x + block * l.length * l.inner + column;
        for (int64_t i = 0; i < l.length; ++i) {
          pairs[i] = {static_cast<C>(from[i * l.inner]), i};
        }
        select(pairs, pairs + l.length);
        const int64_t to = block * keep * l.inner + column;
        for (int64_t i = 0; i < keep; ++i) {
          values[to + i * l.inner] = from[pairs[i].index * l.inner];
          indices[to + i * l.inner] = pairs[i].index;
        }
      }
    }
  });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ORDER_H_
