// Convolution sizes. The three operations - forward, data gradient (the transposed convolution) and
// weight gradient - are one problem with a different unknown, so they share one description.

#include "firn/tensor/problems/conv_problem.h"

namespace firn {
namespace {

// `a` with a number for each dimension, but for the result.
absl::StatusOr<ConvAttrs> CheckedOptions(const ConvAttrs& a, int dims) {
  ConvAttrs checked = a;
  FIRN_ASSIGN_OR_RETURN(checked.stride, internal::CheckedOption("stride", a.stride, 1, dims));
  FIRN_ASSIGN_OR_RETURN(checked.padding, internal::CheckedOption("padding", a.padding, 0, dims));
  FIRN_ASSIGN_OR_RETURN(checked.dilation, internal::CheckedOption("dilation", a.dilation, 1, dims));
  FIRN_RETURN_IF_ERROR(internal::CheckOption("groups", "", a.groups, 1));
  return checked;
}

absl::StatusOr<Sizes> WindowsOf(const ConvProblem& p) {
  const ConvAttrs& a = p.attrs;
  return internal::CountWindows(p.in_size, p.kernel, a.stride, a.padding, a.dilation);
}

absl::Status CheckGroups(const ConvProblem& p) {
  FIRN_RETURN_IF(p.in % p.attrs.groups != 0 || p.out % p.attrs.groups != 0,
                 InvalidArgument("groups ", p.attrs.groups, " must divide the ", p.in,
                                 " input and ", p.out, " output channels"));
  return absl::OkStatus();
}

}  // namespace

ConvProblem ConvProblem::Lifted(int dims) const {
  ConvProblem p = *this;
  for (Sizes* s : {&p.in_size, &p.out_size, &p.kernel, &p.attrs.stride, &p.attrs.dilation}) {
    *s = s->Lifted(dims, 1);
  }
  p.attrs.padding = p.attrs.padding.Lifted(dims, 0);
  return p;
}

double ConvProblem::flops() const {
  return 2.0 * static_cast<double>(batch * out * out_size.volume()) *
         static_cast<double>(in_per_group() * kernel.volume());
}

absl::StatusOr<ConvProblem> inner::ConvForward(const Shape& x, const Shape& weight,
                                               const ConvAttrs& a) {
  ConvProblem p{x[0], x[1], weight[0], ImageOf(x), {}, ImageOf(weight), {}};
  FIRN_ASSIGN_OR_RETURN(p.attrs, CheckedOptions(a, p.dims()));
  FIRN_ASSIGN_OR_RETURN(p.out_size, WindowsOf(p));
  FIRN_RETURN_IF_ERROR(CheckGroups(p));
  FIRN_RETURN_IF(weight[1] != p.in_per_group(),
                 InvalidArgument("weight ", weight.ToString(), " wants ", weight[1] * a.groups,
                                 " input channels, x is ", x.ToString()));
  return p;
}

absl::StatusOr<ConvProblem> inner::ConvBackwardData(const Shape& y, const Shape& weight,
                                                    const ConvAttrs& a) {
  FIRN_RETURN_IF(weight[0] != y[1],
                 InvalidArgument("weight ", weight.ToString(), " wants ", weight[0],
                                 " input channels, x is ", y.ToString()));
  ConvProblem p{y[0], 0, y[1], {}, {}, ImageOf(weight), {}};
  FIRN_ASSIGN_OR_RETURN(p.attrs, CheckedOptions(a, p.dims()));
  p.in = weight[1] * a.groups;
  FIRN_ASSIGN_OR_RETURN(p.in_size, internal::FittedOption("result", a.result, p.dims()));
  FIRN_RETURN_IF_ERROR(CheckGroups(p));
  FIRN_ASSIGN_OR_RETURN(p.out_size, WindowsOf(p));
  FIRN_RETURN_IF(p.out_size != ImageOf(y),
                 InvalidArgument("a convolution of ", p.in_size.ToString(), " gives ",
                                 p.out_size.ToString(), ", not the image of x ", y.ToString()));
  return p;
}

absl::StatusOr<ConvProblem> inner::ConvBackwardWeight(const Shape& x, const Shape& y,
                                                      const ConvAttrs& a) {
  FIRN_RETURN_IF(x[0] != y[0], InvalidArgument("x ", x.ToString(), " and grad ", y.ToString(),
                                               " have different batches"));
  ConvProblem p{x[0], x[1], y[1], ImageOf(x), {}, {}, {}};
  FIRN_ASSIGN_OR_RETURN(p.kernel, internal::FittedOption("result", a.result, p.in_size.count()));
  FIRN_ASSIGN_OR_RETURN(p.attrs, CheckedOptions(a, p.dims()));
  FIRN_ASSIGN_OR_RETURN(p.out_size, WindowsOf(p));
  FIRN_RETURN_IF_ERROR(CheckGroups(p));
  FIRN_RETURN_IF(p.out_size != ImageOf(y),
                 InvalidArgument("x ", x.ToString(), " gives images ", p.out_size.ToString(),
                                 ", grad is ", y.ToString()));
  return p;
}

ConvProblem inner::ConvProblemOf(const Shape& x, const Shape& weight, const Shape& y,
                                 const ConvAttrs& a) {
  ConvProblem p{x[0], x[1], y[1], ImageOf(x), ImageOf(y), ImageOf(weight), a};
  for (Sizes* s : {&p.attrs.stride, &p.attrs.padding, &p.attrs.dilation}) *s = s->Over(p.dims());
  return p;
}

}  // namespace firn
