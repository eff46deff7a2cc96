#ifndef FIRN_TENSOR_INDEX_H_
#define FIRN_TENSOR_INDEX_H_

// x[...] as in NumPy, for reading and writing:
//   x[2]                       one position of the first dimension, which is dropped
//   x[{Range(0, 8), kAll, -1}] one entry a dimension; what is left out at the end is whole
//   x[{kEllipsis, 0}]          as many whole dimensions as are left
//   x[{kNewAxis, kAll}]        a dimension of size 1
//   x[mask], x[indices]        bool and integer tensors: tensor/ops/index/advanced.h
//   x[...] = y                 writes into x; y is broadcast and converted, a number that x's dtype
//                              does not hold is an error
//   x[...] += y                likewise, and -=, *=, /=; an element that occurs twice is changed
//   once
// Numbers and ranges make views; negative steps and tensors make copies. A number beside a tensor
// is an index tensor of its own, as in NumPy.

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/tensor.h"

namespace firn {

// Elements start, start + step, ... before `stop` of a dimension. Negative positions count from the
// end, positions outside are cut back; kEnd as `stop` means all the way in the direction of the
// step: Range(-1, kEnd, -1) reverses. step is not 0.
struct Range {
  explicit Range(int64_t start_at, int64_t stop_at = kEnd, int64_t step_by = 1)
      : start(start_at), stop(stop_at), step(step_by) {}
  int64_t start, stop, step;
};

// Entries that are no position: a whole dimension; a new one of size 1; as many whole dimensions as
// the other entries leave.
enum class IndexTag : uint8_t { kAll, kNewAxis, kEllipsis };
inline constexpr IndexTag kAll = IndexTag::kAll;
inline constexpr IndexTag kNewAxis = IndexTag::kNewAxis;
inline constexpr IndexTag kEllipsis = IndexTag::kEllipsis;

// One entry in x[{...}].
class TensorIndex {
 public:
  enum class Kind : uint8_t { kInteger, kRange, kNewDim, kRest, kTensor };

  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) TensorIndex(T i)  // NOLINT: implicit
      : kind_(Kind::kInteger), range_(static_cast<int64_t>(i)) {}
  template <class T>
  requires(std::is_floating_point_v<T> || std::is_same_v<T, bool>) TensorIndex(T)
  = delete;
  TensorIndex(const Range& r) : kind_(Kind::kRange), range_(r) {}                // NOLINT: implicit
  TensorIndex(const Tensor& t) : kind_(Kind::kTensor), range_(0), tensor_(t) {}  // NOLINT: implicit
  TensorIndex(IndexTag tag)                                                      // NOLINT: implicit
      : kind_(tag == kAll       ? Kind::kRange
              : tag == kNewAxis ? Kind::kNewDim
                                : Kind::kRest),
        range_(0) {}

  Kind kind() const { return kind_; }
  int64_t integer() const { return range_.start; }
  const Range& range() const { return range_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  Kind kind_;
  Range range_;
  Tensor tensor_;
};

namespace inner::internal {
struct IndexTarget;
}

// What x[...] gives: a tensor with the elements it names. Assigning to it, at once, writes them
// into x instead; `auto part = x[0]; part = y` does not compile, because it could mean either.
//
// Writes count as changes in place: they throw firn::Error while the gradient of x or of the value
// is being recorded (use NoGradScope, or SliceScatter and IndexPut, which have gradients), and they
// are seen by every tensor that shares x's memory.
class IndexedTensor : public Tensor {
 public:
  IndexedTensor(const IndexedTensor&) = default;

  void operator=(const Tensor& value) &&;
  void operator=(const IndexedTensor& value) && {
    std::move(*this) = static_cast<const Tensor&>(value);
  }
  void operator+=(const Tensor& value) &&;
  void operator-=(const Tensor& value) &&;
  void operator*=(const Tensor& value) &&;
  void operator/=(const Tensor& value) &&;
  // Like x[...] = value.
  void CopyFrom(const Tensor& value) && { std::move(*this) = value; }
  void Fill(inner::Element value) &&;

  void operator=(const Tensor& value) & = delete;
  void operator=(const IndexedTensor& value) & = delete;
  void operator+=(const Tensor& value) & = delete;
  void operator-=(const Tensor& value) & = delete;
  void operator*=(const Tensor& value) & = delete;
  void operator/=(const Tensor& value) & = delete;
  void CopyFrom(const Tensor& value) & = delete;
  void Fill(inner::Element value) & = delete;

 private:
  friend class Tensor;
  IndexedTensor(Tensor value, std::shared_ptr<const inner::internal::IndexTarget> target);

  std::shared_ptr<const inner::internal::IndexTarget> target_;  // shared by copies, which is rare
};

}  // namespace firn

#endif  // FIRN_TENSOR_INDEX_H_
