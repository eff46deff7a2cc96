// Convolution sizes. The three operations - forward, data gradient (the transposed convolution) and
// weight gradient - are one problem with a different unknown, so they share one description.

#include "tensor/ops/conv/conv_problem.h"

#include "absl/strings/str_cat.h"

namespace firn {
namespace {

std::string Text(Size2 s) { return absl::StrCat("(", s.h, ", ", s.w, ")"); }

constexpr int64_t kMaxImage = int64_t{1} << 62;  // an attribute may be any number

std::string Bounds(int64_t low) {
  return absl::StrCat(" (want ", low, " to ", internal::kMaxOption, ")");
}

absl::Status CheckOptions(const ConvAttrs& a) {
  FIRN_RETURN_IF_ERROR(internal::CheckOption("stride", a.stride, 1));
  FIRN_RETURN_IF_ERROR(internal::CheckOption("padding", a.padding, 0));
  FIRN_RETURN_IF_ERROR(internal::CheckOption("dilation", a.dilation, 1));
  return internal::CheckOption("groups", "", a.groups, 1);
}

absl::StatusOr<int64_t> OutputSize(int64_t in, int64_t kernel, int64_t stride, int64_t padding,
                                   int64_t dilation, const char* axis) {
  FIRN_RETURN_IF_ERROR(internal::CheckOption("kernel", axis, kernel, 1));
  FIRN_RETURN_IF(in < 0 || in > kMaxImage,
                 InvalidArgument("image ", axis, " ", in, " (want 0 to ", kMaxImage, ")"));
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

absl::Status inner::internal::CheckOption(std::string_view name, std::string_view axis,
                                          int64_t value, int64_t low) {
  FIRN_RETURN_IF(value < low || value > kMaxOption,
                 InvalidArgument(name, axis.empty() ? "" : " ", axis, " ", value, Bounds(low)));
  return absl::OkStatus();
}

absl::Status inner::internal::CheckOption(std::string_view name, Size2 value, int64_t low) {
  FIRN_RETURN_IF(value.h < low || value.w < low || value.h > kMaxOption || value.w > kMaxOption,
                 InvalidArgument(name, " ", Text(value), Bounds(low)));
  return absl::OkStatus();
}

double ConvProblem::flops() const {
  return 2.0 * static_cast<double>(batch * out * out_size.h * out_size.w) *
         static_cast<double>(in_per_group() * kernel.h * kernel.w);
}

absl::StatusOr<Size2> inner::ConvOutputSize(Size2 in, Size2 kernel, const ConvAttrs& a) {
  FIRN_RETURN_IF_ERROR(CheckOptions(a));
  Size2 out;
  FIRN_ASSIGN_OR_RETURN(
      out.h, OutputSize(in.h, kernel.h, a.stride.h, a.padding.h, a.dilation.h, "height"));
  FIRN_ASSIGN_OR_RETURN(out.w,
                        OutputSize(in.w, kernel.w, a.stride.w, a.padding.w, a.dilation.w, "width"));
  return out;
}

absl::StatusOr<ConvProblem> inner::ConvForward(const Shape& x, const Shape& weight,
                                               const ConvAttrs& a) {
  ConvProblem p{x[0], x[1], weight[0], ImageOf(x), {}, ImageOf(weight), a};
  FIRN_ASSIGN_OR_RETURN(p.out_size, ConvOutputSize(p.in_size, p.kernel, a));
  FIRN_RETURN_IF_ERROR(CheckGroups(p.in, p.out, a));
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
  FIRN_RETURN_IF_ERROR(CheckOptions(a));
  ConvProblem p{y[0], weight[1] * a.groups, y[1], a.result, {}, ImageOf(weight), a};
  FIRN_RETURN_IF_ERROR(CheckGroups(p.in, p.out, a));
  FIRN_ASSIGN_OR_RETURN(p.out_size, ConvOutputSize(p.in_size, p.kernel, a));
  FIRN_RETURN_IF(p.out_size != ImageOf(y),
                 InvalidArgument("a convolution of ", Text(p.in_size), " gives ", Text(p.out_size),
                                 ", not the image of x ", y.ToString()));
  return p;
}

absl::StatusOr<ConvProblem> inner::ConvBackwardWeight(const Shape& x, const Shape& y,
                                                      const ConvAttrs& a) {
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
