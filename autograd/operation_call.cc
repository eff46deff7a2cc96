// Tensors of a step are made when somebody asks for them: the executor has addresses only.

#include "firn/autograd/operation_call.h"

#include <utility>

#include "firn/autograd/graph/execution_observer.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/tape/sweep.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/storage.h"

namespace firn {
namespace {

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

}  // namespace

OperationCall::OperationCall(const ExecutionStep& step)
    : op_(*step.instr.op), attrs_(step.instr.attrs.ref()), step_(&step) {}

std::string_view OperationCall::name() const { return op_.name; }

size_t OperationCall::num_inputs() const { return frozen() ? step_->in.size() : in_.size(); }

size_t OperationCall::num_outputs() const { return frozen() ? step_->out.size() : out_.size(); }

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
  if (declared && op_.writes(i)) return true;
  if (!frozen() || input_spec(i) == nullptr) return false;
  for (const Operand& out : step_->out) {
    if (Overlap(step_->in[i], out)) return true;
  }
  return false;
}

}  // namespace firn
