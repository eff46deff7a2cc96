// Deriving calls from samples: dtypes and layouts.

#include "tests/ops/calls.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/reorder.h"

namespace firn::testing {
namespace {

constexpr DType kAll[] = {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kI64,
                          DType::kI32, DType::kI8,  DType::kU8,  DType::kBool};

// The dtypes of `kind` that every input of that kind may have.
DTypeSet Allowed(const OpDef& op, const Sample& s, DTypeSet kind) {
  DTypeSet set = kind;
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    if (s.inputs[i].defined() && Contains(kind, s.inputs[i].dtype())) set &= DeclOf(op, i).dtypes;
  }
  return set;
}

bool HasChoice(const OpDef& op) {
  return std::any_of(op.inputs.begin(), op.inputs.end(),
                     [](const ArgDecl& decl) { return decl.or_wide; });
}

bool HasAny(const Sample& s, DTypeSet kind) {
  return std::any_of(s.inputs.begin(), s.inputs.end(),
                     [&](const Tensor& t) { return t.defined() && Contains(kind, t.dtype()); });
}

// Converts the inputs of `kind`, `wide` where there is a choice; nothing when an integer does not
// fit.
std::optional<Call> Converted(const OpDef& op, const Call& call, DTypeSet kind, DType to,
                              bool wide) {
  NoGradScope no_grad;
  Call c{absl::StrCat(call.name, ", ", DTypeName(to), wide ? " and its wider type" : ""),
         CopiesOf(call.inputs), call.attrs};
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    Tensor& t = c.inputs[i];
    if (!t.defined() || !Contains(kind, t.dtype())) continue;
    const ArgDecl& decl = DeclOf(op, i);
    const Tensor converted = Cast(t, decl.wide || (decl.or_wide && wide) ? ComputeDType(to) : to);
    if (IsIntegral(to) && converted.ToVector<int64_t>() != t.ToVector<int64_t>()) return {};
    t = converted;
  }
  return c;
}

// A dense allocation viewed through `strides`, filled with t's elements.
Tensor Strided(const Tensor& t, const Dims& strides, int64_t offset) {
  const int64_t reach = ReachOf(t.shape(), strides).high + 1 + offset;
  const Tensor memory = *AllocateTensor(TensorSpec::Contiguous(t.dtype(), {reach + 3}, t.device()));
  const TensorSpec spec = TensorSpec::Strided(t.dtype(), t.shape(), t.device(), strides);
  char* data = memory.impl()->data + offset * SizeOf(t.dtype());
  RaiseIfError(CopyElements(t.spec(), t.impl()->data, spec, data), "copy");
  return WrapStorage(memory.impl()->storage, data, spec);
}

// `f` applied to every defined input that is only read.
template <class F>
Call Mapped(const OpDef& op, const Call& call, const char* name, F f) {
  Call c{absl::StrCat(call.name, ", ", name), call.inputs, call.attrs};
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (c.inputs[i].defined() && !DeclOf(op, i).inout) c.inputs[i] = f(c.inputs[i]);
  }
  return c;
}

// Kernels that reorder by themselves know the blocks of 8 and 16 channels; those that work element
// by element take any block, and small samples have few channels. Only the CPU has blocks.
Tensor Blocked(const OpDef& op, const Tensor& t) {
  const bool any = std::all_of(op.kernels.begin(), op.kernels.end(), [](const Kernel& k) {
    return k.layouts == nullptr && k.prepare == nullptr;
  });
  if (t.rank() < 3 || t.num_elements() == 0 || !t.device().is_cpu()) return t;
  for (int block : {16, 8, 4, 2}) {
    if (block < 8 && !any) break;
    if (t.shape()[1] % block == 0) return *Reordered(t, block);
  }
  return t;
}

Tensor Nhwc(const Tensor& t) { return *Reordered(t, ChannelsLastBlock(t.shape())); }

bool Changed(const Call& a, const Call& b) {
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    if (!a.inputs[i].Is(b.inputs[i])) return true;
  }
  return false;
}

}  // namespace

Subject Subject::Composite(const Samples& samples) {
  Subject subject(samples.declaration);
  subject.function_ = &samples.functions.at(0);
  return subject;
}

bool Subject::differentiable() const {
  if (!composite()) return declaration_->grad != nullptr;
  return std::any_of(declaration_->outputs.begin(), declaration_->outputs.end(),
                     [](const ArgDecl& d) { return !d.constant; });
}

const ArgDecl& Subject::output(size_t i) const {
  return declaration_->outputs[std::min(i, declaration_->outputs.size() - 1)];
}

TensorList Subject::operator()(const std::vector<Tensor>& inputs, AttrsRef attrs) const {
  if (!composite()) return Apply(*declaration_, RefsOf(inputs), attrs);
  const std::vector<Tensor> results = (*function_)(In(inputs), attrs);
  return {results.begin(), results.end()};
}

// A call with too many inputs has some that nothing declares: the last declaration stands for them.
const ArgDecl& DeclOf(const OpDef& op, size_t i) {
  return op.variadic() ? op.input(i) : op.inputs[std::min(i, op.inputs.size() - 1)];
}

Tensor CopyOf(const Tensor& t) {
  if (!t.defined()) return t;
  const TensorSpec spec = TensorSpec::Contiguous(t.dtype(), t.shape(), t.device());
  const Tensor copy = *AllocateTensor(spec);
  RaiseIfError(CopyElements(t.spec(), t.impl()->data, spec, copy.impl()->data), "copy");
  return copy;
}

