// Reading elements on the host: always row-major, whatever the layout and the device.

#include <vector>

#include "device/status_macros.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "tensor/pending.h"
#include "tensor/reorder.h"
#include "tensor/tensor.h"

namespace firn {

const void* Tensor::HostData(DType want, bool write) const {
  if (!defined()) RaiseStatus(InvalidArgument("the tensor is undefined"), "host_view");
  if (IsPending(*this)) RaiseStatus(PendingError(*this), "host_view");
  const TensorSpec& s = spec();
  if (s.dtype != want) {
    RaiseStatus(InvalidArgument("asked for ", Name(want), " elements of ", s.ToString()),
                "host_view");
  }
  if (s.device.type != DeviceType::kCpu) {
    RaiseStatus(
        FailedPrecondition("elements lie on ", s.device.ToString(), "; use To(Device::Cpu())"),
        "host_view");
  }
  if (ThisThread().capture != nullptr) {
    RaiseIfError(ThisThread().capture->OnHostRead(*this), "host_view");
  }
  RaiseIfError(LayOutRowMajor(*this), "host_view");  // the order that the caller expects
  if (!impl_->spec.layout.contiguous) {
    RaiseStatus(
        FailedPrecondition("the tensor is not contiguous (", s.ToString(), "); use Contiguous()"),
        "host_view");
  }
  if (write) impl_->storage->BumpVersion();
  return impl_->data;
}

namespace {

Tensor OnHost(const Tensor& t, const char* what) {
  if (!t.defined()) RaiseStatus(InvalidArgument("the tensor is undefined"), what);
  if (IsPending(t)) RaiseStatus(PendingError(t), what);
  if (ThisThread().capture != nullptr) {
    RaiseIfError(ThisThread().capture->OnHostRead(t), what);
  }
  NoGradScope no_grad;
  const Tensor here = t.device().type == DeviceType::kCpu ? t : t.To(Device::Cpu());
  absl::StatusOr<Tensor> plain = Reordered(here, 0);
  RaiseIfError(plain.status(), what);
  return *std::move(plain);
}

}  // namespace

template <class T>
std::vector<T> Tensor::ToVector() const {
  const Tensor plain = OnHost(*this, "to_vector");
  std::vector<T> values(static_cast<size_t>(num_elements()));
  VisitDType(dtype(), [&]<class From>(TypeTag<From>) {
    const From* from = reinterpret_cast<const From*>(plain.impl()->data);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(from[i]);
  });
  return values;
}
template std::vector<float> Tensor::ToVector<float>() const;
template std::vector<double> Tensor::ToVector<double>() const;
template std::vector<int32_t> Tensor::ToVector<int32_t>() const;
template std::vector<int64_t> Tensor::ToVector<int64_t>() const;
template std::vector<uint8_t> Tensor::ToVector<uint8_t>() const;

double Tensor::ItemAsDouble() const {
  const Tensor plain = OnHost(*this, "item");
  if (num_elements() != 1) {
    RaiseStatus(InvalidArgument("wants exactly one element, got ", spec().ToString()), "item");
  }
  return VisitDType(dtype(), [&]<class T>(TypeTag<T>) {
    return static_cast<double>(*reinterpret_cast<const T*>(plain.impl()->data));
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
