// What Apply refuses before a kernel is chosen.

#include "firn/tensor/internal/apply_checks.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/internal/index_values.h"
#include "firn/tensor/internal/kernel_functions.h"
#include "firn/tensor/pending.h"
#include "firn/tensor/reorder.h"

namespace firn::inner::internal {
namespace {

absl::Status BadDType(const ArgDecl& decl, const TensorSpec& spec) {
  return InvalidArgument(decl.name, " must be ", DTypeNames(decl.dtypes), ", got ",
                         spec.ToString());
}

// The dtype that goes with that of decl.same_dtype_as.
DType Wanted(const ArgDecl& decl, const TensorSpec& other) {
  return decl.wide ? ComputeDType(other.dtype) : other.dtype;
}

bool GoesWith(const ArgDecl& decl, DType dtype, const TensorSpec& other) {
  return dtype == Wanted(decl, other) || (decl.or_wide && dtype == ComputeDType(other.dtype));
}

constexpr const char* kRemedy = ": convert one with To(...)";

// The message blames neither dtype: the second is as often right as the first.
absl::Status Unequal(std::string_view a, const TensorSpec& of_a, std::string_view b,
                     const TensorSpec& of_b) {
  return InvalidArgument(a, " is ", DTypeName(of_a.dtype), " but ", b, " is ",
                         DTypeName(of_b.dtype), kRemedy);
}

absl::Status BadSameDType(const ArgDecl& decl, const TensorSpec& spec, const TensorSpec& other) {
  if (decl.name == decl.same_dtype_as) {  // of a list
    return InvalidArgument(decl.name, " are both ", DTypeName(other.dtype), " and ",
                           DTypeName(spec.dtype), kRemedy);
  }
  const DType wide = ComputeDType(other.dtype);
  if (decl.wide || (decl.or_wide && wide != other.dtype)) {
    const std::string narrow = decl.wide ? "" : absl::StrCat(DTypeName(other.dtype), " or ");
    return InvalidArgument(decl.name, " must be ", narrow, DTypeName(wide), " where ",
                           decl.same_dtype_as, " is ", DTypeName(other.dtype), ", got ",
                           DTypeName(spec.dtype), kRemedy);
  }
  return Unequal(decl.same_dtype_as, other, decl.name, spec);
}

absl::Status CheckInout(const ArgDecl& decl, const Tensor& t) {
  FIRN_RETURN_IF(ThisThread().grad_enabled && t.requires_grad(),
                 FailedPrecondition(decl.name,
                                    " would be changed in place while its gradient is "
                                    "being recorded; use NoGradScope, or an operation that returns "
                                    "a new tensor"));
  return absl::OkStatus();
}

absl::Status CheckCount(const OpDef& op, size_t given) {
  const size_t declared = op.inputs.size();
  if (!op.variadic()) {
    FIRN_RETURN_IF(given != declared,
                   InvalidArgument("takes ", declared, declared == 1 ? " tensor" : " tensors",
                                   ", got ", given));
    return absl::OkStatus();
  }
  FIRN_RETURN_IF(given < declared || (given - declared) % op.cycle != 0,
                 InvalidArgument(
                     "takes at least ", declared, declared == 1 ? " tensor" : " tensors",
                     op.cycle == 1 ? "" : absl::StrCat(", the last ", op.cycle, " again and again"),
                     ", got ", given));
  return absl::OkStatus();
}

// The input whose dtype input i must have: of a variadic one, in the same repetition, or, when it
// names itself, the first.
size_t SameAs(const OpDef& op, const ArgDecl& decl, size_t i) {
  const size_t at = static_cast<size_t>(decl.same_as);
  const bool repeats = op.inputs[at].variadic && &op.inputs[at] != &decl;
  return repeats ? at + op.Repetition(i) * op.cycle : at;
}

// Input i has the dtype that goes with another input's, and `chosen`'s: the first input's that had
// a choice, -1 before there is one.
absl::Status CheckSameDType(const OpDef& op, absl::Span<const TensorRef> in, size_t i,
                            int* chosen) {
  const ArgDecl& decl = op.input(i);
  const TensorSpec& spec = in[i].spec();
  const TensorRef& other = in[SameAs(op, decl, i)];
  if (other.defined() && !GoesWith(decl, spec.dtype, other.spec())) {
    return BadSameDType(decl, spec, other.spec());
  }
  if (!decl.or_wide) return absl::OkStatus();
  if (*chosen < 0) *chosen = static_cast<int>(i);
  const auto first = static_cast<size_t>(*chosen);
  FIRN_RETURN_IF(in[first].spec().dtype != spec.dtype,
                 Unequal(op.input(first).name, in[first].spec(), decl.name, spec));
  return absl::OkStatus();
}

// Names the place in a list, such as concat's.
absl::Status Undefined(const OpDef& op, size_t i) {
  const ArgDecl& decl = op.input(i);
  const bool listed = op.cycle == 1 && decl.variadic;
  if (!listed) return InvalidArgument(decl.name, " is an undefined tensor");
  return InvalidArgument(decl.name, "[", op.Repetition(i), "] is an undefined tensor");
}

}  // namespace

absl::Status Validate(const OpDef& op, absl::Span<const TensorRef> in, Device* device) {
  if (in.size() != op.inputs.size()) FIRN_RETURN_IF_ERROR(CheckCount(op, in.size()));
  bool have_device = false;
  int chosen = -1;
  for (size_t i = 0; i < in.size(); ++i) {
    const ArgDecl& decl = op.input(i);
    if (!in[i].defined()) {
      if (!decl.optional) return Undefined(op, i);
      continue;
    }
    if (IsPending(*in[i])) return PendingError(*in[i]);
    const TensorSpec& spec = in[i].spec();
    if (!Contains(decl.dtypes, spec.dtype)) return BadDType(decl, spec);
    const int rank = spec.shape.rank();
    FIRN_RETURN_IF(rank < decl.min_rank || rank > decl.max_rank,
                   InvalidArgument(decl.name, " must have ",
                                   decl.min_rank == decl.max_rank
                                       ? absl::StrCat(decl.min_rank)
                                       : absl::StrCat(decl.min_rank, " to ", decl.max_rank),
                                   " dimensions, got ", spec.ToString()));
    FIRN_RETURN_IF(have_device && spec.device != *device,
                   InvalidArgument("tensors on different devices: ", decl.name, " on ",
                                   spec.device.ToString(), ", others on ", device->ToString()));
    *device = spec.device;
    have_device = true;
    if (decl.same_as >= 0) FIRN_RETURN_IF_ERROR(CheckSameDType(op, in, i, &chosen));
    if (decl.inout) FIRN_RETURN_IF_ERROR(CheckInout(decl, *in[i]));
  }
  return absl::OkStatus();
}

namespace {

// Walks over the elements of a strided tensor; those that lie in one place (stride 0) count once.
class Walk {
 public:
  explicit Walk(const TensorSpec& spec) : spec_(spec), at_(spec.shape.rank()) {}
  int64_t offset() const { return offset_; }  // in elements
  // Goes on to the next one; false after the last.
  bool Next() {
    for (int d = at_.rank; d-- > 0;) {
      const int64_t stride = spec_.layout.strides[d];
      if (stride != 0 && at_[d] + 1 < spec_.shape[d]) {
        ++at_[d];
        offset_ += stride;
        return true;
      }
      offset_ -= at_[d] * stride;
      at_[d] = 0;
    }
    return false;
  }
  // The element's place in row-major order.
  int64_t position() const {
    int64_t position = 0;
    for (int d = 0; d < at_.rank; ++d) position = position * spec_.shape[d] + at_[d];
    return position;
  }

