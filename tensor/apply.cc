// Apply: validate, infer, select a kernel, arrange layouts, allocate, run, record.
//
// Everything a kernel could get wrong about its arguments is refused here, once: counts, dtypes,
// ranks, devices, values of indices, bounds of views, writes into tensors whose gradient is being
// recorded. Nothing is written before the last check has passed.

#include "firn/tensor/apply.h"

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/container/inlined_vector.h"
#include "firn/device/check.h"
#include "firn/device/macros.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/collective_keeper.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/internal/apply_checks.h"
#include "firn/tensor/internal/arranged.h"
#include "firn/tensor/internal/kernel_choice.h"
#include "firn/tensor/internal/waiting_call.h"
#include "firn/tensor/pending.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

using internal::Arranged;
using internal::CheckIndices;
using internal::Validate;
using internal::Workspace;

constexpr size_t kFewInputs = 6;

using SpecPointers = absl::InlinedVector<const TensorSpec*, 6>;

SpecPointers PointersTo(absl::Span<const TensorRef> in) {
  SpecPointers p;
  for (const TensorRef& t : in) p.push_back(t.defined() ? &t.spec() : nullptr);
  return p;
}

absl::Status MakeView(const TensorRef& in, const TensorSpec& spec, int64_t offset, Tensor* out) {
  // The blocked layouts have no strides to take a view of.
  FIRN_ASSIGN_OR_RETURN(const Tensor base, in.spec().layout.blocked()
                                               ? Reordered(*in, 0)
                                               : absl::StatusOr<Tensor>(*in));
  const IntrusivePtr<Storage>& storage = base.impl()->storage;
  const int64_t size = SizeOf(spec.dtype);
  char* data = base.impl()->data + offset * size;
  const OffsetRange reach = ReachOf(spec.shape, spec.layout.strides);
  const char* begin = static_cast<const char*>(storage->data());
  const bool inside =
      spec.num_elements() == 0 || (data + reach.low * size >= begin &&
                                   data + (reach.high + 1) * size <= begin + storage->bytes());
  FIRN_RETURN_IF(!inside, OutOfRange("a view ", spec.ToString(), " at offset ", offset,
                                     " reaches outside the ", storage->bytes(), " bytes of ",
                                     in.spec().ToString()));
  // An empty view may start past the end; nothing is ever read there, but keep the pointer inside.
  *out = WrapStorage(storage, spec.num_elements() == 0 ? storage->data() : data, spec);
  return absl::OkStatus();
}

absl::Status AllocateOutputs(absl::Span<TensorSpec> specs, const Prepared& p,
                             absl::Span<Tensor> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    TensorSpec& s = specs[i];
    if (!p.as_is && p.layouts.out[i] != 0) {
      s = TensorSpec::Blocked(s.dtype, s.shape, s.device, p.layouts.out[i]);
    }
    FIRN_ASSIGN_OR_RETURN(out[i], AllocateTensor(s));
  }
  return absl::OkStatus();
}

bool HasWork(absl::Span<Tensor> out, bool acts) {
  if (acts || out.empty()) return true;
  for (const Tensor& t : out) {
    if (t.num_elements() != 0) return true;
  }
  return false;
}

absl::Status AnnounceWrites(const OpDef& op, absl::Span<const TensorRef> in) {
  CaptureRecorder* const capture = ThisThread().capture;
  for (size_t i = 0; capture != nullptr && i < in.size(); ++i) {
    if (!op.input(i).inout || !in[i].defined()) continue;
    FIRN_RETURN_IF_ERROR(capture->BeforeWrite(*in[i]));
  }
  return absl::OkStatus();
}

void RaiseVersions(const OpDef& op, absl::Span<const TensorRef> in) {
  for (size_t i = 0; i < in.size(); ++i) {
    if (!op.input(i).inout || !in[i].defined()) continue;
    TensorImpl& written = *in[i]->impl();
    written.storage->BumpVersion();
    written.weak_number = false;  // it is no longer the number that it was made from
  }
}

