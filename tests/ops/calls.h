#ifndef FIRN_TESTS_OPS_CALLS_H_
#define FIRN_TESTS_OPS_CALLS_H_

// What the suite checks, concrete calls of it, derived from its samples, and ways to run them.

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "firn/tensor/op.h"
#include "firn/tensor/tensor.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {

// The subject of a check: a declaration, and a way to call what it declares. An operation is called
// by Apply, a composite by the function that its samples name. Checks of a function's results take
// either; all others take the declaration. The operation or the composite must outlive it.
class Subject {
 public:
  Subject(const OpDef& op) : declaration_(&op) {}  // NOLINT: implicit
  static Subject Composite(const Samples& samples);

  bool composite() const { return function_ != nullptr; }
  const OpDef* operator->() const { return declaration_; }
  operator const OpDef&() const { return *declaration_; }  // NOLINT: implicit
  // Whether gradients flow through it.
  bool differentiable() const;
  // The declaration of result i, also of one in a list.
  const ArgDecl& output(size_t i) const;

  TensorList operator()(const std::vector<Tensor>& inputs, AttrsRef attrs) const;

 private:
  const OpDef* declaration_;
  const TestedFunction* function_ = nullptr;
};

struct Call {
  std::string name;  // "a scalar, f16, transposed": for messages
  std::vector<Tensor> inputs;
  Attrs attrs;
};

// The declaration of input i, also of one in a variadic tail.
const ArgDecl& DeclOf(const OpDef& op, size_t i);

// The sample in every dtype that the operation declares: floating inputs in each floating dtype
// that all of them allow, integer inputs in each integer dtype that holds their values, and half
// types also beside wide inputs where they may be. All inputs are contiguous and own their memory.
std::vector<Call> DTypeVariants(const OpDef& op, const Sample& sample);

// The call as it stands when its floating inputs may be f64 (what gradient checks need).
std::optional<Call> InF64(const OpDef& op, const Sample& sample);

// Which inputs' gradients are owed.
std::vector<size_t> WantedGradients(const OpDef& op, const Sample& sample);

struct LayoutVariant {
  Call call;
  Call plain;  // the same values, all contiguous
};
// The call with inputs that are transposed views, slices with gaps, expanded with stride 0, in
// blocks of channels, or NHWC. Inputs that are written in place stay as they are.
std::vector<LayoutVariant> LayoutVariants(const OpDef& op, const Call& call);

// A row-major copy with its own storage; undefined stays undefined.
Tensor CopyOf(const Tensor& t);
std::vector<Tensor> CopiesOf(const std::vector<Tensor>& tensors);
// The same values behind other strides.
Tensor Transposed(const Tensor& t);
Tensor WithGaps(const Tensor& t);
// Constant along its first dimension larger than 1, with stride 0 there.
Tensor Expanded(const Tensor& t);

struct Outcome {
  absl::Status status;
  std::string error;            // what() when it threw
  std::vector<Tensor> results;  // new values of the inout inputs, then the outputs
  std::vector<Tensor> outputs() const;
  size_t num_inout = 0;
};
// Runs the call without recording, on copies of the inputs that are written in place.
Outcome Run(const Subject& subject, const Call& call);

// The operation with one of its kernels only.
OpDef WithKernel(const OpDef& op, const Kernel& kernel);

std::vector<TensorRef> RefsOf(const std::vector<Tensor>& tensors);
std::vector<RefTensor> ReferenceInputs(const std::vector<Tensor>& inputs);

}  // namespace firn::testing

#endif  // FIRN_TESTS_OPS_CALLS_H_
