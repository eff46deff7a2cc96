#ifndef FIRN_TENSOR_KERNEL_H_
#define FIRN_TENSOR_KERNEL_H_

// What a kernel is asked about a call, what it answers, and what it runs on. Its operation is
// declared by tensor/op.h.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "firn/device/device.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/spec.h"

namespace firn {
class Stream;
}  // namespace firn

namespace firn::inner {

// A tensor's memory and description, as a kernel sees it.
struct Operand {
  void* data = nullptr;  // null: an optional input that is not there
  const TensorSpec* spec = nullptr;
};

// What a kernel reads and writes. It neither allocates nor synchronises; only those of collective
// operations (OpDef::collective) may wait for other ranks.
class KernelContext {
 public:
  KernelContext(absl::Span<const Operand> in, absl::Span<const Operand> out, AttrsRef attrs,
                void* workspace, bool alike = false)
      : in_(in), out_(out), attrs_(attrs), workspace_(workspace), alike_(alike) {}

  int num_inputs() const { return static_cast<int>(in_.size()); }
  int num_outputs() const { return static_cast<int>(out_.size()); }
  bool has(int i) const { return i < num_inputs() && in_[static_cast<size_t>(i)].spec != nullptr; }
  const TensorSpec& in_spec(int i) const { return *in_[static_cast<size_t>(i)].spec; }
  const TensorSpec& out_spec(int i = 0) const { return *out_[static_cast<size_t>(i)].spec; }
  // The first given one of these inputs. Requires: one is given.
  DType dtype_of_first(std::initializer_list<int> inputs) const {
    return in_spec(*std::find_if(inputs.begin(), inputs.end(), [&](int i) { return has(i); }))
        .dtype;
  }
  // Null for an absent optional input.
  template <class T>
  const T* in(int i) const {
    return has(i) ? static_cast<const T*>(in_[static_cast<size_t>(i)].data) : nullptr;
  }
  template <class T>
  T* out(int i = 0) const {
    return static_cast<T*>(out_[static_cast<size_t>(i)].data);
  }
  // An input declared inout.
  template <class T>
  T* inout(int i) const {
    return has(i) ? static_cast<T*>(in_[static_cast<size_t>(i)].data) : nullptr;
  }
  template <class T>
  const T& attrs() const {
    return attrs_.get<T>();
  }
  AttrsRef attrs_ref() const { return attrs_; }
  // 64-byte aligned, as large as the kernel's `workspace` function said.
  template <class T = void>
  T* workspace() const {
    return static_cast<T*>(workspace_);
  }
  // True if all operands are known to be of one shape and dtype, dense in one layout; false says
  // nothing.
  bool alike() const { return alike_; }
  // The T that `prepare` left in Prepared::state. Requires: a kernel whose `prepare` leaves a T
  // there.
  template <class T>
  const T& state() const {
    return *static_cast<const T*>(state_);
  }
  void set_state(const void* state) { state_ = state; }
  // The queue that the kernel's work goes to; null: the device's own (DeviceContext::stream).
  Stream* stream() const { return stream_; }
  void set_stream(Stream* stream) { stream_ = stream; }
  absl::Span<const Operand> operands_in() const { return in_; }
  absl::Span<const Operand> operands_out() const { return out_; }

 private:
  absl::Span<const Operand> in_, out_;
  AttrsRef attrs_;
  void* workspace_;
  const void* state_ = nullptr;
  Stream* stream_ = nullptr;
  bool alike_;
};

// What a kernel is asked about: specs of inputs (null when absent) and outputs.
class KernelQuery {
 public:
  KernelQuery(absl::Span<const TensorSpec* const> in, absl::Span<const TensorSpec> out,
              AttrsRef attrs)
      : in_(in), out_(out), attrs_(attrs) {}
  int num_inputs() const { return static_cast<int>(in_.size()); }
  int num_outputs() const { return static_cast<int>(out_.size()); }
  bool has(int i) const { return i < num_inputs() && in_[static_cast<size_t>(i)] != nullptr; }
  const TensorSpec& in(int i) const { return *in_[static_cast<size_t>(i)]; }
  const TensorSpec& out(int i = 0) const { return out_[static_cast<size_t>(i)]; }
  template <class T>
  const T& attrs() const {
    return attrs_.get<T>();
  }
  AttrsRef attrs_ref() const { return attrs_; }

 private:
  absl::Span<const TensorSpec* const> in_;
  absl::Span<const TensorSpec> out_;
  AttrsRef attrs_;
};

// The layouts a kernel asks for: a channel block per input and output, 0 for none: contiguous, or
// for inputs strided too, if that is what the kernel takes.
struct LayoutRequest {
  absl::InlinedVector<int32_t, 8> in, out;
};

// Which layouts a kernel takes where no `layouts` function asks for blocks. Apply reorders operands
// in other layouts.
enum class Takes : uint8_t {
  kContiguous,  // row-major inputs and outputs
  kStrided,     // any strides; outputs contiguous
  // Element by element: blocked inputs of one shape pass as they are beside inputs of a single
  // element, row-major ones among them are brought into their layout, and the outputs get it too;
  // otherwise like kStrided.
  kElementwise,
  kAny,  // inputs as they are, strided or blocked; outputs contiguous
};

struct Kernel;

// A kernel's answer about one call: what the call needs, found out once. Apply asks, runs and
// forgets it; a compiled graph keeps it for all its runs.
struct Prepared {
  const Kernel* kernel = nullptr;
  bool as_is = true;      // operands stay as they are and results are as inferred: no `layouts`
  LayoutRequest layouts;  // of every operand, if not as_is
  size_t workspace = 0;   // bytes
  absl::Status (*run)(KernelContext&) = nullptr;
  std::shared_ptr<const void> state;  // `run` finds it in KernelContext::state
};

struct Kernel {
  std::string_view name;  // "winograd", "onednn", "loop"
  DeviceType device = DeviceType::kCpu;
  // The answer of most kernels, in parts that have nothing to do with each other.
  absl::Status (*supports)(const KernelQuery&) = nullptr;  // null: everything; else OK or why not
  size_t (*workspace)(const KernelQuery&) = nullptr;       // bytes; null: none. Sees arranged specs
  void (*layouts)(const KernelQuery&, LayoutRequest&) = nullptr;  // null: `takes` decides
  absl::Status (*run)(KernelContext&) = nullptr;
  // The whole answer, for kernels that compute one thing for all parts, such as a convolution's
  // primitive: OK, or why it does not take the call. Sees specs as they come, and sets `layouts`
  // (which has room for every operand, zeros), `workspace` and `state`; of the parts above only
  // `run` counts.
  absl::Status (*prepare)(const KernelQuery&, Prepared&) = nullptr;
  Takes takes = Takes::kContiguous;
  bool deterministic = true;
  bool graph_capturable = true;
};

// `kernel` for each device, for a kernel that calls functions which work on all devices.
inline std::vector<Kernel> OnEveryDevice(Kernel kernel) {
  std::vector<Kernel> kernels = {kernel, kernel};
  kernels[1].device = DeviceType::kCuda;
  return kernels;
}

}  // namespace firn::inner

#endif  // FIRN_TENSOR_KERNEL_H_
