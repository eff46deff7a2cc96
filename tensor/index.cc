// x[...]: entries are taken in order, each turned into a view of what the ones before left, with
// index tensors kept aside. Reading then indexes the view by those; writing writes through it.
//
// A range with a negative step is kept as the view with the positive step and a dimension to flip,
// so that writing needs no more than a flipped value.

#include "firn/tensor/index.h"

#include <algorithm>

#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/index/advanced.h"
#include "firn/tensor/ops/index/index_arrays.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

using Entries = absl::Span<const TensorIndex>;
using Kind = TensorIndex::Kind;
constexpr char kOp[] = "index";

// The view of x that the entries make.
struct Place {
  Tensor view;
  std::vector<int64_t> flips;  // of view's dimensions
  IndexArrays indices;         // of view's dimensions
};

int DimsOf(const TensorIndex& e) {
  if (e.kind() == Kind::kNewDim || e.kind() == Kind::kRest) return 0;
  const bool mask = e.kind() == Kind::kTensor && e.tensor().dtype() == DType::kBool;
  return mask ? e.tensor().rank() : 1;
}

// How many dimensions of x the ellipsis stands for.
absl::StatusOr<int> EllipsisDims(const Shape& x, Entries entries) {
  int named = 0, ellipses = 0;
  int at = 0;
  for (const TensorIndex& e : entries) {
    FIRN_RETURN_IF(e.kind() == Kind::kTensor && !e.tensor().defined(),
                   InvalidArgument("index ", at, " is an undefined tensor"));
    ++at;
    named += DimsOf(e);
    ellipses += e.kind() == Kind::kRest ? 1 : 0;
  }
  FIRN_RETURN_IF(named > x.rank(), OutOfRange("indices for ", named, " dimensions of x ",
                                              x.ToString(), ", which has ", x.rank()));
  FIRN_RETURN_IF(ellipses > 1,
                 InvalidArgument("kEllipsis is given ", ellipses, " times (want once at most)"));
  return x.rank() - named;
}

// Takes the entries one by one.
class Finder {
 public:
  Finder(const Tensor& x, Entries entries) : shape_(x.shape()) {
    const absl::StatusOr<int> rest = EllipsisDims(shape_, entries);
    RaiseIfError(rest.status(), kOp);
    ellipsis_dims_ = *rest;
    any_tensor_ = std::any_of(entries.begin(), entries.end(),
                              [](const TensorIndex& e) { return e.kind() == Kind::kTensor; });
    place_.view = x;
    for (const TensorIndex& e : entries) Take(e);
  }
  Place Result() { return std::move(place_); }

 private:
  void Take(const TensorIndex& e) {
    switch (e.kind()) {
      case Kind::kInteger:
        return TakeInteger(e.integer());
      case Kind::kRange:
        return TakeRange(e.range());
      case Kind::kTensor:
        return TakeTensor(e.tensor());
      case Kind::kNewDim:
        place_.view = Unsqueeze(place_.view, at_++);
        return;
      case Kind::kRest:
        at_ += ellipsis_dims_;
        dim_ += ellipsis_dims_;
        return;
    }
  }

  void TakeInteger(int64_t i) {
    const int64_t n = shape_[dim_];
    if (i < -n || i >= n) {
      RaiseStatus(OutOfRange("index ", i, " is outside dim ", dim_, " of x ", shape_.ToString()),
                  kOp);
    }
    ++dim_;
    if (any_tensor_) {
      const Device device = place_.view.device();
      AppendIndex(place_.view.shape(), at_++, Full({}, static_cast<double>(i), DType::kI64, device),
                  kOp, &place_.indices);
    } else {
      place_.view = Select(place_.view, at_, i);
    }
  }

  void TakeRange(const Range& range) {
    const int64_t n = shape_[dim_++];
    if (range.step == 0)
      RaiseStatus(
          InvalidArgument("a Range has step 0 (want another, or a negative one to go backwards)"),
          kOp);
    if (range.step < 0) {
      TakeBackwards(range, n);
    } else if (range.start != 0 || range.stop < n || range.step != 1) {
      place_.view = Slice(place_.view, at_, range.start, range.stop, range.step);
    }
    ++at_;
  }

  // The same elements first to last, to be flipped.
  void TakeBackwards(const Range& range, int64_t n) {
    const auto position = [n](int64_t p) {
      return std::clamp<int64_t>(p < 0 ? p + n : p, -1, n - 1);
    };
    const int64_t first = position(range.start);
    const int64_t before = range.stop == kEnd ? -1 : position(range.stop);
    const int64_t step = -std::max(range.step, -INT64_MAX);
    const int64_t count = first <= before ? 0 : (first - before - 1) / step + 1;
    const int64_t last = count == 0 ? 0 : first - (count - 1) * step;
    place_.view = Slice(place_.view, at_, last, count == 0 ? 0 : first + 1, step);
    if (count > 1) place_.flips.push_back(at_);
  }

