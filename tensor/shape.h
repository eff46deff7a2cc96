#ifndef FIRN_TENSOR_SHAPE_H_
#define FIRN_TENSOR_SHAPE_H_

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <ostream>
#include <string>

#include "absl/types/span.h"
#include "firn/device/status_fwd.h"

namespace firn {

namespace inner {
// The most dimensions a tensor can have.
inline constexpr int kMaxRank = 8;

// Up to kMaxRank integers in place: strides, and shapes under construction. The first four are
// always there, so that copying nearly every tensor's description is a few vector moves.
struct Dims {
  static constexpr int kQuick = 4;
  int64_t d[kMaxRank];
  int32_t rank = 0;

  Dims() noexcept { std::memset(d, 0, kQuick * sizeof(*d)); }
  explicit Dims(int r, int64_t fill = 0) : rank(r) {
    for (int i = 0; i < (r < kQuick ? kQuick : r); ++i) d[i] = fill;
  }
  Dims(const Dims& o) noexcept : rank(o.rank) { CopyFrom(o); }
  Dims& operator=(const Dims& o) noexcept {
    rank = o.rank;
    CopyFrom(o);
    return *this;
  }
  int64_t& operator[](int64_t i) { return d[i]; }
  int64_t operator[](int64_t i) const { return d[i]; }
  void push_back(int64_t v) { d[rank++] = v; }
  absl::Span<const int64_t> span() const { return {d, static_cast<size_t>(rank)}; }
  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i) {
      if (a.d[i] != b.d[i]) return false;
    }
    return true;
  }

 private:
  // `o` may be itself: the two ranges are the same or apart.
  void CopyFrom(const Dims& o) noexcept {
    std::memcpy(d, o.d, kQuick * sizeof(*d));
    if (rank > kQuick) [[unlikely]]
      std::memcpy(d + kQuick, o.d + kQuick, static_cast<size_t>(rank - kQuick) * sizeof(*d));
  }
};
}  // namespace inner

// The sizes of a tensor's dimensions, outermost first. Immutable; at most kMaxRank dimensions, none
// negative, and the product fits in int64. A value type: thread-compatible.
class Shape {
 public:
  Shape() = default;  // rank 0, one element
  // Throws firn::Error on more than kMaxRank dimensions, a negative size or overflow; library code
  // that must not throw uses Make.
  Shape(std::initializer_list<int64_t> sizes);
  explicit Shape(absl::Span<const int64_t> sizes);
  static absl::StatusOr<Shape> Make(absl::Span<const int64_t> sizes);
  // Requires: sizes that Make accepts, for instance because they came from an existing shape.
  static Shape Trusted(const inner::Dims& sizes);

  int rank() const { return dims_.rank; }
  int64_t operator[](int64_t i) const { return dims_.d[i]; }
  // Counts from the end when negative. Requires: has_dim(i).
  int64_t dim(int64_t i) const { return dims_.d[i < 0 ? i + dims_.rank : i]; }
  bool has_dim(int64_t i) const { return i >= -rank() && i < rank(); }
  int64_t num_elements() const { return num_elements_; }
  const inner::Dims& dims() const { return dims_; }
  absl::Span<const int64_t> span() const { return dims_.span(); }
  const int64_t* begin() const { return dims_.d; }
  const int64_t* end() const { return dims_.d + dims_.rank; }

  // "[8, 3, 32, 32]"; "[]" for rank 0.
  std::string ToString() const;

  friend bool operator==(const Shape& a, const Shape& b) { return a.dims_ == b.dims_; }
  friend std::ostream& operator<<(std::ostream& os, const Shape& s) { return os << s.ToString(); }

 private:
  inner::Dims dims_;
  int64_t num_elements_ = 1;
};

namespace inner {
// The row-major strides of `shape`, in elements.
Dims ContiguousStrides(const Shape& shape);

// `dim` counted from the start, or OutOfRange naming the shape. Rank 0 accepts -1 and 0 (like
// PyTorch).
absl::StatusOr<int> NormalizeDim(int64_t dim, const Shape& shape);

// Every entry of `dims` normalised, sorted, without repeats; empty means all dimensions. An error
// names an entry that is out of range or repeated.
absl::StatusOr<Dims> NormalizeDims(absl::Span<const int64_t> dims, const Shape& shape);

// The shape of an element-by-element combination (NumPy's rule: trailing dimensions match, are 1,
// or are missing), or InvalidArgument naming both shapes.
absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b);

// True if a tensor of shape `from` can be expanded to `to`.
bool BroadcastsTo(const Shape& from, const Shape& to);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_SHAPE_H_
