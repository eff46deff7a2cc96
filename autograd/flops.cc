// The table of rules, and those of Firn's own products. They stand here, where FlopsOf links them
// in, and not in OpDef, because only profiles ask for them.

#include "firn/autograd/flops.h"

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/problems/conv_problem.h"
#include "firn/tensor/problems/packed_conv_problem.h"

namespace firn {
namespace {

absl::flat_hash_map<std::string, FlopsFn>& Rules() {
  static auto* rules = new absl::flat_hash_map<std::string, FlopsFn>;  // outlives global objects
  return *rules;
}

double FlopsOf(const absl::StatusOr<ConvProblem>& problem) {
  return problem.ok() ? problem->flops() : 0;
}

// A product with `inner` multiply-adds for each element of the result.
double ProductFlops(const KernelQuery& call, int64_t inner) {
  return 2.0 * static_cast<double>(inner) * static_cast<double>(call.out().num_elements());
}

FIRN_REGISTER_FLOPS(linear) { return ProductFlops(call, call.in(0).shape.dim(-1)); }

FIRN_REGISTER_FLOPS(matmul) {
  const Shape& a = call.in(0).shape;
  const bool transposed = a.rank() > 1 && call.attrs<MatmulAttrs>().transpose_a;
  return ProductFlops(call, a.dim(transposed ? -2 : -1));
}

// Both products, q k^T and its softmax times v; masks hide nothing from the count.
FIRN_REGISTER_FLOPS(scaled_dot_product_attention) {
  const Shape &q = call.in(0).shape, &k = call.in(1).shape;
  return ProductFlops(call, k.dim(-2)) +
         2.0 * static_cast<double>(q.num_elements()) * static_cast<double>(k.dim(-2));
}

double ConvFlops(const KernelQuery& call) {
  return FlopsOf(ConvForward(call.in(0).shape, call.in(1).shape, call.attrs<ConvAttrs>()));
}

FIRN_REGISTER_FLOPS(conv1d) { return ConvFlops(call); }
FIRN_REGISTER_FLOPS(conv2d) { return ConvFlops(call); }
FIRN_REGISTER_FLOPS(conv3d) { return ConvFlops(call); }

FIRN_REGISTER_FLOPS(conv2d_act) {
  const ConvAttrs& attrs = call.attrs<ConvActAttrs>().conv;
  return FlopsOf(ConvForward(call.in(0).shape, call.in(1).shape, attrs));
}

double TransposeFlops(const KernelQuery& call) {
  return FlopsOf(ConvBackwardData(call.in(0).shape, call.in(1).shape, call.attrs<ConvAttrs>()));
}

FIRN_REGISTER_FLOPS(conv_transpose1d) { return TransposeFlops(call); }
FIRN_REGISTER_FLOPS(conv_transpose2d) { return TransposeFlops(call); }
FIRN_REGISTER_FLOPS(conv_transpose3d) { return TransposeFlops(call); }

FIRN_REGISTER_FLOPS(conv_packed) {
  const auto& a = call.attrs<PackedConvAttrs>();
  return FlopsOf(ConvForward(call.in(0).shape, Shape(a.weight.span()), a.conv));
}
FIRN_REGISTER_FLOPS(conv_transpose_packed) {
  const auto& a = call.attrs<PackedConvAttrs>();
  return FlopsOf(ConvBackwardData(call.in(0).shape, Shape(a.weight.span()), a.conv));
}

double WeightGradFlops(const KernelQuery& call) {
  return FlopsOf(ConvBackwardWeight(call.in(0).shape, call.in(1).shape, call.attrs<ConvAttrs>()));
}

FIRN_REGISTER_FLOPS(conv1d_weight_grad) { return WeightGradFlops(call); }
FIRN_REGISTER_FLOPS(conv2d_weight_grad) { return WeightGradFlops(call); }
FIRN_REGISTER_FLOPS(conv3d_weight_grad) { return WeightGradFlops(call); }

}  // namespace

std::optional<double> FlopsOf(const OpDef& op, const KernelQuery& call) {
  const auto rule = Rules().find(std::string(op.name));
  if (rule == Rules().end()) return std::nullopt;
  return rule->second(call);
}

std::optional<double> FlopsOf(const OperationCall& call) {
  absl::InlinedVector<const TensorSpec*, 8> in;
  for (size_t i = 0; i < call.num_inputs(); ++i) in.push_back(call.input_spec(i));
  absl::InlinedVector<TensorSpec, 2> out;
  for (size_t i = 0; i < call.num_outputs(); ++i) out.push_back(*call.output_spec(i));
  return FlopsOf(call.op(), KernelQuery(in, out, call.attrs()));
}

FlopsRegistration::FlopsRegistration(std::string_view op, FlopsFn rule) {
  Rules()[std::string(op)] = rule;
}

}  // namespace firn