  void TakeTensor(const Tensor& t) {
    Tensor index = t;
    const bool mask = t.dtype() == DType::kBool;
    if (mask) {
      RaiseIfError(CheckMask(shape_, dim_, t.shape()), kOp);
    } else if (!Contains(kIndex, t.dtype())) {
      RaiseStatus(
          InvalidArgument("an index tensor must be i32, i64 or bool, got ", t.spec().ToString()),
          kOp);
    }
    dim_ += mask ? t.rank() : 1;
    if (mask && t.rank() > 1 && place_.view.is_contiguous()) {
      // One dimension to index instead of several; still a view.
      place_.view = Flatten(place_.view, at_, at_ + t.rank() - 1);
      index = Flatten(t);
    }
    at_ += AppendIndex(place_.view.shape(), at_, index, kOp, &place_.indices);
  }

  const Shape shape_;
  Place place_;
  bool any_tensor_;  // among the entries
  int ellipsis_dims_ = 0;
  int dim_ = 0;  // of x
  int at_ = 0;   // of the view
};

Tensor Read(const Tensor& x, const Place& p) {
  const Tensor view = p.flips.empty() ? p.view : Flip(p.view, p.flips);
  if (!p.indices.arrays.empty()) return IndexAt(view, p.indices);
  return view.Is(x) ? Identity(x) : view;
}

// NumPy lets a value have more leading dimensions of size 1 than the place it is written to.
Tensor WithoutLeadingOnes(const Tensor& value, int rank) {
  Dims sizes = value.shape().dims();
  int drop = 0;
  while (sizes.rank - drop > rank && sizes[drop] == 1) ++drop;
  return drop == 0 ? value : Reshape(value, sizes.span().subspan(static_cast<size_t>(drop)));
}

void Write(const Place& p, const Tensor& value) {
  if (!p.indices.arrays.empty()) {
    if (p.flips.empty()) return IndexWrite(p.view, p.indices, value);
    const Tensor flipped = Flip(p.view, p.flips);
    IndexWrite(flipped, p.indices, value);
    return Assign(p.view, Flip(flipped, p.flips));
  }
  const Tensor source = WithoutLeadingOnes(value, p.view.rank());
  if (!BroadcastsTo(source.shape(), p.view.shape())) {
    RaiseStatus(InvalidArgument("the value ", value.shape().ToString(), " does not broadcast to ",
                                p.view.shape().ToString(), ", what the indices say of x"),
                kOp);
  }
  if (p.flips.empty()) return Assign(p.view, source);
  Assign(p.view, Flip(Expand(source, p.view.shape()), p.flips));
}

}  // namespace

namespace inner::internal {

struct IndexTarget {
  Tensor x;
  std::vector<TensorIndex> entries;
  Place place;

  void Set(const Tensor& value) const {
    CheckDefined(value, kOp, "value");
    if (GradEnabled() && (x.requires_grad() || value.requires_grad())) {
      RaiseStatus(
          FailedPrecondition("x[...] = y would change x in place while the gradient of ",
                             x.requires_grad() ? "x" : "y",
                             " is being recorded; use NoGradScope, or SliceScatter or IndexPut"),
          kOp);
    }
    NoGradScope no_grad;
    const Tensor element = AsElement(value, x.dtype(), x.device(), kOp);
    InNameOf(kOp, [&] {
      if (!x.spec().layout.blocked()) return Write(place, element);
      // A view of a blocked tensor would be a view of a copy.
      const Tensor plain = firn::Contiguous(x);
      Write(Finder(plain, entries).Result(), element);
      Assign(x, plain);
    });
  }
};

}  // namespace inner::internal

IndexedTensor Tensor::operator[](std::initializer_list<TensorIndex> indices) const {
  CheckDefined(*this, kOp);
  Place place = Finder(*this, Entries(indices.begin(), indices.size())).Result();
  Tensor value = InNameOf(kOp, [&] { return Read(*this, place); });
  return {std::move(value), std::make_shared<const internal::IndexTarget>(internal::IndexTarget{
                                *this, {indices.begin(), indices.end()}, std::move(place)})};
}
IndexedTensor Tensor::operator[](const TensorIndex& index) const { return (*this)[{index}]; }

IndexedTensor::IndexedTensor(Tensor value, std::shared_ptr<const internal::IndexTarget> target)
    : Tensor(std::move(value)), target_(std::move(target)) {}

void IndexedTensor::operator=(const Tensor& value) && { target_->Set(value); }
void IndexedTensor::Fill(inner::Element value) && {
  target_->Set(InNameOf(kOp, [&] { return Full({}, value, dtype(), device()); }));
}
void IndexedTensor::operator+=(const Tensor& value) && { target_->Set(Add(*this, value)); }
void IndexedTensor::operator-=(const Tensor& value) && { target_->Set(Add(*this, value, -1)); }
void IndexedTensor::operator*=(const Tensor& value) && { target_->Set(Mul(*this, value)); }
void IndexedTensor::operator/=(const Tensor& value) && { target_->Set(Div(*this, value)); }

}  // namespace firn
