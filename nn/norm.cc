// LayerNorm, RmsNorm and GroupNorm: scales start at 1, shifts at 0.

#include "firn/nn/norm.h"

#include "firn/device/status_macros.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/norm/group_norm.h"
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

// The given sizes, or those of a weight that has got them since.
std::vector<int64_t> KnownShape(const std::vector<int64_t>& shape, const Tensor& weight) {
  if (!shape.empty() || !weight.defined() || !HasShape(weight)) return shape;
  const absl::Span<const int64_t> dims = weight.shape().dims().span();
  return {dims.begin(), dims.end()};
}

}  // namespace

Tensor& LayerNorm::AddVector(const char* name, bool wanted) {
  return wanted ? AddPendingParameter(name, PendingShape(options().shape)) : AddParameter(name, {});
}

LayerNorm::LayerNorm(const Options& options)
    : LayerWithOptions(options),
      weight_(AddVector("weight", options.affine)),
      bias_(AddVector("bias", options.affine && options.bias)) {
  CheckShape("nn::LayerNorm", options.shape);
  if (!options.shape.empty()) Build(Shape(options.shape));
}

void LayerNorm::Build(const Shape& shape) {
  InitPending(weight_, shape, init::Constant(1));
  InitPending(bias_, shape, init::Constant(0));
}

Tensor LayerNorm::Forward(const Tensor& x) {
  const Shape shape = ShapeFor("nn::LayerNorm", options().shape, x);
  if (Pends(weight_, bias_)) [[unlikely]]
    Build(shape);
  return firn::LayerNorm(x, shape, weight_, bias_, options().eps);
}

void LayerNorm::AddKnown(Options& options) const {
  options.shape = KnownShape(options.shape, weight_);
}

RmsNorm::RmsNorm(const Options& options)
    : LayerWithOptions(options),
      weight_(options.affine ? AddPendingParameter("weight", PendingShape(options.shape))
                             : AddParameter("weight", {})) {
  CheckShape("nn::RmsNorm", options.shape);
  if (!options.shape.empty()) InitPending(weight_, Shape(options.shape), init::Constant(1));
}

Tensor RmsNorm::Forward(const Tensor& x) {
  const Shape shape = ShapeFor("nn::RmsNorm", options().shape, x);
  if (Pends(weight_)) [[unlikely]]
    InitPending(weight_, shape, init::Constant(1));
  return firn::RmsNorm(x, shape, weight_, options().eps);
}

void RmsNorm::AddKnown(Options& options) const {
  options.shape = KnownShape(options.shape, weight_);
}

GroupNorm::GroupNorm(const Options& options)
    : LayerWithOptions(options),
      weight_(options.affine ? AddPendingParameter("weight", {options.channels})
                             : AddParameter("weight", {})),
      bias_(options.affine ? AddPendingParameter("bias", {options.channels})
                           : AddParameter("bias", {})) {
  CheckSizes("nn::GroupNorm", {{"channels", options.channels, true}, {"groups", options.groups}});
  if (options.channels != kDeferred) Build(options.channels);
}

void GroupNorm::Build(int64_t channels) {
  if (channels % options().groups != 0) {
    RaiseStatus(InvalidArgument("groups is ", options().groups, ", which does not divide ",
                                channels, " channels"),
                "nn::GroupNorm");
  }
  InitPending(weight_, {channels}, init::Constant(1));
  InitPending(bias_, {channels}, init::Constant(0));
}

Tensor GroupNorm::Forward(const Tensor& x) {
  if (Pends(weight_, bias_)) [[unlikely]]
    Build(SizeOfInput("nn::GroupNorm", x, 1));
  return firn::GroupNorm(x, options().groups, weight_, bias_, options().eps);
}

void GroupNorm::AddKnown(Options& options) const {
  options.channels = KnownSize(weight_, 0, options.channels);
}

}  // namespace firn::nn
