// LayerNorm and GroupNorm: scales start at 1, shifts at 0.

#include "nn/norm.h"

#include "device/status_macros.h"
#include "nn/describe.h"
#include "nn/sizes.h"
#include "tensor/error.h"
#include "tensor/ops/norm/layer_norm.h"

namespace firn::nn {

Tensor& LayerNorm::AddVector(const char* name, bool wanted) {
  if (!wanted) return AddParameter(name, {});
  return AddPendingParameter(
      name, options_.shape.empty() ? std::vector<int64_t>{kDeferred} : options_.shape);
}

LayerNorm::LayerNorm(const Options& options)
    : options_(options),
      weight_(AddVector("weight", options.affine)),
      bias_(AddVector("bias", options.affine && options.bias)) {
  for (int64_t size : options_.shape) CheckSizes("nn::LayerNorm", {{"shape", size}});
  if (!options_.shape.empty()) Build(Shape(options_.shape));
}

void LayerNorm::Build(const Shape& shape) {
  InitPending(weight_, shape, init::Constant(1));
  InitPending(bias_, shape, init::Constant(0));
}

Tensor LayerNorm::Forward(const Tensor& x) {
  const Shape shape =
      options_.shape.empty() ? Shape{SizeOfInput("nn::LayerNorm", x, -1)} : Shape(options_.shape);
  if (IsPending(weight_) || IsPending(bias_)) [[unlikely]]
    Build(shape);
  return firn::LayerNorm(x, shape, weight_, bias_, options_.eps);
}

std::string LayerNorm::Describe() const {
  const Options& o = options_;
  Describer d;
  if (!o.shape.empty()) {
    d.Text(Shape(o.shape).ToString());
  } else {
    d.Text(weight_.defined() && !IsPending(weight_) ? weight_.shape().ToString() : "[?]");
  }
  d.Field("eps", o.eps, 1e-5).Field("affine", o.affine, true).Field("bias", o.bias, true);
  return d.text();
}

GroupNorm::GroupNorm(const Options& options)
    : options_(options),
      weight_(options.affine ? AddPendingParameter("weight", {options.channels})
                             : AddParameter("weight", {})),
      bias_(options.affine ? AddPendingParameter("bias", {options.channels})
                           : AddParameter("bias", {})) {
  CheckSizes("nn::GroupNorm", {{"channels", options.channels, true}, {"groups", options.groups}});
  if (options.channels != kDeferred) Build(options.channels);
}

void GroupNorm::Build(int64_t channels) {
  if (channels % options_.groups != 0) {
    RaiseStatus(InvalidArgument("groups is ", options_.groups, ", which does not divide ", channels,
                                " channels"),
                "nn::GroupNorm");
  }
  InitPending(weight_, {channels}, init::Constant(1));
  InitPending(bias_, {channels}, init::Constant(0));
}

Tensor GroupNorm::Forward(const Tensor& x) {
  if (IsPending(weight_) || IsPending(bias_)) [[unlikely]]
    Build(SizeOfInput("nn::GroupNorm", x, 1));
  return firn::GroupNorm(x, options_.groups, weight_, bias_, options_.eps);
}

std::string GroupNorm::Describe() const {
  const Options& o = options_;
  const bool known = weight_.defined() && !IsPending(weight_);
  Describer d;
  d.Text(absl::StrCat(o.groups, " of ", Describer::Size(known ? weight_.size(0) : o.channels)));
  d.Field("eps", o.eps, 1e-5).Field("affine", o.affine, true);
  return d.text();
}

}  // namespace firn::nn
