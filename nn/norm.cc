// LayerNorm, RmsNorm and GroupNorm: scales start at 1, shifts at 0.

#include "firn/nn/norm.h"

#include "firn/device/status_macros.h"
#include "firn/nn/describe.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/norm/layer_norm.h"

namespace firn::nn {
namespace {

std::vector<int64_t> PendingShape(const std::vector<int64_t>& shape) {
  return shape.empty() ? std::vector<int64_t>{kDeferred} : shape;
}

void CheckShape(const char* layer, const std::vector<int64_t>& shape) {
  for (int64_t size : shape) CheckSizes(layer, {{"shape", size}});
}

// The given shape, or the last size of x.
Shape ShapeFor(const char* layer, const std::vector<int64_t>& shape, const Tensor& x) {
  return shape.empty() ? Shape{SizeOfInput(layer, x, -1)} : Shape(shape);
}

std::string ShapeText(const std::vector<int64_t>& shape, bool known, const Tensor& weight) {
  if (!shape.empty()) return Shape(shape).ToString();
  return known ? weight.shape().ToString() : "[?]";
}

}  // namespace

Tensor& LayerNorm::AddVector(const char* name, bool wanted) {
  return wanted ? AddPendingParameter(name, PendingShape(options_.shape)) : AddParameter(name, {});
}

LayerNorm::LayerNorm(const Options& options)
    : options_(options),
      weight_(AddVector("weight", options.affine)),
      bias_(AddVector("bias", options.affine && options.bias)) {
  CheckShape("nn::LayerNorm", options_.shape);
  if (!options_.shape.empty()) Build(Shape(options_.shape));
}

void LayerNorm::Build(const Shape& shape) {
  InitPending(weight_, shape, init::Constant(1));
  InitPending(bias_, shape, init::Constant(0));
}

Tensor LayerNorm::Forward(const Tensor& x) {
  const Shape shape = ShapeFor("nn::LayerNorm", options_.shape, x);
  if (IsPending(weight_) || IsPending(bias_)) [[unlikely]]
    Build(shape);
  return firn::LayerNorm(x, shape, weight_, bias_, options_.eps);
}

std::string LayerNorm::Describe() const {
  const Options& o = options_;
  Describer d;
  d.Text(ShapeText(o.shape, weight_.defined() && !IsPending(weight_), weight_));
  d.Field("eps", o.eps, 1e-5).Field("affine", o.affine, true).Field("bias", o.bias, true);
  return d.text();
}

RmsNorm::RmsNorm(const Options& options)
    : options_(options),
      weight_(options.affine ? AddPendingParameter("weight", PendingShape(options.shape))
                             : AddParameter("weight", {})) {
  CheckShape("nn::RmsNorm", options_.shape);
  if (!options_.shape.empty()) InitPending(weight_, Shape(options_.shape), init::Constant(1));
}

Tensor RmsNorm::Forward(const Tensor& x) {
  const Shape shape = ShapeFor("nn::RmsNorm", options_.shape, x);
  if (IsPending(weight_)) [[unlikely]]
    InitPending(weight_, shape, init::Constant(1));
  return firn::RmsNorm(x, shape, weight_, options_.eps);
}

std::string RmsNorm::Describe() const {
  const Options& o = options_;
  Describer d;
  d.Text(ShapeText(o.shape, weight_.defined() && !IsPending(weight_), weight_));
  if (o.eps) d.Field("eps", *o.eps);
  d.Field("affine", o.affine, true);
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
