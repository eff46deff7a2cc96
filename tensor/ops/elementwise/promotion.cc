// Promotion shared by elementwise operations.
//
// A number (weak_number) counts only by its kind - bool, integer or float - as in PyTorch: it
// changes the result's dtype only when its kind is above the tensor's. The same holds for 0-d
// tensors beside tensors with dimensions.

#include "firn/tensor/promotion.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn {
namespace {

int KindOf(DType d) { return d == DType::kBool ? 0 : IsFloating(d) ? 2 : 1; }

// The operands that decide on a result's dtype: the smallest group, unless a larger one is of a
// higher kind.
int GroupOf(const Tensor& t) { return t.impl()->weak_number ? 2 : t.rank() == 0 ? 1 : 0; }

template <class T, class V>
T NumberTo(V v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(v));
  } else {
    return static_cast<T>(v);
  }
}

// A number as a 0-d tensor of `dtype`, which is of the same or a higher kind or holds it.
Tensor NumberAs(const Tensor& number, DType dtype) {
  absl::StatusOr<Tensor> t =
      AllocateTensor(TensorSpec::Contiguous(dtype, Shape(), number.device()));
  RaiseIfError(t.status(), "number");
  const TensorImpl& from = *number.impl();
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    *reinterpret_cast<T*>(t->impl()->data) =
        from.spec.dtype == DType::kI64 ? NumberTo<T>(*reinterpret_cast<const int64_t*>(from.data))
        : from.spec.dtype == DType::kBool ? NumberTo<T>(*reinterpret_cast<const bool*>(from.data))
                                          : NumberTo<T>(from.number);
  });
  return *std::move(t);
}

// A number on another device. A kernel writes it there unless a double does not hold it, since a
// copy of host memory may have to wait for others.
Tensor NumberOn(const Tensor& number, Device device) {
  const char* const data = number.impl()->data;
  return VisitDType(number.dtype(), [&]<class T>(TypeTag<T>) {
    const T value = *reinterpret_cast<const T*>(data);
    const auto wide = static_cast<double>(value);
    constexpr double kExact = 0x1p53;
    const bool exact = !std::is_same_v<T, int64_t> || (wide > -kExact && wide < kExact);
    return exact ? Full(Shape(), wide, number.dtype(), device) : ToDevice(number, device);
  });
}

// Integers with all their digits, other numbers with as many as distinguish them from their
// neighbours.
std::string TextOf(const Number& v) {
  const double value = v.value(), most = 0x1p63;
  const bool whole = value >= -most && value < most && value == std::trunc(value);
  if (whole) return absl::StrCat(v.is_double() ? static_cast<int64_t>(value) : v.integer());
  char text[32];
  return {text, std::to_chars(text, std::end(text), value).ptr};
}

// True if `t` is an integer that elements of `dtype`, an integer type, cannot hold.
bool OverflowsInteger(const Tensor& t, DType dtype) {
  if (!t.impl()->weak_number || t.dtype() != DType::kI64 || !IsIntegral(dtype)) return false;
  const int64_t v = *reinterpret_cast<const int64_t*>(t.impl()->data);
  return VisitNumeric(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) return static_cast<int64_t>(static_cast<T>(v)) != v;
    return false;
  });
}

}  // namespace

DType ResultType(const Tensor& x, const Tensor& y) {
  const int gx = GroupOf(x), gy = GroupOf(y);
  if (gx == gy) return Promote(x.dtype(), y.dtype());
  const DType first = gx < gy ? x.dtype() : y.dtype();
  const DType second = gx < gy ? y.dtype() : x.dtype();
  return KindOf(second) > KindOf(first) ? Promote(first, second) : first;
}

absl::Status CheckHolds(const Number& v, DType dtype, std::string_view name) {
  // A value that is not a dtype, as in a damaged file, is reported later, when a tensor is made of
  // it.
  if (static_cast<int>(dtype) >= kNumDTypes || !IsIntegral(dtype)) return absl::OkStatus();
  const auto [least, largest] = VisitNumeric(dtype, []<class T>(TypeTag<T>) {
    if constexpr (!std::is_integral_v<T>)
      return std::pair<int64_t, int64_t>();
    else
      return std::pair<int64_t, int64_t>(std::numeric_limits<T>::min(),
                                         std::numeric_limits<T>::max());
  });
  if (Number(least) <= v && v <= Number(largest)) [[likely]]
    return absl::OkStatus();
  return InvalidArgument(name, " is ", TextOf(v), " (want ", least, " to ", largest,
                         ", the range of ", DTypeName(dtype), ")");
}