absl::Status PutOff(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs, Device device,
                    Prepared prepared) {
  auto call = std::make_shared<internal::WaitingCall>(op, in, attrs, std::move(prepared));
  FIRN_RETURN_IF_ERROR(call->TakeMemory(device));
  ThisThread().capture->PutOff(op, in, std::move(call));
  RaiseVersions(op, in);
  return absl::OkStatus();
}

absl::Status RunKernel(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                       absl::Span<TensorSpec> specs, Device device, absl::Span<Tensor> out) {
  const SpecPointers given = PointersTo(in);
  const KernelQuery query(given, specs, attrs);
  // Indices on a CUDA device cannot be checked without waiting for it: its kernels skip indices
  // outside the bounds, and the next read raises (tensor/kernels/cuda/index_range.cuh).
  if (op.index_bounds != nullptr && device.is_cpu()) {
    absl::InlinedVector<Operand, 8> operands;
    for (const TensorRef& t : in) {
      operands.push_back(t.defined() ? Operand{t->impl()->data, &t.spec()} : Operand{});
    }
    FIRN_RETURN_IF_ERROR(CheckIndices(op, query, operands));
  }
  Prepared p;
  FIRN_RETURN_IF_ERROR(internal::Prepare(op, query, device, &p));
  const bool any_inout = op.any_inout;
  if (any_inout) {
    CaptureRecorder* const capture = ThisThread().capture;
    if (capture != nullptr && capture->ShallWait(op, in)) {
      return PutOff(op, in, attrs, device, std::move(p));
    }
    FIRN_RETURN_IF_ERROR(AnnounceWrites(op, in));
  }
  Arranged arranged;
  FIRN_RETURN_IF_ERROR(internal::Arrange(op, p, in, &arranged));
  FIRN_RETURN_IF_ERROR(AllocateOutputs(specs, p, out));
  if (!HasWork(out, any_inout || op.collective)) return absl::OkStatus();
  absl::InlinedVector<Operand, 4> results;
  for (const Tensor& t : out) results.push_back({t.impl()->data, &t.spec()});

  Workspace workspace;
  if (p.workspace != 0) FIRN_RETURN_IF_ERROR(workspace.Allocate(p.workspace, device));
  KernelContext context(arranged.operands, results, attrs, workspace.data());
  context.set_state(p.state.get());
  FIRN_RETURN_IF_ERROR(p.run(context));
  if (any_inout) RaiseVersions(op, in);
  return absl::OkStatus();
}

// The shortcut of most calls: a device's first kernel, if that takes all dense operands as they
// are. If it is null, the general way is taken.
FIRN_ALWAYS_INLINE const Kernel* PlainKernel(const OpDef& op, Device device) {
  for (const Kernel& k : op.kernels) {
    if (k.device != device.type) continue;
    const bool plain = k.supports == nullptr && k.workspace == nullptr && k.layouts == nullptr &&
                       k.prepare == nullptr;
    return plain ? &k : nullptr;
  }
  return nullptr;
}

const Kernel* Shortcut(const OpDef& op, absl::Span<const TensorRef> in, Device device) {
  const bool acts = op.any_inout || op.collective;
  if (acts || op.index_bounds != nullptr || in.size() > kFewInputs) return nullptr;
  for (const TensorRef& t : in) {
    if (!t.defined() || !t.spec().layout.contiguous) return nullptr;
  }
  return PlainKernel(op, device);
}

// Runs a plain kernel on the operands as they are. `specs`: of the results.
absl::Status RunPlain(const Kernel& k, absl::Span<const TensorRef> in, AttrsRef attrs,
                      absl::Span<const TensorSpec> specs, absl::Span<Tensor> out) {
  Operand operands[kFewInputs + kMaxOutputs];
  for (size_t i = 0; i < in.size(); ++i) operands[i] = {in[i]->impl()->data, &in[i].spec()};
  Operand* results = operands + in.size();
  for (size_t i = 0; i < out.size(); ++i) {
    FIRN_RETURN_IF_ERROR(AllocateInto(specs[i], AllocTag::kActivation, &out[i]));
    results[i] = {out[i].impl()->data, &out[i].spec()};
  }
  if (!HasWork(out, false)) return absl::OkStatus();
  KernelContext context({operands, in.size()}, {results, out.size()}, attrs, nullptr);
  return k.run(context);
}

