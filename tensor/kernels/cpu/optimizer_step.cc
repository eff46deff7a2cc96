// Parts shared by optimizers' operations: their declaration, and the inputs that are not elements.

#include "firn/tensor/kernels/cpu/optimizer_step.h"

#include "firn/tensor/graph_traits.h"

namespace firn::cpu {

double ScalarOf(const KernelContext& k, int i) {
  double value = 0;
  VisitFloat(k.in_spec(i).dtype, [&]<class T>(TypeTag<T>) {
    value = static_cast<double>(static_cast<ComputeOf<T>>(*k.in<T>(i)));
  });
  return value;
}

bool SkipsStep(const KernelContext& k) {
  const bool* const skip = k.in<bool>(kSkip);
  return skip != nullptr && *skip;
}

void CountSteps(const KernelContext& k, int cycle, int offset) {
  for (int i = kFirstParam + offset; i < k.num_inputs(); i += cycle) {
    if (int64_t* step = k.inout<int64_t>(i)) ++*step;
  }
}

namespace internal {
namespace {

constexpr GraphTraits kTraits = {.cannot_fail = true};

}  // namespace

OpDef OptimizerOp(std::string_view doc, absl::Span<const StateTensor> state, bool step_optional,
                  const AttrsType* attrs, InferFn infer, const Kernel& kernel) {
  OpDef op = {
      .doc = doc,
      .inputs = {{.name = "lr", .dtypes = kFloating, .max_rank = 0},
                 {.name = "skip", .dtypes = SetOf(DType::kBool), .max_rank = 0, .optional = true},
                 {.name = "param", .dtypes = kFloating, .inout = true, .variadic = true},
                 {.name = "grad", .same_dtype_as = "param", .variadic = true}},
      .attrs = attrs,
      .infer = infer,
      .kernels = {kernel},
      .graph = &kTraits};
  for (const StateTensor& s : state) {
    op.inputs.push_back({.name = s.name,
                         .same_dtype_as = "param",
                         .wide = true,
                         .optional = s.optional,
                         .inout = true,
                         .variadic = true});
  }
  op.inputs.push_back({.name = "step",
                       .dtypes = SetOf(DType::kI64),
                       .max_rank = 0,
                       .optional = step_optional,
                       .inout = true,
                       .variadic = true});
  return op;
}

absl::Status InferStep(InferContext& c, absl::Span<const StateTensor> state) {
  const int cycle = static_cast<int>(state.size()) + 3;
  for (int p = kFirstParam; p < c.num_inputs(); p += cycle) {
    for (int i = p + 1; i < p + cycle - 1; ++i) {
      const size_t s = static_cast<size_t>(i - p) - 2;
      FIRN_RETURN_IF(
          c.has(i) && c.shape(i) != c.shape(p),
          InvalidArgument(i == p + 1 ? "grad" : state[s].name, " ", c.shape(i).ToString(),
                          " and param ", c.shape(p).ToString(), " differ"));
    }
  }
  return absl::OkStatus();
}

}  // namespace internal

}  // namespace firn::cpu
