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

// The bytes that the operand's elements lie in.
struct Bytes {
  char *begin, *end;
};
Bytes BytesOf(const Operand& operand) {
  const TensorSpec& spec = *operand.spec;
  char* const first = static_cast<char*>(operand.data);
  if (spec.num_elements() == 0) return {first, first};
  OffsetRange reach{0, spec.num_elements() - 1};
  if (!spec.dense()) reach = ReachOf(spec.shape, spec.layout.strides);
  const int64_t size = SizeOf(spec.dtype);
  return {first + reach.low * size, first + (reach.high + 1) * size};
}

bool Overlap(const Operand& a, const Operand& b) {
  const Bytes x = BytesOf(a), y = BytesOf(b);
  return x.begin < y.end && y.begin < x.end;
}

// A tensor over memory of the graph's.
Tensor Borrowed(const Operand& operand) {
  if (operand.spec == nullptr || operand.data == nullptr) return Tensor();
  const Bytes bytes = BytesOf(operand);
  return WrapStorage(Storage::Borrow(bytes.begin, static_cast<size_t>(bytes.end - bytes.begin),
                                     operand.spec->device, /*release=*/nullptr),
                     operand.data, *operand.spec);
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
  return autograd::InBackward() ? Phase::kBackward : Phase::kForward;
}

std::string_view OperationCall::backward_of() const {
  const autograd::Node* node = frozen() ? nullptr : autograd::NodeInBackward();
  return node == nullptr ? std::string_view() : node->name();
}

const TensorSpec* OperationCall::input_spec(size_t i) const {
  if (i >= num_inputs()) return nullptr;
  return frozen() ? step_->in[i].spec : SpecOf(*in_[i]);
}

const TensorSpec* OperationCall::output_spec(size_t i) const {
  if (i >= num_outputs()) return nullptr;
  return frozen() ? step_->out[i].spec : SpecOf(out_[i]);
}

Tensor OperationCall::input(size_t i) const {
  if (i >= num_inputs()) return Tensor();
  return frozen() ? Borrowed(step_->in[i]) : *in_[i];
}

Tensor OperationCall::output(size_t i) const {
  if (i >= num_outputs()) return Tensor();
  return frozen() ? Borrowed(step_->out[i]) : out_[i];
}

bool OperationCall::overwrites(size_t i) const {
  const bool declared = i < op_.inputs.size() || op_.variadic();  // else it will be refused
  if (declared && Writes(op_, i)) return true;
  if (!frozen() || input_spec(i) == nullptr) return false;
  for (const Operand& out : step_->out) {
    if (Overlap(step_->in[i], out)) return true;
  }
  return false;
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