// The shortest way, see OpDef::alike: runs the call and returns true if the shortcut applies.
// Throws the kernel's errors. Its arguments fit into registers.
FIRN_NOINLINE bool RunAlike(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                            Tensor* out) {
  if (in.size() != op.alike_inputs || in.empty()) return false;
  Operand operands[kMaxAlike];
  Operand* next = operands;
  const TensorSpec* first = nullptr;
  for (const TensorRef& t : in) {
    if (!t.defined() || IsPending(*t)) return false;
    const TensorSpec& s = t.spec();
    if (!s.layout.contiguous) return false;
    if (first == nullptr) {
      first = &s;
    } else if (s.dtype != first->dtype || s.device != first->device || s.shape != first->shape) {
      return false;
    }
    *next++ = {t->impl()->data, &s};
  }
  const TensorSpec& spec = *first;
  if (!Contains(op.alike, spec.dtype)) return false;
  const Kernel* const k = PlainKernel(op, spec.device);
  if (k == nullptr) return false;
  RaiseIfError(AllocateInto(spec, AllocTag::kActivation, out), op.name);
  if (spec.num_elements() == 0) return true;
  const Operand result = {out->impl()->data, &out->impl()->spec};
  KernelContext context({operands, in.size()}, {&result, 1}, attrs, nullptr, /*alike=*/true);
  RaiseIfError(k->run(context), op.name);
  return true;
}

// For a call within a function that may be run again.
absl::Status RunKept(CollectiveKeeper& keeper, const OpDef& op, absl::Span<const TensorRef> in,
                     AttrsRef attrs, absl::Span<TensorSpec> specs, Device device,
                     absl::Span<Tensor> out) {
  FIRN_RETURN_IF(op.any_inout,
                 Unimplemented("works in place, which a checkpointed function cannot repeat "
                               "without the other ranks"));
  if (keeper.Recall(op, out)) return absl::OkStatus();
  FIRN_RETURN_IF_ERROR(RunKernel(op, in, attrs, specs, device, out));
  keeper.Keep(op, out);
  return absl::OkStatus();
}

// Room for the specs of a call's results; only those used are made.
class SpecBuffer {
 public:
  explicit SpecBuffer(size_t n) : size_(n) {
    for (size_t i = 0; i < n; ++i) new (&specs_[i]) TensorSpec;
  }
  absl::Span<TensorSpec> span() { return {specs_, size_}; }

 private:
  size_t size_;
  union {
    TensorSpec specs_[kMaxOutputs];
  };
};
static_assert(std::is_trivially_destructible_v<TensorSpec>);

FIRN_NOINLINE absl::Status Compute(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                                   absl::Span<Tensor> out) {
  FIRN_DCHECK(out.size() == op.outputs.size() && out.size() <= kMaxOutputs);
  SpecBuffer specs(out.size());
  const absl::Span<TensorSpec> out_specs = specs.span();
  InferContext infer(in, attrs, out_specs);
  FIRN_RETURN_IF_ERROR(Validate(op, in, &infer.device));
  FIRN_RETURN_IF_ERROR(op.infer(infer));
  for (const TensorSpec& s : out_specs) {  // a dtype among the attributes may be any number
    FIRN_RETURN_IF(static_cast<int>(s.dtype) >= kNumDTypes,
                   InvalidArgument("no dtype has number ", static_cast<int>(s.dtype)));
  }
  if (op.is_view) return MakeView(in[0], out_specs[0], infer.view_offset, out.data());
  const Device device = out.empty() ? infer.device : out_specs[0].device;
  if (const Kernel* k = Shortcut(op, in, device)) {
    return RunPlain(*k, in, attrs, out_specs, out);
  }
  CollectiveKeeper* const keeper = op.collective ? ThisThreadsKeeper() : nullptr;
  if (keeper != nullptr) return RunKept(*keeper, op, in, attrs, out_specs, device, out);
  return RunKernel(op, in, attrs, out_specs, device, out);
}