Tensor AsElement(const Tensor& value, DType dtype, Device device, std::string_view op,
                 const char* name) {
  CheckDefined(value, op, name);
  if (!value.impl()->weak_number) return AsDType(value, dtype, device);
  RaiseIfError(CheckHolds(NumberOf(value), dtype, name), op);
  const Tensor y = value.dtype() == dtype ? value : NumberAs(value, dtype);
  return y.device() == device ? y : NumberOn(y, device);
}

Tensor AsDType(const Tensor& x, DType dtype) {
  const bool number = x.defined() && x.impl()->weak_number && x.dtype() != dtype;
  return number && KindOf(dtype) >= KindOf(x.dtype()) ? NumberAs(x, dtype) : Cast(x, dtype);
}

Tensor AsDType(const Tensor& x, DType dtype, Device device) {
  const Tensor y = AsDType(x, dtype);
  const bool elsewhere = x.defined() && x.impl()->weak_number && x.device() != device;
  return elsewhere ? NumberOn(y, device) : y;
}

double NumberValue(const Tensor& t) {
  const TensorImpl& number = *t.impl();
  switch (number.spec.dtype) {
    case DType::kI64:
      return static_cast<double>(*reinterpret_cast<const int64_t*>(number.data));
    case DType::kBool:
      return *reinterpret_cast<const bool*>(number.data) ? 1 : 0;
    default:
      return number.number;
  }
}

Number NumberOf(const Tensor& t) {
  if (t.dtype() == DType::kI64) return *reinterpret_cast<const int64_t*>(t.impl()->data);
  return NumberValue(t);
}

Promoted PromoteOperands(const Tensor& x, const Tensor& y, std::string_view op, bool to_float) {
  if (!x.defined() || !y.defined()) {
    RaiseStatus(InvalidArgument(x.defined() ? "y" : "x", " is an undefined tensor"), op);
  }
  Promoted p(x, y);
  DType d = x.dtype() == y.dtype() ? x.dtype() : ResultType(x, y);
  if (to_float && !IsFloating(d)) d = kDefaultFloat;
  if (x.dtype() != d) p.converted_x_ = AsDType(x, d);
  if (y.dtype() != d) p.converted_y_ = AsDType(y, d);
  if (x.device() != y.device()) {  // a number goes to the device where it is needed
    if (y.impl()->weak_number) {
      p.converted_y_ = NumberOn(p.y(), x.device());
    } else if (x.impl()->weak_number) {
      p.converted_x_ = NumberOn(p.x(), y.device());
    }
  }
  return p;
}

Promoted PromoteCompared(const Tensor& x, const Tensor& y, std::string_view op) {
  const bool wide = x.defined() && y.defined() && x.dtype() != y.dtype() &&
                    (OverflowsInteger(x, y.dtype()) || OverflowsInteger(y, x.dtype()));
  if (!wide) return PromoteOperands(x, y, op);
  Promoted p(x, y);
  p.converted_x_ = AsDType(x, DType::kI64, y.device());
  p.converted_y_ = AsDType(y, DType::kI64, x.device());
  return p;
}

Tensor ApplyConverted(const OpDef& op, const Tensor& x, const Tensor& y, AttrsRef attrs,
                      bool to_float) {
  const Promoted p = PromoteOperands(x, y, op.name, to_float);
  return Apply1(op, {p.x(), p.y()}, attrs);
}

Tensor ApplyCompared(const OpDef& op, const Tensor& x, const Tensor& y) {
  if (x.defined() && y.defined() && x.dtype() == y.dtype()) return ApplyPromoted(op, x, y);
  const Promoted p = PromoteCompared(x, y, op.name);
  return Apply1(op, {p.x(), p.y()});
}

Tensor ApplyFloating(const OpDef& op, const Tensor& x, AttrsRef attrs) {
  if (x.defined() && !IsFloating(x.dtype())) return Apply1(op, {Cast(x, kDefaultFloat)}, attrs);
  return Apply1(op, {x}, attrs);
}

}  // namespace firn
