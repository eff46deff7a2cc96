// Brings the two places where operations run, Apply and the executor, under one interface.
//
// Tensors of a step are made when somebody asks for them: the executor has addresses only.

#include "autograd/observe.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "autograd/tape/sweep.h"
#include "device/status_macros.h"
#include "tensor/error.h"

namespace firn {
namespace {

// While one lives, operations on this thread are an observer's own.
class Unobserved {
 public:
  Unobserved() : observer_(std::exchange(ThisThread().observer, nullptr)) {}
  ~Unobserved() {
    ExecutionObserverScope::Exchange(executions_);
    ThisThread().observer = observer_;
  }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  ApplyObserver* observer_;
  ExecutionObserverScope* executions_ = ExecutionObserverScope::Exchange(nullptr);
  NoGradScope no_grad_;
  NoCaptureScope no_capture_;
};

template <class F>
absl::Status Aside(F f) {
  const Unobserved scope;
  return f();
}

const TensorSpec* SpecOf(const Tensor& t) { return t.defined() ? &t.spec() : nullptr; }

// A tensor over memory of the graph's.
Tensor Borrowed(const Operand& operand) {
  if (operand.spec == nullptr || operand.data == nullptr) return Tensor();
  const TensorSpec& spec = *operand.spec;
  OffsetRange reach{0, spec.num_elements() - 1};
  if (!spec.dense()) reach = ReachOf(spec.shape, spec.layout.strides);
  const int64_t size = SizeOf(spec.dtype);
  const int64_t bytes = spec.num_elements() == 0 ? 0 : (reach.high - reach.low + 1) * size;
  char* const first = static_cast<char*>(operand.data) + reach.low * size;
  return WrapStorage(
      Storage::Borrow(first, static_cast<size_t>(bytes), spec.device, /*release=*/nullptr),
      operand.data, spec);
}

absl::Status Named(const char* name, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

[[noreturn]] void Raise(const char* name, const absl::Status& status) {
  const PathScope no_path(nullptr);  // the message names it
  RaiseStatus(status, name);
}

}  // namespace

const std::string& OperationCall::path() const {
  static const std::string* none = new std::string;
  const std::string* path = frozen() ? step_->instr.path : PathScope::Interned();
  return path == nullptr || path->empty() ? *none : *path;
}

Phase OperationCall::phase() const {
  if (frozen()) return step_->instr.phase;
  return autograd::NodeInBackward() == nullptr ? Phase::kForward : Phase::kBackward;
}

std::string_view OperationCall::backward_of() const {
  const autograd::Node* node = frozen() ? nullptr : autograd::NodeInBackward();
  return node == nullptr ? std::string_view() : node->name();
}

const TensorSpec* OperationCall::input_spec(size_t i) const {
  return frozen() ? step_->in[i].spec : SpecOf(*in_[i]);
}

const TensorSpec* OperationCall::output_spec(size_t i) const {
  return frozen() ? step_->out[i].spec : SpecOf(out_[i]);
}

Tensor OperationCall::input(size_t i) const { return frozen() ? Borrowed(step_->in[i]) : *in_[i]; }

Tensor OperationCall::output(size_t i) const {
  return frozen() ? Borrowed(step_->out[i]) : out_[i];
}

OperationObserver::OperationObserver(const char* name)
    : name_(name), outer_(ThisThread().observer), execution_(this) {
  ThisThread().observer = this;
}

OperationObserver::~OperationObserver() { ThisThread().observer = outer_; }

void OperationObserver::BeforeApply(const OpDef& op, absl::Span<const TensorRef> in,
                                    AttrsRef attrs) {
  if (outer_ != nullptr) outer_->BeforeApply(op, in, attrs);
  const absl::Status status = Aside([&] { return Before({op, in, attrs, {}}); });
  if (!status.ok()) Raise(name_, status);
}

void OperationObserver::AfterApply(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                                   absl::Span<const Tensor> out) {
  const absl::Status status = Aside([&] { return After({op, in, attrs, out}); });
  if (!status.ok()) Raise(name_, status);
  if (outer_ != nullptr) outer_->AfterApply(op, in, attrs, out);
}

absl::Status OperationObserver::BeforeStep(const ExecutionStep& step) {
  return Named(name_, Aside([&] { return Before(OperationCall(step)); }));
}

absl::Status OperationObserver::AfterStep(const ExecutionStep& step) {
  return Named(name_, Aside([&] { return After(OperationCall(step)); }));
}

}  // namespace firn
