#include "firn/tensor/kernels/cpu/in_f32.h"

#include <algorithm>
#include <memory>

#include "absl/container/inlined_vector.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/internal/kernel_choice.h"
#include "firn/tensor/kernels/cpu/half.h"

namespace firn::cpu::internal {
namespace {

using inner::internal::Ask;

TensorSpec InFloat(TensorSpec spec) {
  if (IsHalf(spec.dtype)) spec.dtype = DType::kF32;
  return spec;
}

size_t AlignUp(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

// Bytes of the workspace that holds an operand as f32.
size_t FloatBytes(const TensorSpec& spec) {
  return IsHalf(spec.dtype) ? AlignUp(static_cast<size_t>(spec.num_elements()) * sizeof(float)) : 0;
}

// Elements worth a thread.
constexpr int64_t kGrain = 32768;

void Widen(const Operand& from, float* to) {
  const DType dtype = from.spec->dtype;
  const auto* const x = static_cast<const uint16_t*>(from.data);
  ParallelFor(from.spec->num_elements(), kGrain, [&](int64_t begin, int64_t end) {
    ToFloats(dtype, x + begin, end - begin, to + begin);
  });
}

void Round(const Operand& to, const float* from) {
  const DType dtype = to.spec->dtype;
  auto* const y = static_cast<uint16_t*>(to.data);
  ParallelFor(to.spec->num_elements(), kGrain, [&](int64_t begin, int64_t end) {
    FromFloats(from + begin, end - begin, dtype, y + begin);
  });
}

// The operands of the call in f32. Their memory is taken from `room`, in order.
struct Operands {
  absl::InlinedVector<TensorSpec, 4> specs;
  absl::InlinedVector<Operand, 4> operands;

  Operands(absl::Span<const Operand> given, char** room) : specs(given.size()) {
    for (size_t i = 0; i < given.size(); ++i) {
      operands.push_back(given[i]);
      if (given[i].spec == nullptr || !IsHalf(given[i].spec->dtype)) continue;
      specs[i] = InFloat(*given[i].spec);
      operands[i] = {*room, &specs[i]};
      *room += FloatBytes(*given[i].spec);
    }
  }
};

}  // namespace

absl::Status PrepareInF32(const std::vector<Kernel>& kernels, const KernelQuery& q,
                          Prepared& answer) {
  FIRN_RETURN_IF(!IsHalf(q.in(0).dtype), Unimplemented("takes half types only"));
  absl::InlinedVector<TensorSpec, 4> specs(static_cast<size_t>(q.num_inputs()));
  absl::InlinedVector<const TensorSpec*, 4> in(specs.size());
  absl::InlinedVector<TensorSpec, 2> out;
  size_t converted = 0;
  for (int i = 0; i < q.num_inputs(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (!q.has(i)) continue;
    specs[at] = InFloat(q.in(i));
    in[at] = &specs[at];
    converted += FloatBytes(q.in(i));
  }
  for (int i = 0; i < q.num_outputs(); ++i) {
    out.push_back(InFloat(q.out(i)));
    converted += FloatBytes(q.out(i));
  }
  const KernelQuery query(in, out, q.attrs_ref());
  auto call = std::make_shared<Prepared>();
  const auto takes = [&](const Kernel& k) {
    return (k.supports == nullptr || k.supports(query).ok()) && Ask(k, query, call.get()).ok();
  };
  FIRN_RETURN_IF(std::none_of(kernels.begin(), kernels.end(), takes),
                 Unimplemented("no kernel takes the call in f32"));
  if (!call->as_is) answer.layouts = call->layouts;
  answer.workspace = AlignUp(call->workspace) + converted;
  answer.state = std::move(call);
  return absl::OkStatus();
}

absl::Status RunInF32(KernelContext& k) {
  const auto& call = k.state<Prepared>();
  char* room = k.workspace<char>() + AlignUp(call.workspace);
  const Operands in(k.operands_in(), &room), out(k.operands_out(), &room);
  const auto each = [](absl::Span<const Operand> given, const Operands& converted, auto convert) {
    for (size_t i = 0; i < given.size(); ++i) {
      void* const floats = converted.operands[i].data;
      if (given[i].data != floats) convert(given[i], static_cast<float*>(floats));
    }
  };
  each(k.operands_in(), in, Widen);
  KernelContext inner(in.operands, out.operands, k.attrs_ref(), k.workspace());
  inner.set_state(call.state.get());
  inner.set_stream(k.stream());
  FIRN_RETURN_IF_ERROR(call.run(inner));
  each(k.operands_out(), out, Round);
  return absl::OkStatus();
}

}  // namespace firn::cpu::internal
