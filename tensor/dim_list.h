#ifndef FIRN_TENSOR_DIM_LIST_H_
#define FIRN_TENSOR_DIM_LIST_H_

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <type_traits>

#include "absl/types/span.h"
#include "firn/tensor/shape.h"

namespace firn {

// Which dimensions of a tensor an operation works on, as a caller writes them: one (`Sum(x, 1)`),
// several (`Sum(x, {0, -1})`, a vector, a span) or none (`{}`), which most operations take as all
// of them. Negative ones count from the end. The operation checks whether the tensor has them. The
// numbers are kept in place: making and copying one allocates nothing. A value type:
// thread-compatible.
class DimList : public inner::Dims {
 public:
  DimList() = default;
  template <std::integral T>
  DimList(T dim)
      : inner::Dims(1, static_cast<int64_t>(dim)) {}  // NOLINT: implicit, as in Sum(x, 1)
  // Sum(x, true) means Sum(x, {}, true): a flag is no dimension.
  DimList(bool) = delete;
  // These throw firn::Error on more than kMaxRank entries: no tensor has so many dimensions.
  DimList(std::initializer_list<int64_t> dims)  // NOLINT: implicit, as in Sum(x, {0, 1})
      : DimList(absl::Span<const int64_t>(dims.begin(), dims.size())) {}
  DimList(absl::Span<const int64_t> dims);  // NOLINT
  template <class List>
  requires(std::is_convertible_v<const List&, absl::Span<const int64_t>>)
      DimList(const List& dims)  // NOLINT: a vector, an array, a std::span
      : DimList(absl::Span<const int64_t>(dims)) {}
  explicit DimList(const inner::Dims& dims) : inner::Dims(dims) {}

  bool empty() const { return rank == 0; }
  size_t size() const { return static_cast<size_t>(rank); }
  int64_t* data() { return d; }
  const int64_t* data() const { return d; }
  int64_t* begin() { return d; }
  int64_t* end() { return d + rank; }
  const int64_t* begin() const { return d; }
  const int64_t* end() const { return d + rank; }
};

}  // namespace firn

#endif  // FIRN_TENSOR_DIM_LIST_H_
