// The registry is one list that pages fill before main starts, on one thread.
#include "firn/io/nnabla_network/internal/nnabla_ops.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::io::internal {
namespace {

absl::flat_hash_map<std::string_view, NnablaOp>& Registry() {
  static auto* const registry = new absl::flat_hash_map<std::string_view, NnablaOp>;
  return *registry;
}

int64_t Product(absl::Span<const int64_t> sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

}  // namespace

NnablaOps::NnablaOps(std::string_view type, size_t min_inputs, size_t max_inputs, NnablaRun run,
                     NnablaOpOptions options) {
  Registry().emplace(type, NnablaOp{type, min_inputs, max_inputs, run, options});
}

NnablaOps::NnablaOps(std::string_view type, size_t min_inputs, size_t max_inputs,
                     NnablaLower lower) {
  Registry().emplace(type, NnablaOp{type, min_inputs, max_inputs, nullptr, {}, lower});
}

const NnablaOp* FindNnablaOp(std::string_view type) {
  const auto found = Registry().find(type);
  return found == Registry().end() ? nullptr : &found->second;
}

Tensor RunNnabla(std::string_view type, std::vector<nnabla::Argument> arguments, In in) {
  return FindNnablaOp(type)->run(NnablaArguments(std::move(arguments)), in)[0];
}

void RefuseNnabla(std::string_view what, std::string_view expected, const std::string& found) {
  RaiseStatus(InvalidArgument(what, " is expected to be ", expected, ", it is ", found), "nnabla");
}

template <class T>
const T& NnablaArguments::Get(std::string_view name, std::string_view type) const {
  for (const nnabla::Argument& argument : arguments_) {
    if (argument.name != name) continue;
    if (const T* const value = std::get_if<T>(&argument.value)) return *value;
  }
  RefuseNnabla(absl::StrCat("argument ", std::string(name)), type, "not there or of another type");
}

int64_t NnablaArguments::Int(std::string_view name) const {
  return Get<int64_t>(name, "an integer");
}
bool NnablaArguments::Flag(std::string_view name) const { return Get<bool>(name, "a bool"); }
const std::string& NnablaArguments::Text(std::string_view name) const {
  return Get<std::string>(name, "a string");
}
const std::vector<int64_t>& NnablaArguments::Ints(std::string_view name) const {
  return Get<std::vector<int64_t>>(name, "a list of integers");
}
const std::vector<float>& NnablaArguments::Floats(std::string_view name) const {
  return Get<std::vector<float>>(name, "a list of numbers");
}

nnabla::Argument NnablaArguments::As(std::string_view name) const {
  for (const nnabla::Argument& argument : arguments_) {
    if (argument.name == name) return argument;
  }
  RefuseNnabla(absl::StrCat("argument ", std::string(name)), "there", "not there");
}

double NnablaArguments::Number(std::string_view name) const {
  for (const nnabla::Argument& argument : arguments_) {
    if (argument.name != name) continue;
    if (const float* const value = std::get_if<float>(&argument.value)) return *value;
  }
  return Get<double>(name, "a number");
}

int64_t AxisOf(const Tensor& x, int64_t axis) {
  const int64_t rank = x.rank();
  if (axis < -rank || axis >= rank) {
    RefuseNnabla("the axis", absl::StrCat("one of ", rank, " dimensions"), absl::StrCat(axis));
  }
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> AxesOf(const Tensor& x, absl::Span<const int64_t> axes) {
  std::vector<int64_t> found;
  for (const int64_t axis : axes) found.push_back(AxisOf(x, axis));
  return found;
}

std::vector<int64_t> OtherAxes(const Tensor& x, absl::Span<const int64_t> axes) {
  const std::vector<int64_t> named = AxesOf(x, axes);
  std::vector<int64_t> others;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (std::find(named.begin(), named.end(), i) == named.end()) others.push_back(i);
  }
  return others;
}

std::vector<int64_t> SizesOf(const Tensor& x, int64_t begin, int64_t end) {
  std::vector<int64_t> sizes;
  for (int64_t i = begin; i < end; ++i) sizes.push_back(x.size(i));
  return sizes;
}

std::vector<int64_t> Joined(std::vector<int64_t> front, absl::Span<const int64_t> back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

Tensor Reshaped(const Tensor& x, const std::vector<int64_t>& sizes) {
  return Reshape(x, absl::Span<const int64_t>(sizes));
}

Tensor RowsOf(const Tensor& x, int64_t base_axis) {
  if (base_axis < 0 || base_axis > x.rank()) {
    RefuseNnabla("base_axis", absl::StrCat("from 0 to ", x.rank()), absl::StrCat(base_axis));
  }
  return Reshaped(x, {Product(SizesOf(x, 0, base_axis)), Product(SizesOf(x, base_axis, x.rank()))});
}

Tensor IntegersOf(const Tensor& x) {
  return IsFloating(x.dtype()) || x.dtype() == DType::kBool ? Cast(x, DType::kI64) : x;
}

Tensor LabelsOf(const Tensor& labels, int64_t axis) {
  if (axis >= labels.rank() || labels.size(axis) != 1) {
    RefuseNnabla("the label's size along the axis of classes", "1", labels.shape().ToString());
  }
  return IntegersOf(Squeeze(labels, axis));
}

Tensor NumbersOf(const Tensor& x) { return x.dtype() == DType::kF32 ? x : Cast(x, DType::kF32); }

Tensor ImagesOf(const Tensor& x, int64_t base_axis, bool channel_last) {
  if (base_axis < 0 || base_axis >= x.rank()) {
    RefuseNnabla("base_axis", absl::StrCat("from 0 to ", x.rank() - 1), absl::StrCat(base_axis));
  }
  const Tensor images =
      Reshaped(x, Joined({Product(SizesOf(x, 0, base_axis))}, SizesOf(x, base_axis, x.rank())));
  return channel_last ? Movedim(images, -1, 1) : images;
}

Tensor FromImages(const Tensor& y, const Tensor& x, int64_t base_axis, bool channel_last) {
  const Tensor images = channel_last ? Movedim(y, 1, -1) : y;
  return Reshaped(images, Joined(SizesOf(x, 0, base_axis), SizesOf(images, 1, images.rank())));
}

}  // namespace firn::io::internal
