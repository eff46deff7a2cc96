// Reading elements on the host: always row-major, whatever the layout and the device.

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/pending.h"
#include "firn/tensor/reorder.h"
#include "firn/tensor/storage.h"
#include "firn/tensor/tensor.h"

namespace firn {

absl::Status inner::CheckHostRead(const Tensor& t) {
  CaptureRecorder* const capture = ThisThread().capture;
  return capture == nullptr ? absl::OkStatus() : capture->OnHostRead(t);
}

const void* Tensor::HostData(DType want, bool write) const {
  if (!defined()) RaiseStatus(InvalidArgument("the tensor is undefined"), "host_view");
  if (IsPending(*this)) RaiseStatus(PendingError(*this), "host_view");
  const TensorSpec& s = spec();
  if (s.dtype != want) {
    RaiseStatus(InvalidArgument("asked for ", DTypeName(want), " elements of ", s.ToString()),
                "host_view");
  }
  if (s.device.type != DeviceType::kCpu) {
    RaiseStatus(
        FailedPrecondition("elements lie on ", s.device.ToString(), "; use To(Device::Cpu())"),
        "host_view");
  }
  RaiseIfError(CheckHostRead(*this), "host_view");
  RaiseIfError(LayOutRowMajor(*this), "host_view");  // the order that the caller expects
  if (!impl_->spec.layout.contiguous) {
    RaiseStatus(
        FailedPrecondition("the tensor is not contiguous (", s.ToString(), "); use Contiguous()"),
        "host_view");
  }
  if (write) {
    impl_->storage->BumpVersion();
    impl_->weak_number = false;  // it may no longer be the number that it was made from
  }
  return impl_->data;
}

namespace {

Tensor OnHost(const Tensor& t, const char* what) {
  if (!t.defined()) RaiseStatus(InvalidArgument("the tensor is undefined"), what);
  if (IsPending(t)) RaiseStatus(PendingError(t), what);
  RaiseIfError(CheckHostRead(t), what);
  NoGradScope no_grad;
  const Tensor here = t.device().type == DeviceType::kCpu ? t : t.To(Device::Cpu());
  absl::StatusOr<Tensor> plain = Reordered(here, 0);
  RaiseIfError(plain.status(), what);
  return *std::move(plain);
}

// Calls f with the type that `type` describes.
template <class F>
void VisitNumberType(internal::NumberType type, F f) {
  using internal::NumberKind;
  const auto by_size = [&]<class A, class B, class C, class D>(TypeTag<A>, TypeTag<B>, TypeTag<C>,
                                                               TypeTag<D>) {
    switch (type.bytes) {
      case 1:
        return f(TypeTag<A>{});
      case 2:
        return f(TypeTag<B>{});
      case 4:
        return f(TypeTag<C>{});
      default:
        return f(TypeTag<D>{});
    }
  };
  switch (type.kind) {
    case NumberKind::kBool:
      return f(TypeTag<bool>{});
    case NumberKind::kSigned:
      return by_size(TypeTag<int8_t>{}, TypeTag<int16_t>{}, TypeTag<int32_t>{}, TypeTag<int64_t>{});
    case NumberKind::kUnsigned:
      return by_size(TypeTag<uint8_t>{}, TypeTag<uint16_t>{}, TypeTag<uint32_t>{},
                     TypeTag<uint64_t>{});
    case NumberKind::kFloat:
      if (type.bytes == sizeof(float)) return f(TypeTag<float>{});
      if (type.bytes == sizeof(double)) return f(TypeTag<double>{});
      return f(TypeTag<long double>{});
  }
}

// Whether static_cast<To>(v) is defined and gives v, apart from a lost fraction or rounding.
template <class To, class From>
bool Holds(From v) {
  if constexpr (std::is_same_v<To, bool> || std::is_floating_point_v<To>) {
    return true;
  } else if constexpr (std::is_same_v<From, bool>) {
    return true;
  } else if constexpr (std::is_integral_v<From>) {
    return std::in_range<To>(v);
  } else {
    // The range of To is [low, high); both are powers of two, and so exact.
    const double high = std::ldexp(1.0, std::numeric_limits<To>::digits);
    const double low = std::is_signed_v<To> ? -high : 0.0;
    const double whole = std::trunc(static_cast<double>(v));
    return whole >= low && whole < high;  // NaN is not
  }
}

template <class To, class From>
To NumberAs(From v) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return static_cast<To>(static_cast<float>(v));
  } else {
    return static_cast<To>(v);
  }
}

}  // namespace

void Tensor::CopyNumbers(internal::NumberType to, void* out, int64_t count,
                         const char* what) const {
  const Tensor plain = OnHost(*this, what);
  if (num_elements() != count) {
    RaiseStatus(InvalidArgument("wants exactly one element, got ", spec().ToString()), what);
  }
  VisitDType(dtype(), [&]<class From>(TypeTag<From>) {
    VisitNumberType(to, [&]<class To>(TypeTag<To>) {
      const From* from = reinterpret_cast<const From*>(plain.impl()->data);
      To* values = static_cast<To*>(out);
      for (int64_t i = 0; i < count; ++i) {
        if (!Holds<To>(from[i])) [[unlikely]] {
          RaiseStatus(OutOfRange("element ", i, " is ", NumberAs<double>(from[i]),
                                 ", which does not fit into ",
                                 std::is_signed_v<To> ? "a signed" : "an unsigned", " integer of ",
                                 8 * sizeof(To), " bits"),
                      what);
        }
        values[i] = NumberAs<To>(from[i]);
      }
    });
  });
}

bool Tensor::Equals(const Tensor& other) const {
  if (!defined() || !other.defined()) return defined() == other.defined();
  if (shape() != other.shape() || dtype() != other.dtype()) return false;
  const Tensor a = OnHost(*this, "equals"), b = OnHost(other, "equals");
  return VisitDType(dtype(), [&]<class T>(TypeTag<T>) {
    const T* x = reinterpret_cast<const T*>(a.impl()->data);
    const T* y = reinterpret_cast<const T*>(b.impl()->data);
    for (int64_t i = 0; i < num_elements(); ++i) {
      if (!(x[i] == y[i])) return false;
    }
    return true;
  });
}

}  // namespace firn