 private:
  const TensorSpec& spec_;
  Dims at_;
  int64_t offset_ = 0;
};

template <class T>
absl::Status CheckIndexValues(const Operand& t, const IndexBounds& b, std::string_view name) {
  const T* v = static_cast<const T*>(t.data);
  const int64_t n = t.spec->num_elements();
  const IndexInterval interval = {b.low, b.high, b.ignored};
  if (n == 0 || (t.spec->dense() && !kernel_functions.any_outside(t.spec->dtype, v, n, interval)))
      [[likely]]
    return absl::OkStatus();
  std::vector<T> plain;
  TensorSpec spec = *t.spec;
  if (spec.layout.blocked()) {  // a value is wrong: name the first one in row-major order
    plain.resize(static_cast<size_t>(n));
    spec = TensorSpec::Contiguous(spec.dtype, spec.shape, spec.device);
    CopyElementsOnCpu(*t.spec, t.data, spec, plain.data());
    v = plain.data();
  }
  const bool any_ignored = b.ignored != INT64_MIN;
  Walk walk(spec);
  do {
    const int64_t x = v[walk.offset()];
    if (x >= b.low && x < b.high) continue;
    if (any_ignored && x == b.ignored) continue;
    return OutOfRange(name, " ", x, " at index ", walk.position(), " is outside [", b.low, ", ",
                      b.high, ")");
  } while (walk.Next());
  return absl::OkStatus();
}

}  // namespace

// For a variadic operation, its last declared input stands for all the tensors given there.
absl::Status CheckIndices(const OpDef& op, const KernelQuery& q, absl::Span<const Operand> in) {
  for (int declared : op.index_inputs) {
    const bool rest = op.variadic() && static_cast<size_t>(declared) + 1 == op.inputs.size();
    const int end = rest ? q.num_inputs() : declared + 1;
    for (int i = declared; i < end; ++i) {
      if (!q.has(i)) continue;
      const size_t at = static_cast<size_t>(i);
      if (!Contains(kIndex, q.in(i).dtype)) continue;  // probabilities, masks
      FIRN_ASSIGN_OR_RETURN(const IndexBounds b, op.index_bounds(q, i));
      FIRN_RETURN_IF_ERROR(VisitIndex(q.in(i).dtype, [&]<class T>(TypeTag<T>) {
        return CheckIndexValues<T>(in[at], b, op.input(at).name);
      }));
    }
  }
  return absl::OkStatus();
}

}  // namespace firn::inner::internal
