#ifndef FIRN_TENSOR_KERNELS_CPU_ROWS_H_
#define FIRN_TENSOR_KERNELS_CPU_ROWS_H_

// The elements of floating tensors in the type that kernels compute in: f32 and f64 in place, half
// types as floats, a row at a time in a tile of the kernel's. So a kernel is compiled only for
// float and for double.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "firn/tensor/dtype.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/op.h"

namespace firn::cpu {

// Calls f(TypeTag<Acc>()) with the type that elements of `dtype` are computed in, float or double.
template <class F>
decltype(auto) VisitComputed(DType dtype, const F& f) {
  if (dtype == DType::kF64) return f(TypeTag<double>());
  return f(TypeTag<float>());
}

template <class Acc>
class RowsIn {
 public:
  explicit RowsIn(const Acc* data) : data_(data), dtype_(DTypeOf<Acc>()) {}
  RowsIn(DType dtype, const void* data) : data_(data), dtype_(dtype) {}
  // Input i of a kernel, which may be missing.
  RowsIn(const KernelContext& k, int i)
      : RowsIn(k.has(i) ? k.in_spec(i).dtype : DTypeOf<Acc>(), k.in<void>(i)) {}

  bool given() const { return data_ != nullptr; }
  // Whether rows go through tiles.
  bool converted() const { return dtype_ != DTypeOf<Acc>(); }
  // Elements [i, i + n): in `tile`, which has room for them, or in place.
  FIRN_ALWAYS_INLINE const Acc* At(int64_t i, int64_t n, Acc* tile) const {
    if (converted()) {
      Load(i, n, tile);
      return tile;
    }
    return static_cast<const Acc*>(data_) + i;
  }
  // Copies them in any case.
  void Load(int64_t i, int64_t n, Acc* tile) const {
    if constexpr (std::is_same_v<Acc, float>) {
      if (converted()) {
        ToFloats(dtype_, static_cast<const uint16_t*>(data_) + i, n, tile);
        return;
      }
    }
    std::copy_n(static_cast<const Acc*>(data_) + i, n, tile);
  }
  // Copies runs, the first of which begins at element i.
  void Load(int64_t i, const Runs& r, Acc* tile) const {
    if constexpr (std::is_same_v<Acc, float>) {
      if (converted()) {
        ToFloats(dtype_, static_cast<const uint16_t*>(data_) + i, r, tile);
        return;
      }
    }
    for (int64_t q = 0; q < r.runs; ++q) Load(i + q * r.stride, r.length, tile + q * r.step);
  }
  Acc operator[](int64_t i) const {
    Acc one;
    Load(i, 1, &one);
    return one;
  }

 private:
  const void* data_;
  DType dtype_;
};

template <class Acc>
class RowsOut {
 public:
  explicit RowsOut(Acc* data) : data_(data), dtype_(DTypeOf<Acc>()) {}
  RowsOut(DType dtype, void* data) : data_(data), dtype_(dtype) {}
  // Output i of a kernel.
  RowsOut(KernelContext& k, int i) : RowsOut(k.out_spec(i).dtype, k.out<void>(i)) {}

  bool given() const { return data_ != nullptr; }
  bool converted() const { return dtype_ != DTypeOf<Acc>(); }
  // The place for elements from i on: `tile`, or the output itself.
  FIRN_ALWAYS_INLINE Acc* At(int64_t i, Acc* tile) const {
    return converted() ? tile : static_cast<Acc*>(data_) + i;
  }
  // Tells that elements [i, i + n) are at the place that At gave.
  FIRN_ALWAYS_INLINE void Done(int64_t i, int64_t n, const Acc* tile) const {
    if (converted()) Store(i, n, tile);
  }
  // Copies them in any case.
  void Store(int64_t i, int64_t n, const Acc* from) const {
    if constexpr (std::is_same_v<Acc, float>) {
      if (converted()) {
        FromFloats(from, n, dtype_, static_cast<uint16_t*>(data_) + i);
        return;
      }
    }
    std::copy_n(from, n, static_cast<Acc*>(data_) + i);
  }
  // Copies runs, the first of which belongs at element i.
  void Store(int64_t i, const Runs& r, const Acc* from) const {
    if constexpr (std::is_same_v<Acc, float>) {
      if (converted()) {
        FromFloats(from, r, dtype_, static_cast<uint16_t*>(data_) + i);
        return;
      }
    }
    for (int64_t q = 0; q < r.runs; ++q) Store(i + q * r.stride, r.length, from + q * r.step);
  }

 private:
  void* data_;
  DType dtype_;
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ROWS_H_
