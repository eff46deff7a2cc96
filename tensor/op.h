#ifndef FIRN_TENSOR_OP_H_
#define FIRN_TENSOR_OP_H_

// An operation is a value, OpDef: what it takes, the shape rule, the gradient rule and the kernels.
// Apply (tensor/apply.h) is the only caller. See tensor/ops/README.md for how to write one.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/device/device.h"
#include "firn/device/macros.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/kernel.h"
#include "firn/tensor/spec.h"
#include "firn/tensor/tensor.h"

namespace firn::inner {

struct OpDef;
struct GraphTraits;

// One argument or result in an operation's declaration. Apply checks calls against it, so a kernel
// sees only what was declared.
struct ArgDecl {
  std::string_view name;
  DTypeSet dtypes = kAnyDType;
  std::string_view same_dtype_as = {};  // an earlier input
  bool wide = false;                    // has the ComputeDType of that one
  bool or_wide = false;                 // has its dtype or its ComputeDType; all such inputs alike
  int min_rank = 0;
  int max_rank = kMaxRank;
  bool optional = false;  // an undefined tensor may stand here
  bool inout = false;     // written in place; must not need a gradient while recording
  // The last input, or the last ones: given one or more times, together and in this order.
  bool variadic = false;
  bool constant = false;  // results only: no gradient flows back from it
  int same_as = -1;       // filled in at registration: the position of same_dtype_as
};

// The values allowed in an integer input, checked before any kernel runs.
struct IndexBounds {
  int64_t low, high;            // low <= value < high
  int64_t ignored = INT64_MIN;  // this value is allowed too (ignore_index)
};

// What a shape rule reads and sets. Inputs are as given by the caller (any layout).
class InferContext {
 public:
  InferContext(absl::Span<const TensorRef> in, AttrsRef attrs, absl::Span<TensorSpec> out)
      : in_(in), attrs_(attrs), out_(out) {}

  int num_inputs() const { return static_cast<int>(in_.size()); }
  bool has(int i) const { return i < num_inputs() && in_[static_cast<size_t>(i)].defined(); }
  const TensorSpec& in(int i) const { return in_[static_cast<size_t>(i)].spec(); }
  const Shape& shape(int i) const { return in(i).shape; }
  DType dtype(int i) const { return in(i).dtype; }
  template <class T>
  const T& attrs() const {
    return attrs_.get<T>();
  }
  AttrsRef attrs_ref() const { return attrs_; }
  // The device of the inputs (set by Apply); operations without inputs take it from their attrs.
  Device device;

  // Result i is dense; which layout exactly is the kernel's choice.
  void set_out(int i, DType dtype, const Shape& shape) {
    out_[static_cast<size_t>(i)] = TensorSpec::Contiguous(dtype, shape, device);
  }
  // Result i is dense with its channels in blocks (0: row-major), whatever the kernel.
  void set_out_blocked(int i, DType dtype, const Shape& shape, int block) {
    out_[static_cast<size_t>(i)] = TensorSpec::Blocked(dtype, shape, device, block);
  }
  // Result i is a dense tensor of input j's dtype and shape.
  void set_out_like(int i, int j) { set_out(i, dtype(j), shape(j)); }
  // For view operations: result 0 shares input 0's storage, `offset` elements after its first.
  void set_view(const Shape& shape, const Dims& strides, int64_t offset) {
    out_[0] = TensorSpec::Strided(in(0).dtype, shape, device, strides);
    view_offset = offset;
  }
  int64_t view_offset = 0;

