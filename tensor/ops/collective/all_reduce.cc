// Three operations for one function, because gradients keep different tensors: nothing for a sum or
// a mean, the argument and the result for an extreme, the argument for a product.

#include "firn/tensor/ops/collective/all_reduce.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/collective/gather.h"
#include "firn/tensor/ops/collective/group_rules.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/problems/reduce_attrs.h"

namespace firn {
namespace {

using comm::Reduction;

constexpr const char* kOps[] = {"all_reduce", "all_reduce_prod", "all_reduce_extreme"};

// Which of them.
int OpOf(Reduction reduction) {
  if (reduction == Reduction::kProd) return 1;
  return reduction == Reduction::kMin || reduction == Reduction::kMax ? 2 : 0;
}

template <int kOp>
absl::Status Infer(InferContext& c) {
  const Reduction reduction = c.attrs<AllReduceOptions>().reduction;
  FIRN_RETURN_IF_ERROR(CheckReduction(c, reduction));
  FIRN_RETURN_IF(OpOf(reduction) != kOp,
                 InvalidArgument("a ", WordFor(reduction), " is ", kOps[OpOf(reduction)]));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const auto& a = k.attrs<AllReduceOptions>();
  FIRN_ASSIGN_OR_RETURN(comm::Communicator* const ranks, FindRanks(k, a.group));
  return ranks->Run({.kind = comm::CollectiveKind::kAllReduce,
                     .element = ElementOf(k.in_spec(0).dtype),
                     .reduction = a.reduction,
                     .count = k.in_spec(0).num_elements(),
                     .in = k.in<void>(0),
                     .out = k.out<void>()});
}

template <int kOp>
OpDef AllReduceOp(std::string_view doc, GradFn grad, std::vector<Saved> saves) {
  return {
      .doc = doc,
      .inputs = {{.name = "x", .dtypes = kNumeric}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<AllReduceOptions>(),
      .infer = Infer<kOp>,
      .grad = grad,
      .saves = std::move(saves),
      .may_reuse = {{0, 0}},
      .collective = true,
      .kernels = OnEveryDevice({.name = "ranks", .run = Run}),
  };
}

Tensor SumOf(const Tensor& x, int64_t group) { return AllReduce(x, {.group = group}); }

void Grad(GradContext& g) {
  g.set_grad_input(0, AllReduce(g.grad_output(), g.attrs<AllReduceOptions>()));
}

void GradExtreme(GradContext& g) {
  const int64_t group = g.attrs<AllReduceOptions>().group;
  const Tensor dy = SumOf(g.grad_output(), group);
  const Tensor is_it = Cast(Eq(g.input(0), g.output(0)), dy.dtype());
  g.set_grad_input(0, Mul(dy, Div(is_it, SumOf(is_it, group))));
}

// Each rank computes for every rank the product of the others' elements times its own gradient;
// these are summed on the rank to which they belong.
void GradProd(GradContext& g) {
  const int64_t group = g.attrs<AllReduceOptions>().group;
  const Shape& shape = g.input_shape(0);
  const int64_t count = shape.num_elements();
  const Tensor all = AllGather(Reshape(g.input(0), {1, count}), {.group = group});
  const Tensor dy = Reshape(g.grad_output(), {count});
  const Tensor dall = Apply1(TheOp<"prod_grad">(), {dy, all}, ReduceAttrs{.dims = {0}});
  g.set_grad_input(0, Reshape(ReduceScatter(dall, {.group = group}), shape));
}

FIRN_REGISTER_OP(all_reduce) {
  return AllReduceOp<0>("The sum or mean over ranks, element by element.", Grad, {});
}
FIRN_REGISTER_OP(all_reduce_prod) {
  return AllReduceOp<1>("The product over ranks, element by element.", GradProd, {Saved::Input(0)});
}
FIRN_REGISTER_OP(all_reduce_extreme) {
  return AllReduceOp<2>("The smallest or largest over ranks, element by element.", GradExtreme,
                        {Saved::Input(0), Saved::Output(0)});
}

}  // namespace

Tensor AllReduce(const Tensor& x, const AllReduceOptions& options) {
  const OpDef* const ops[] = {&TheOp<"all_reduce">(), &TheOp<"all_reduce_prod">(),
                              &TheOp<"all_reduce_extreme">()};
  CheckDefined(x, "all_reduce");
  return Apply1(*ops[OpOf(options.reduction)], {x}, options);
}

}  // namespace firn