std::vector<Tensor> CopiesOf(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> copies;
  for (const Tensor& t : tensors) copies.push_back(CopyOf(t));
  return copies;
}

Tensor Transposed(const Tensor& t) {
  if (t.rank() < 2) return WithGaps(t);
  Dims strides(t.rank());
  int64_t step = 1;
  for (int i = 0; i < t.rank(); ++i) {  // column-major
    strides[i] = step;
    step *= std::max<int64_t>(t.shape()[i], 1);
  }
  return Strided(t, strides, 0);
}

Tensor WithGaps(const Tensor& t) {
  Dims strides(t.rank());
  int64_t step = 2;
  for (int i = t.rank() - 1; i >= 0; --i) {
    strides[i] = step;
    step = step * t.shape()[i] + 3;
  }
  return Strided(t, strides, 5);
}

Tensor Expanded(const Tensor& t) {
  for (int d = 0; d < t.rank(); ++d) {
    if (t.shape()[d] < 2 || t.num_elements() == 0) continue;
    const Tensor plain = CopyOf(t);
    Dims strides = plain.spec().layout.strides;
    strides[d] = 0;
    return WrapStorage(plain.impl()->storage, plain.impl()->data,
                       TensorSpec::Strided(t.dtype(), t.shape(), t.device(), strides));
  }
  return t;
}

std::optional<Call> InF64(const OpDef& op, const Sample& s) {
  if (!Contains(Allowed(op, s, kFloating), DType::kF64)) return {};
  return Call{s.name, CopiesOf(s.inputs), s.attrs};
}

std::vector<size_t> WantedGradients(const OpDef& op, const Sample& sample) {
  std::vector<size_t> wanted;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const Tensor& t = sample.inputs[i];
    const auto& constant = sample.constant_inputs;
    if (!t.defined() || !IsFloating(t.dtype()) || DeclOf(op, i).inout) continue;
    if (std::find(constant.begin(), constant.end(), static_cast<int>(i)) != constant.end())
      continue;
    wanted.push_back(i);
  }
  return wanted;
}

std::vector<Call> DTypeVariants(const OpDef& op, const Sample& s) {
  const Call base{s.name, s.inputs, s.attrs};
  std::vector<Call> calls;
  bool found = false;
  for (DTypeSet kind : {kFloating, kIntegral}) {
    if (!HasAny(s, kind)) continue;
    found = true;
    const DTypeSet allowed = Allowed(op, s, kind);
    for (DType d : kAll) {
      if (!Contains(allowed, d)) continue;
      for (bool wide : {false, true}) {
        if (wide && !(HasChoice(op) && ComputeDType(d) != d)) continue;
        std::optional<Call> c = Converted(op, base, kind, d, wide);
        if (c) calls.push_back(*std::move(c));
      }
    }
  }
  if (!found) calls.push_back({s.name, CopiesOf(s.inputs), s.attrs});
  return calls;
}

std::vector<LayoutVariant> LayoutVariants(const OpDef& op, const Call& call) {
  std::vector<LayoutVariant> variants;
  const auto add = [&](Call c) {
    if (!Changed(c, call)) return;
    Call plain{absl::StrCat(c.name, ", made contiguous"), CopiesOf(c.inputs), c.attrs};
    variants.push_back({std::move(c), std::move(plain)});
  };
  add(Mapped(op, call, "transposed", Transposed));
  add(Mapped(op, call, "with gaps", WithGaps));
  add(Mapped(op, call, "expanded", Expanded));
  add(Mapped(op, call, "blocked", [&](const Tensor& t) { return Blocked(op, t); }));
  add(Mapped(op, call, "NHWC", Nhwc));
  bool first = true;
  add(Mapped(op, call, "first input blocked",
             [&](const Tensor& t) { return std::exchange(first, false) ? Blocked(op, t) : t; }));
  return variants;
}

std::vector<TensorRef> RefsOf(const std::vector<Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

std::vector<RefTensor> ReferenceInputs(const std::vector<Tensor>& inputs) {
  std::vector<RefTensor> refs;
  for (const Tensor& t : inputs) {
    RefTensor r;
    r.defined_ = t.defined();
    if (t.defined()) {
      r.shape = t.shape();
      r.values = t.ToVector<double>();
      r.dtype = t.dtype();
    }
    refs.push_back(std::move(r));
  }
  return refs;
}

std::vector<Tensor> Outcome::outputs() const {
  return {results.begin() + static_cast<std::ptrdiff_t>(num_inout), results.end()};
}

Outcome Run(const Subject& subject, const Call& call) {
  NoGradScope no_grad;
  std::vector<Tensor> inputs = call.inputs;
  Outcome outcome;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!DeclOf(subject, i).inout || !inputs[i].defined()) continue;
    inputs[i] = CopyOf(inputs[i]);
    outcome.results.push_back(inputs[i]);
  }
  outcome.num_inout = outcome.results.size();
  try {
    for (Tensor& t : subject(inputs, call.attrs.ref())) {
      outcome.results.push_back(std::move(t));
    }
  } catch (const Error& e) {
    outcome.status = e.status();
    outcome.error = e.what();
  }
  return outcome;
}

OpDef WithKernel(const OpDef& op, const Kernel& kernel) {
  OpDef only = op;
  only.kernels = {kernel};
  return only;
}

}  // namespace firn::testing
