// unfold and fold, of one to three dimensions. Both are linear, and each is the other's gradient.

#include "tensor/ops/conv/unfold.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/kernels/cpu/for_each.h"
#include "tensor/op.h"
#include "tensor/ops/conv/images.h"
#include "tensor/ops/conv/unfold_body.h"
#include "tensor/ops/shape/views.h"

namespace firn {
namespace {

Tensor Call(const OpDef& op, const Tensor& x, const UnfoldAttrs& a) { return Apply1(op, {x}, a); }

// The channels and taps that a column has one below the other, or an error for more than fit.
absl::StatusOr<int64_t> RowsOf(int64_t channels, const Sizes& kernel) {
  FIRN_ASSIGN_OR_RETURN(const Shape rows, ShapeOfImages(1, channels, kernel));
  return rows.num_elements();
}

// --- unfold --------------------------------------------------------------------------------------

absl::Status InferUnfold(InferContext& c) {
  const Shape& x = c.shape(0);
  const UnfoldAttrs& a = c.attrs<UnfoldAttrs>();
  const Sizes image = ImageOf(x);
  FIRN_ASSIGN_OR_RETURN(const Sizes windows, UnfoldedWindows(image, a));
  FIRN_ASSIGN_OR_RETURN(const int64_t rows, RowsOf(x[1], a.kernel.Over(image.count())));
  FIRN_ASSIGN_OR_RETURN(const Shape all, ShapeOfImages(1, 1, windows));
  FIRN_ASSIGN_OR_RETURN(const Shape y, Shape::Make({x[0], rows, all.num_elements()}));
  c.set_out(0, c.dtype(0), y);
  return absl::OkStatus();
}

void GradUnfold(GradContext& g) {
  UnfoldAttrs a = g.attrs<UnfoldAttrs>();
  a.output_size = ImageOf(g.input_shape(0));
  g.set_grad_input(0, Call(TheOp<"fold">(), g.grad_output(), a));
}

FIRN_REGISTER_OP(unfold) {
  return {
      .doc = "The windows of a convolution as columns.",
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 3, .max_rank = 5}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<UnfoldAttrs>(),
      .infer = InferUnfold,
      .grad = GradUnfold,
      .kernels = cpu::Portable<UnfoldKernel>(),
  };
}

// --- fold ----------------------------------------------------------------------------------------

absl::Status InferFold(InferContext& c) {
  const Shape& x = c.shape(0);
  const UnfoldAttrs& a = c.attrs<UnfoldAttrs>();
  const int dims = a.output_size.count();
  FIRN_RETURN_IF(dims == 0, InvalidArgument("output_size has no numbers"));
  FIRN_ASSIGN_OR_RETURN(const Sizes windows, UnfoldedWindows(a.output_size, a));
  FIRN_ASSIGN_OR_RETURN(const int64_t taps, RowsOf(1, a.kernel.Over(dims)));
  FIRN_RETURN_IF(x[1] % taps != 0, InvalidArgument("x ", x.ToString(), " has ", x[1],
                                                   " rows, which is no multiple of the ", taps,
                                                   " taps of kernel ", a.kernel.ToString()));
  FIRN_ASSIGN_OR_RETURN(const Shape all, ShapeOfImages(1, 1, windows));
  FIRN_RETURN_IF(all.num_elements() != x[2],
                 InvalidArgument("x ", x.ToString(), " has ", x[2], " windows, an image of ",
                                 a.output_size.ToString(), " has ", windows.ToString()));
  FIRN_ASSIGN_OR_RETURN(const Shape y, ShapeOfImages(x[0], x[1] / taps, a.output_size));
  c.set_out(0, c.dtype(0), y);
  return absl::OkStatus();
}

void GradFold(GradContext& g) {
  UnfoldAttrs a = g.attrs<UnfoldAttrs>();
  a.output_size = 0;
  g.set_grad_input(0, Call(TheOp<"unfold">(), g.grad_output(), a));
}

FIRN_REGISTER_OP(fold) {
  return {
      .doc = "The sum of columns, each in its place in the image.",
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 3, .max_rank = 3}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<UnfoldAttrs>(),
      .infer = InferFold,
      .grad = GradFold,
      .kernels = cpu::Portable<FoldKernel>(),
  };
}

// --- The functions -------------------------------------------------------------------------------

// As many dimensions as `dims` says, or one of the options.
template <class Options>
int DimsOf(const Options& o, int largest, std::string_view op) {
  const int64_t dims = o.dims != 0 ? o.dims : std::max(2, largest);
  if (dims >= 1 && dims <= Sizes::kMost) return static_cast<int>(dims);
  RaiseStatus(InvalidArgument("dims ", dims, " (want 1 to ", Sizes::kMost, ", or 0)"), op);
}

template <class Options>
UnfoldAttrs AttrsFrom(const Options& o) {
  return {.kernel = o.kernel, .dilation = o.dilation, .padding = o.padding, .stride = o.stride};
}

int LargestOf(std::initializer_list<const Sizes*> options) {
  int largest = 0;
  for (const Sizes* s : options) largest = std::max(largest, s->count());
  return largest;
}

}  // namespace

absl::StatusOr<Sizes> inner::UnfoldedWindows(const Sizes& image, const UnfoldAttrs& a) {
  const int dims = image.count();
  FIRN_ASSIGN_OR_RETURN(const Sizes kernel, internal::FittedOption("kernel", a.kernel, dims));
  FIRN_ASSIGN_OR_RETURN(const Sizes stride, internal::CheckedOption("stride", a.stride, 1, dims));
  FIRN_ASSIGN_OR_RETURN(const Sizes padding,
                        internal::CheckedOption("padding", a.padding, 0, dims));
  FIRN_ASSIGN_OR_RETURN(const Sizes dilation,
                        internal::CheckedOption("dilation", a.dilation, 1, dims));
  return internal::CountWindows(image, kernel, stride, padding, dilation);
}

Tensor Unfold(const Tensor& x, const UnfoldOptions& o) {
  const OpDef& op = TheOp<"unfold">();
  const int dims = DimsOf(o, LargestOf({&o.kernel, &o.dilation, &o.padding, &o.stride}), op.name);
  if (LacksBatch(x, dims, op.name)) {
    return Squeeze(Call(op, Unsqueeze(x, 0), AttrsFrom(o)), 0);
  }
  return Call(op, x, AttrsFrom(o));
}

Tensor Fold(const Tensor& x, const FoldOptions& o) {
  const OpDef& op = TheOp<"fold">();
  const int dims = DimsOf(
      o, LargestOf({&o.output_size, &o.kernel, &o.dilation, &o.padding, &o.stride}), op.name);
  UnfoldAttrs a = AttrsFrom(o);
  const absl::StatusOr<Sizes> image =
      internal::CheckedOption("output_size", o.output_size, 1, dims);
  RaiseIfError(image.status(), op.name);
  a.output_size = *image;
  if (LacksBatch(x, 1, op.name)) return Squeeze(Call(op, Unsqueeze(x, 0), a), 0);
  return Call(op, x, a);
}

}  // namespace firn