// Whether the call gave results that a captured call has given before.
bool IsRecalled(const OpDef& op) {
  return op.collective && ThisThreadsKeeper() != nullptr && ThisThreadsKeeper()->repeating();
}

bool AnyRequiresGrad(absl::Span<const TensorRef> in) {
  for (const TensorRef& t : in) {
    if (t->requires_grad()) return true;
  }
  return false;
}

FIRN_ALWAYS_INLINE void Run(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                            absl::Span<Tensor> out) {
  if (ThisThread().capture != nullptr) [[unlikely]]
    ThisThread().capture->BeforeCall(op, in);
  if (!RunAlike(op, in, attrs, out.data())) RaiseIfError(Compute(op, in, attrs, out), op.name);
  const DispatchState& s = ThisThread();
  if (s.grad_enabled && op.grad != nullptr && internal::grad_recorder != nullptr &&
      AnyRequiresGrad(in)) {
    internal::grad_recorder->Record(op, in, attrs, out);
  }
  if (s.capture != nullptr && !IsRecalled(op)) [[unlikely]]
    s.capture->Record(op, in, attrs, out);
}

// Out of line, so that a call without an observer costs one branch.
FIRN_NOINLINE void RunObserved(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                               absl::Span<Tensor> out) {
  ApplyObserver* const observer = ThisThread().observer;
  observer->BeforeApply(op, in, attrs);
  Run(op, in, attrs, out);
  observer->AfterApply(op, in, attrs, out);
}

// The call with floating inputs in the dtype that the operation has under autocast.
FIRN_NOINLINE void RunAutocast(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                               absl::Span<Tensor> out) {
  Autocaster* const caster = std::exchange(ThisThread().autocast, nullptr);  // casts are plain
  const absl::Cleanup restore = [caster] { ThisThread().autocast = caster; };
  const bool low = op.autocast == Autocast::kLow;
  const DTypeSet from = low ? SetOf(DType::kF32) : SetOf(DType::kF16) | SetOf(DType::kBF16);
  std::vector<Tensor> converted(in.size());
  absl::InlinedVector<TensorRef, 8> inputs(in.begin(), in.end());
  for (size_t i = 0; i < in.size() && (i < op.inputs.size() || op.variadic()); ++i) {
    const bool pending = in[i].defined() && IsPending(*in[i]);
    if (!in[i].defined() || pending || op.input(i).inout) continue;
    if (!Contains(from, in[i].spec().dtype)) continue;
    converted[i] = caster->Convert(*in[i], low ? caster->dtype() : DType::kF32);
    inputs[i] = converted[i];
  }
  ApplyInto(op, inputs, attrs, out);
}

}  // namespace

CollectiveKeeper*& inner::ThisThreadsKeeper() {
  thread_local CollectiveKeeper* keeper = nullptr;
  return keeper;
}

void ApplyInto(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
               absl::Span<Tensor> out) {
  if (ThisThread().autocast != nullptr && op.autocast != Autocast::kNone) [[unlikely]]
    return RunAutocast(op, in, attrs, out);
  if (ThisThread().observer != nullptr) [[unlikely]]
    return RunObserved(op, in, attrs, out);
  Run(op, in, attrs, out);
}

void CheckDefined(const Tensor& x, std::string_view op, const char* name) {
  if (!x.defined()) RaiseStatus(InvalidArgument(name, " is an undefined tensor"), op);
}

void CheckAllDefined(absl::Span<const Tensor> tensors, std::string_view op) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined()) {
      RaiseStatus(InvalidArgument("tensors[", i, "] is an undefined tensor"), op);
    }
  }
}

TensorList Apply(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs) {
  TensorList out(op.outputs.size());
  ApplyInto(op, in, attrs, absl::MakeSpan(out));
  return out;
}

}  // namespace firn
