// Convolution sizes. The three operations - forward, data gradient (the transposed convolution) and
// weight gradient - are one problem with a different unknown, so they share one description.

#include "tensor/conv.h"

#include "absl/strings/str_cat.h"

namespace firn {
namespace {

std::string Text(Size2 s) { return absl::StrCat("(", s.h, ", ", s.w, ")"); }

// Large enough for any image, small enough that no sum or product below overflows.
constexpr int64_t kMaxOption = int64_t{1} << 24;

absl::Status CheckOptions(const ConvAttrs& a) {
  const auto within = [](Size2 s, int64_t low) {
    return s.h >= low && s.w >= low && s.h <= kMaxOption && s.w <= kMaxOption;
  };
  FIRN_RETURN_IF(!within(a.stride, 1), InvalidArgument("stride ", Text(a.stride), " (want >= 1)"));
  FIRN_RETURN_IF(!within(a.padding, 0),
                 InvalidArgument("padding ", Text(a.padding), " (want >= 0)"));
  FIRN_RETURN_IF(!within(a.dilation, 1),
                 InvalidArgument("dilation ", Text(a.dilation), " (want >= 1)"));
  FIRN_RETURN_IF(a.groups < 1, InvalidArgument("groups ", a.groups, " (want >= 1)"));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> OutputSize(int64_t in, int64_t kernel, int64_t stride, int64_t padding,
                                   int64_t dilation, const char* axis) {
  FIRN_RETURN_IF(kernel < 1 || kernel > kMaxOption,
                 InvalidArgument("kernel ", axis, " ", kernel, " (want >= 1)"));
  FIRN_RETURN_IF(in < 0 || in > int64_t{1} << 62,  // an attribute may be any number
                 InvalidArgument("image ", axis, " ", in, " (want >= 0)"));
  const int64_t reach = dilation * (kernel - 1) + 1;
  FIRN_RETURN_IF(in + 2 * padding < reach,
                 InvalidArgument("the kernel covers ", reach, " in ", axis, ", x with padding has ",
                                 in + 2 * padding));
  return (in + 2 * padding - reach) / stride + 1;
}

Size2 ImageOf(const Shape& s) { return {s[2], s[3]}; }

absl::Status CheckGroups(int64_t in, int64_t out, const ConvAttrs& a) {
  FIRN_RETURN_IF(in % a.groups != 0 || out % a.groups != 0,
                 InvalidArgument("groups ", a.groups, " must divide the ", in, " input and ", out,
                                 " output channels"));
  return absl::OkStatus();
}

}  // namespace

double ConvProblem::flops() const {
  return 2.0 * static_cast<double>(batch * out * out_size.h * out_size.w) *
         static_cast<double>(in_per_group() * kernel.h * kernel.w);
}

absl::StatusOr<Size2> ConvOutputSize(Size2 in, Size2 kernel, const ConvAttrs& a) {
  FIRN_RETURN_IF_ERROR(CheckOptions(a));
  Size2 out;
  FIRN_ASSIGN_OR_RETURN(
      out.h, OutputSize(in.h, kernel.h, a.stride.h, a.padding.h, a.dilation.h, "height"));
  FIRN_ASSIGN_OR_RETURN(out.w,
                        OutputSize(in.w, kernel.w, a.stride.w, a.padding.w, a.dilation.w, "width"));
  return out;
}

absl::StatusOr<ConvProblem> ConvForward(const Shape& x, const Shape& weight, const ConvAttrs& a) {
  ConvProblem p{x[0], x[1], weight[0], ImageOf(x), {}, ImageOf(weight), a};
  FIRN_ASSIGN_OR_RETURN(p.out_size, ConvOutputSize(p.in_size, p.kernel, a));
  FIRN_RETURN_IF_ERROR(CheckGroups(p.in, p.out, a));
  FIRN_RETURN_IF(weight[1] != p.in_per_group(),
                 InvalidArgument("weight ", weight.ToString(), " wants ", weight[1] * a.groups,
                                 " input channels, x is ", x.ToString()));
  return p;
}

absl::StatusOr<ConvProblem> ConvBackwardData(const Shape& y, const Shape& weight,
                                             const ConvAttrs& a) {
  FIRN_RETURN_IF(weight[0] != y[1],
                 InvalidArgument("weight ", weight.ToString(), " wants ", weight[0],
                                 " input channels, x is ", y.ToString()));
  FIRN_RETURN_IF_ERROR(CheckOptions(a));
  FIRN_RETURN_IF(a.groups > kMaxOption, InvalidArgument("groups ", a.groups));
  ConvProblem p{y[0], weight[1] * a.groups, y[1], a.result, {}, ImageOf(weight), a};
  FIRN_RETURN_IF_ERROR(CheckGroups(p.in, p.out, a));
  FIRN_ASSIGN_OR_RETURN(p.out_size, ConvOutputSize(p.in_size, p.kernel, a));
  FIRN_RETURN_IF(p.out_size != ImageOf(y),
                 InvalidArgument("a convolution of ", Text(p.in_size), " gives ", Text(p.out_size),
                                 ", not the image of x ", y.ToString()));
  return p;
}

absl::StatusOr<ConvProblem> ConvBackwardWeight(const Shape& x, const Shape& y, const ConvAttrs& a) {
  FIRN_RETURN_IF(x[0] != y[0], InvalidArgument("x ", x.ToString(), " and grad ", y.ToString(),
                                               " have different batches"));
  ConvProblem p{x[0], x[1], y[1], ImageOf(x), {}, a.result, a};
  FIRN_ASSIGN_OR_RETURN(p.out_size, ConvOutputSize(p.in_size, p.kernel, a));
  FIRN_RETURN_IF_ERROR(CheckGroups(p.in, p.out, a));
  FIRN_RETURN_IF(p.out_size != ImageOf(y),
                 InvalidArgument("x ", x.ToString(), " gives images ", Text(p.out_size),
                                 ", grad is ", y.ToString()));
  return p;
}

}  // namespace firn
