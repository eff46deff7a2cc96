// Shapes are checked once, when made: rank, signs and the product. Everything that holds a Shape
// may then multiply its sizes without looking for overflow.

#include "firn/tensor/shape.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn {
namespace {

std::string Join(absl::Span<const int64_t> sizes) {
  return absl::StrCat("[", absl::StrJoin(sizes, ", "), "]");
}

Shape MakeOrRaise(absl::Span<const int64_t> sizes) {
  absl::StatusOr<Shape> shape = Shape::Make(sizes);
  if (!shape.ok()) RaiseStatus(shape.status(), "shape");
  return *std::move(shape);
}

}  // namespace

Shape::Shape(std::initializer_list<int64_t> sizes)
    : Shape(absl::Span<const int64_t>(sizes.begin(), sizes.size())) {}

Shape::Shape(absl::Span<const int64_t> sizes) : Shape(MakeOrRaise(sizes)) {}

absl::StatusOr<Shape> Shape::Make(absl::Span<const int64_t> sizes) {
  FIRN_RETURN_IF(
      sizes.size() > static_cast<size_t>(kMaxRank),
      InvalidArgument("a tensor has at most ", kMaxRank, " dimensions, got ", sizes.size()));
  Shape s;
  s.dims_.rank = static_cast<int32_t>(sizes.size());
  bool overflow = false;
  bool empty = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    FIRN_RETURN_IF(sizes[i] < 0, InvalidArgument("negative size in shape ", Join(sizes)));
    s.dims_.d[i] = sizes[i];
    empty |= sizes[i] == 0;
    // A zero later in the shape makes the product 0, whatever came before it.
    overflow |=
        sizes[i] != 0 && __builtin_mul_overflow(s.num_elements_, sizes[i], &s.num_elements_);
  }
  // 2^59 elements of 8 bytes still fit in size_t, with room for padding.
  overflow |= s.num_elements_ > (int64_t{1} << 59);
  FIRN_RETURN_IF(overflow,
                 InvalidArgument("the number of elements of shape ", Join(sizes), " overflows"));
  if (empty) s.num_elements_ = 0;
  return s;
}

Shape Shape::Trusted(const Dims& sizes) {
  Shape s;
  s.dims_ = sizes;
  for (int i = 0; i < sizes.rank; ++i) s.num_elements_ *= sizes.d[i];
  return s;
}

std::string Shape::ToString() const { return Join(span()); }

Dims inner::ContiguousStrides(const Shape& shape) {
  Dims strides(shape.rank());
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

absl::StatusOr<int> inner::NormalizeDim(int64_t dim, const Shape& shape) {
  const int64_t rank = std::max(shape.rank(), 1);
  FIRN_RETURN_IF(dim < -rank || dim >= rank,
                 OutOfRange("dim ", dim, " is outside ", shape.ToString(), " (want ", -rank, " to ",
                            rank - 1, ")"));
  return static_cast<int>(dim < 0 ? dim + rank : dim);
}

absl::StatusOr<Dims> inner::NormalizeDims(absl::Span<const int64_t> dims, const Shape& shape) {
  bool chosen[kMaxRank] = {};
  for (int64_t dim : dims) {
    FIRN_ASSIGN_OR_RETURN(const int d, NormalizeDim(dim, shape));
    FIRN_RETURN_IF(chosen[d], InvalidArgument("dim ", dim, " is given twice in ", Join(dims)));
    chosen[d] = true;
  }
  Dims result;
  for (int i = 0; i < shape.rank(); ++i) {
    if (dims.empty() || chosen[i]) result.push_back(i);
  }
  return result;
}

absl::StatusOr<Shape> inner::BroadcastShapes(const Shape& a, const Shape& b) {
  if (a == b) return a;
  Dims out(std::max(a.rank(), b.rank()));
  for (int i = 1; i <= out.rank; ++i) {
    const int64_t da = i <= a.rank() ? a[a.rank() - i] : 1;
    const int64_t db = i <= b.rank() ? b[b.rank() - i] : 1;
    FIRN_RETURN_IF(
        da != db && da != 1 && db != 1,
        InvalidArgument("shapes ", a.ToString(), " and ", b.ToString(), " do not broadcast: ", da,
                        " against ", db, " at the dimension ", i, " from the end"));
    out[out.rank - i] = da == 1 ? db : da;
  }
  return Shape::Make(out.span());
}

bool inner::BroadcastsTo(const Shape& from, const Shape& to) {
  if (from.rank() > to.rank()) return false;
  for (int i = 1; i <= from.rank(); ++i) {
    const int64_t f = from[from.rank() - i];
    if (f != 1 && f != to[to.rank() - i]) return false;
  }
  return true;
}

}  // namespace firn