 private:
  absl::Span<const TensorRef> in_;
  AttrsRef attrs_;
  absl::Span<TensorSpec> out_;
};
using InferFn = absl::Status (*)(InferContext&);

// The values of the forward run that the gradient rule needs.
struct Saved {
  enum Kind : uint8_t { kInput, kOutput } kind;
  int index;
  static constexpr Saved Input(int i) { return {kInput, i}; }
  static constexpr Saved Output(int i) { return {kOutput, i}; }
};

// Output `output` may be written over input `input`'s buffer at that input's last use.
struct Reuse {
  int output, input;
};

// What a gradient rule reads and sets. The rule computes with operations only, so that it can be
// recorded, captured and differentiated again.
class GradContext {
 public:
  virtual ~GradContext() = default;
  template <class T>
  const T& attrs() const {
    return attrs_.get<T>();
  }
  int num_inputs() const { return num_inputs_; }
  // True when the gradient of input i is wanted; rules skip the others.
  virtual bool needs(int i) const = 0;
  // dLoss / dOutput i; zeros when nothing flowed into it.
  virtual const Tensor& grad_output(int i = 0) = 0;
  virtual bool has_grad_output(int i) const = 0;
  // Saved values. Requires: declared in `saves`. An absent optional input is undefined.
  virtual const Tensor& input(int i) = 0;
  virtual const Tensor& output(int i) = 0;
  // dtype, shape and device of an input; only for inputs with needs(i).
  virtual const TensorSpec& input_spec(int i) const = 0;
  const Shape& input_shape(int i) const { return input_spec(i).shape; }
  // dLoss / dInput i. A gradient that is larger than the input because the input was broadcast is
  // summed to its shape here.
  virtual void set_grad_input(int i, Tensor grad) = 0;

 protected:
  GradContext(AttrsRef attrs, int num_inputs) : attrs_(attrs), num_inputs_(num_inputs) {}
  AttrsRef attrs_;
  int num_inputs_;
};
using GradFn = void (*)(GradContext&);

// What an AutocastScope (tensor/autocast.h) does with an operation's floating inputs.
enum class Autocast : uint8_t {
  kNone,  // nothing
  kLow,   // f32 goes to the scope's dtype: products and convolutions
  kFull,  // f16 and bf16 go to f32: sums of many numbers, or a wide range
};

// Says that each element of the result is a function of the same element of every input. For most
// operations the declarations of tensor/kernels/cpu/elementwise_ops.h set it. Graphs fuse such
// operations into rows, computed a tile at a time (CPU) or compiled to one kernel (CUDA), and may
// compute them again instead of keeping a result.
struct Elementwise {
  enum class Kind : uint8_t {
    kNone,
    kComputed,   // functor(x...) on each input's ComputeOf type, rounded to the result's dtype
    kMoved,      // functor(x...) on the elements as they are
    kConverted,  // the input as the result's dtype; no functor
  };
  Kind kind = Kind::kNone;
  const std::type_info* functor = nullptr;  // a type of some *_fn.h, which devices compile as text
  size_t bytes = 0;                         // of the functor; 0: it has no state
  // Makes the functor of a call at `to`, which has room for it and is aligned to 16 bytes. The
  // call's operands have no memory yet. If null, functor().
  void (*make)(const KernelContext& call, void* to) = nullptr;
  int absent = -1;  // the input that replaces missing ones

  explicit operator bool() const { return kind != Kind::kNone; }
};

struct OpDef {
  std::string_view name = {};  // that of FIRN_REGISTER_OP, which fills it in
  std::string_view doc;
  Autocast autocast = Autocast::kNone;
  std::vector<ArgDecl> inputs = {};
  std::vector<ArgDecl> outputs = {};  // min_rank/max_rank/optional are not used
  const AttrsType* attrs = nullptr;
  InferFn infer = nullptr;
  GradFn grad = nullptr;  // null: not differentiable, and `doc` says so
  std::vector<Saved> saves = {};
  std::vector<Reuse> may_reuse = {};
  bool is_view = false;  // output 0 shares input 0's storage; no kernels
  bool random = false;   // draws numbers: never folded or merged
  // Ranks (device/comm) call it together, each as often and in the same order as the others;
  // otherwise all of them wait for ever. So no pass drops such a call, adds one, or swaps two, and
  // it runs even if it has no elements. Its kernels may wait for other ranks.
  bool collective = false;
  // Allowed values of integer input i; {INT64_MIN, INT64_MAX} allows all. The function is null
  // where no input holds indices.
  absl::StatusOr<IndexBounds> (*index_bounds)(const KernelQuery&, int i) = nullptr;
  std::vector<int> index_inputs = {};  // inputs that index_bounds speaks of
  std::vector<Kernel> kernels = {};    // preference order; a device's reference "loop" comes last
  Elementwise elementwise = {};
  const GraphTraits* graph = nullptr;  // tensor/graph_traits.h; null: no traits

