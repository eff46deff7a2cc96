#ifndef FIRN_TENSOR_OPS_LINALG_ROTATIONS_BODY_H_
#define FIRN_TENSOR_OPS_LINALG_ROTATIONS_BODY_H_

// Plane rotations of neighbouring rows of a matrix, many at a time, on the CPU (Van Zee, van de
// Geijn and Quintana-Orti, "Restructuring the tridiagonal and bidiagonal QR algorithms for
// performance", 2014).

#include <algorithm>
#include <cstdint>

#include "firn/device/macros.h"
#include "firn/device/parallel.h"
#include "firn/device/simd.h"
#include "firn/device/simd_part.h"

namespace firn::cpu {

// Steps of the QL method whose rotations are applied together.
inline constexpr int64_t kSteps = 16;

// The rotations of some steps, each of rows i and i + 1 of z from i = end - 1 down to `begin`. They
// are applied in waves, each step one row behind the one before, so that all of them rotate a row
// while it is in cache, and the row that two rotations of a wave share stays in registers. Where no
// step begins or ends, two waves are applied at once, so that a row is read and written once for
// both. A rotation is three shears, which takes a product and a sum less than computing both rows
// separately. Threads share the columns. Not thread-safe.
template <class T>
class RotationBatch {
 public:
  // Elements from row to row of z, the same for every T: whole registers, and an odd number of
  // them, since a processor confuses a load with a recent store whose address differs by a multiple
  // of 4096 bytes. Columns behind the n-th are rotated as well, and must be set to something.
  static int64_t RowStep(int64_t n) {
    constexpr int64_t kMost = kSimdLanes<float>;
    return ((n + kMost - 1) / kMost | 1) * kMost;
  }
  // Elements of `rotations`.
  static int64_t Elements(int64_t n) { return 2 * kSteps * n; }
  // Elements of z with n rows.
  RotationBatch(int64_t n, T* z, T* rotations)
      : n_(n), row_(RowStep(n)), z_(z), halves_(rotations), sines_(rotations + kSteps * n) {}

  // Room for the next step's rotations of rows from `begin` to `end`: cosines, none negative, and
  // sines, at the places of their first rows. Row i becomes c times itself less s times row i + 1.
  void Begin() {
    if (count_ == kSteps) Apply();
  }
  T* c() const { return halves_ + count_ * n_; }
  T* s() const { return sines_ + count_ * n_; }
  void End(int64_t begin, int64_t end) {
    if (begin >= end) return;
    T *const half = c(), *const sine = s();
    FIRN_INDEPENDENT_STEPS
    for (int64_t i = begin; i < end; ++i) half[i] = sine[i] / (1 + half[i]);
    begin_[count_] = begin;
    end_[count_++] = end;
  }

  void Apply() {
    if (count_ == 0) return;
    const int64_t tiles = (row_ + kTile - 1) / kTile;
    const int64_t grain = std::max<int64_t>(1, 32768 / (kTile * n_ * kSteps));
    ParallelFor(tiles, grain, [&](int64_t begin, int64_t end) {
      for (int64_t tile = begin; tile < end; ++tile) {
        T* const z = z_ + tile * kTile;
        const int64_t width = std::min(kTile, row_ - tile * kTile);
        if (width == kTile) {
          ApplyWaves<kVectors>(z);
          continue;
        }
        for (int64_t at = 0; at < width; at += kLanes) ApplyWaves<1>(z + at);
      }
    });
    count_ = 0;
  }

 private:
  static constexpr int64_t kLanes = kSimdLanes<T>;
  // The number of registers of a row: enough that a rotation's instructions do not wait for those
  // of the rotation before.
  static constexpr int kVectors = 4;
  static constexpr int64_t kTile = kVectors * kLanes;

  template <int kCount>
  struct Row {
    Vec<T> v[kCount];

    void Load(const T* from) {
#pragma GCC unroll 4
      for (int k = 0; k < kCount; ++k) v[k] = inner::internal::LoadAll(from + k * kLanes);
    }
    void Store(T* to) const {
#pragma GCC unroll 4
      for (int k = 0; k < kCount; ++k) inner::internal::StoreAll<T>(v[k], to + k * kLanes);
    }
  };
  // Stores the tangent of half the angle, and the sine.
  template <int kCount>
  static FIRN_ALWAYS_INLINE void Rotate(T half, T sine, Row<kCount>& upper, Row<kCount>& lower) {
#pragma GCC unroll 4
    for (int k = 0; k < kCount; ++k) {
      const Vec<T> sheared = upper.v[k] - half * lower.v[k];
      lower.v[k] += sine * sheared;
      upper.v[k] = sheared - half * lower.v[k];
    }
  }

  template <int kCount>
  void ApplyWaves(T* z) const {
    int64_t first = n_, last = -kSteps;          // that some steps have
    int64_t all_first = -kSteps, all_last = n_;  // that all of them have
    for (int64_t t = 0; t < count_; ++t) {
      const int64_t begin = begin_[t] - t, end = end_[t] - t;
      first = std::min(first, begin);
      last = std::max(last, end);
      all_first = std::max(all_first, begin);
      all_last = std::min(all_last, end);
    }
    int64_t wave = last - 1;
    for (; wave >= all_last; --wave) ApplyWave<kCount>(wave, z);
    for (; wave > all_first; wave -= 2) ApplyTwoWaves<kCount>(wave, z);
    for (; wave >= first; --wave) ApplyWave<kCount>(wave, z);
  }

  template <int kCount>
  void ApplyWave(int64_t wave, T* z) const {
    Row<kCount> upper, lower;  // upper: of row `carried`
    int64_t carried = -1;
    for (int64_t t = 0; t < count_; ++t) {
      const int64_t i = wave + t;
      if (i < begin_[t] || i >= end_[t]) continue;
      T* const row = z + i * row_;
      if (carried != i) {
        if (carried >= 0) upper.Store(z + carried * row_);
        upper.Load(row);
      }
      lower.Load(row + row_);
      Rotate(halves_[t * n_ + i], sines_[t * n_ + i], upper, lower);
      upper.Store(row);
      upper = lower;
      carried = i + 1;
    }
    if (carried >= 0) upper.Store(z + carried * row_);
  }

  // Wave `wave` and the next one, a row above it.
  template <int kCount>
  void ApplyTwoWaves(int64_t wave, T* z) const {
    const int64_t row = row_, count = count_, step = n_ + 1;  // stores might change members
    const T *const halves = halves_, *const sines = sines_;
    T* at = z + wave * row;
    Row<kCount> above, upper, lower;
    above.Load(at - row);
    upper.Load(at);
    int64_t angle = wave;
    for (int64_t t = 0; t < count; ++t, at += row, angle += step) {
      lower.Load(at + row);
      Rotate(halves[angle], sines[angle], upper, lower);
      Rotate(halves[angle - 1], sines[angle - 1], above, upper);
      above.Store(at - row);
      above = upper;
      upper = lower;
    }
    above.Store(at - row);
    upper.Store(at);
  }

  int64_t n_, row_, count_ = 0;
  T *z_, *halves_, *sines_;
  int64_t begin_[kSteps], end_[kSteps];
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_LINALG_ROTATIONS_BODY_H_