  // Filled in at registration.
  bool any_inout = false;
  size_t cycle = 0;  // how many inputs are variadic
  // Inputs of one contiguous spec with one of these dtypes need no further checks, and the result
  // has that spec too: the usual call of an elementwise operation. 0: never.
  DTypeSet alike = 0;
  uint32_t alike_inputs = 0;  // how many inputs such a call has; 0: there are none, or too many

  bool variadic() const { return cycle != 0; }
  // Whether a call does nothing but compute its results, from its arguments only: it may be
  // dropped, or repeated, where that gives the same.
  bool pure() const { return !random && !collective && !any_inout; }
  // The declaration of input i of a call. Requires: i < inputs.size(), or variadic().
  const ArgDecl& input(size_t i) const {
    return i < inputs.size() ? inputs[i] : inputs[i - Repetition(i) * cycle];
  }
  // Whether it writes into input i of a call. Requires: that of input(i).
  bool writes(size_t i) const { return any_inout && input(i).inout; }
  // The repetition of the variadic inputs to which input i belongs, from 0; 0 for all others.
  size_t Repetition(size_t i) const {
    return i < inputs.size() ? 0 : (i + cycle - inputs.size()) / cycle;
  }
};

// Results that an operation may have.
inline constexpr size_t kMaxOutputs = 8;
// Inputs that a call may have for OpDef::alike to count.
inline constexpr size_t kMaxAlike = 3;

inline OpDef InFullPrecision(OpDef op) {
  op.autocast = Autocast::kFull;
  return op;
}

// The registry. Thread-safe; an operation that one of these functions has returned never changes,
// so calls take no lock. Registration runs before main() and cannot throw: an operation whose
// declaration makes no sense is refused, and looking it up gives the error.

// The operation of that name. Throws firn::Error with WhyNoOp where there is none.
const OpDef& Op(std::string_view name);

// A name as a template argument: TheOp<"add">().
template <size_t kSize>
struct OpName {
  char text[kSize];
  consteval OpName(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }
  constexpr std::string_view view() const { return {text, kSize - 1}; }
};
// Like Op, looked up at the first call only.
template <OpName kName>
const OpDef& TheOp() {
  static const OpDef& op = Op(kName.view());
  return op;
}

// Returns null where there is none.
const OpDef* FindOp(std::string_view name);
// The error for a name for which FindOp returns null. NotFound: not linked in, and what
// was probably meant; FailedPrecondition: "operation my_op was refused: it has no shape rule".
absl::Status WhyNoOp(std::string_view name);
// Every operation, by name, without those refused.
std::vector<const OpDef*> AllOps();
// WhyNoOp of each operation that was refused.
std::vector<absl::Status> RefusedOps();

// The objects that FIRN_REGISTER_OP and FIRN_REGISTER_KERNELS make. The order of files does not
// matter; in a library that is opened later, kernels of an operation come too late if the operation
// has been looked up before.
struct OpRegistration {
  OpRegistration(std::string_view stem, OpDef def);
};
struct KernelRegistration {
  KernelRegistration(std::string_view op, std::vector<Kernel> kernels);
};
// FIRN_REGISTER_OP(exp) { return {.doc = "e to the power x.", ...}; }
#define FIRN_REGISTER_OP(stem)                                                   \
  static ::firn::inner::OpDef FirnDefine_##stem();                               \
  FIRN_BEFORE_GLOBALS static const ::firn::inner::OpRegistration firn_op_##stem( \
      #stem, FirnDefine_##stem());                                               \
  static ::firn::inner::OpDef FirnDefine_##stem()
// FIRN_REGISTER_KERNELS(exp) { return {{.name = "loop", .device = DeviceType::kCuda, ...}}; }
#define FIRN_REGISTER_KERNELS(stem)                                                       \
  static std::vector<::firn::inner::Kernel> FirnKernels_##stem();                         \
  FIRN_BEFORE_GLOBALS static const ::firn::inner::KernelRegistration firn_kernels_##stem( \
      #stem, FirnKernels_##stem());                                                       \
  static std::vector<::firn::inner::Kernel> FirnKernels_##stem()

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OP_H_
