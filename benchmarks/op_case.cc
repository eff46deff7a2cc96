// A composite's declaration stands in its samples, that of an operation in its OpDef; both name the
// inputs and say which dtypes they take.
#include "benchmarks/op_case.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/op.h"

namespace firn::benchmarks {
namespace {

// Reads the attribute `dtype`, which operations that make tensors have.
class DTypeReader final : public AttrVisitor {
 public:
  using AttrVisitor::Field;
  void Field(const char* name, int64_t& v) override {
    if (std::string_view(name) == "dtype") found = static_cast<DType>(v);
  }
  void Field(const char*, double&) override {}
  void Field(const char*, bool&) override {}
  void Field(const char*, std::string&) override {}
  void Field(const char*, std::vector<int64_t>&) override {}
  std::optional<DType> found;
};

std::optional<DType> DTypeAttribute(AttrsRef attrs) {
  DTypeReader reader;
  if (attrs.type() != nullptr) attrs.type()->visit(const_cast<void*>(attrs.data()), reader);
  return reader.found;
}

bool HasTwoDimensions(const Tensor& t) { return t.defined() && t.rank() >= 2; }

}  // namespace

std::vector<std::string> OpCase::Operations() {
  std::vector<std::string> names = testing::Composites();
  for (const OpDef* op : AllOps()) names.emplace_back(op->name);
  std::erase_if(names, [](const auto& name) { return testing::LargeSampleNames(name).empty(); });
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<OpCase> OpCase::Find(const std::string& operation, const std::string& name) {
  const std::vector<std::string> names = testing::LargeSampleNames(operation);
  FIRN_RETURN_IF(names.empty(), NotFound("'", operation, "' has no large sample"));
  const auto at = std::find(names.begin(), names.end(), name);
  FIRN_RETURN_IF(at == names.end(), NotFound("'", operation, "' has no large sample '", name,
                                             "', only: ", absl::StrJoin(names, "; ")));
  OpCase found;
  found.op_ = FindOp(operation);
  found.samples_ = testing::SamplesOf(operation, /*with_large=*/true);
  found.index_ = static_cast<size_t>(at - names.begin());
  return found;
}

const ArgDecl& OpCase::DeclOf(size_t i) const {
  return (op_ != nullptr ? *op_ : samples_->declaration).input(i);
}

std::string OpCase::NameOf(size_t i) const {
  const OpDef& op = op_ != nullptr ? *op_ : samples_->declaration;
  const std::string name(op.input(i).name);
  return op.input(i).variadic ? absl::StrCat(name, ".", op.Repetition(i)) : name;
}

std::vector<DType> OpCase::DTypes() const {
  DTypeSet allowed = kFloating;
  const Tensor* floating = nullptr;
  const Tensor* first = nullptr;
  for (size_t i = 0; i < sample().inputs.size(); ++i) {
    const Tensor& t = sample().inputs[i];
    if (!t.defined()) continue;
    if (first == nullptr) first = &t;
    if (!IsFloating(t.dtype())) continue;
    floating = &t;
    allowed &= DeclOf(i).dtypes;
  }
  if (floating == nullptr) {
    const DType own = first == nullptr ? kDefaultFloat : first->dtype();
    return {DTypeAttribute(sample().attrs.ref()).value_or(own)};
  }
  std::vector<DType> dtypes;
  for (DType d : {DType::kF32, DType::kF64, DType::kBF16, DType::kF16}) {
    if (Contains(allowed, d)) dtypes.push_back(d);
  }
  return dtypes;
}

std::vector<std::string> OpCase::Layouts() const {
  std::vector<std::string> layouts = {"contiguous"};
  for (size_t i = 0; i < sample().inputs.size(); ++i) {
    if (!HasTwoDimensions(sample().inputs[i]) || DeclOf(i).inout) continue;
    layouts.push_back("transposed");
    break;
  }
  return layouts;
}

absl::StatusOr<std::vector<Tensor>> OpCase::Inputs(DType dtype, const std::string& layout,
                                                   Device device) const {
  const std::vector<DType> dtypes = DTypes();
  FIRN_RETURN_IF(std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end(),
                 InvalidArgument("the case does not take ", DTypeName(dtype)));
  const std::vector<std::string> layouts = Layouts();
  FIRN_RETURN_IF(std::find(layouts.begin(), layouts.end(), layout) == layouts.end(),
                 InvalidArgument("the case has no layout '", layout, "', only ",
                                 absl::StrJoin(layouts, " and ")));
  const NoGradScope no_grad;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < sample().inputs.size(); ++i) {
    Tensor t = sample().inputs[i];
    const DType own = DeclOf(i).wide ? ComputeDType(dtype) : dtype;
    if (t.defined()) t = IsFloating(t.dtype()) && t.dtype() != own ? t.To(own) : t.Clone();
    if (t.defined()) t = t.To(device);
    if (layout == "transposed" && HasTwoDimensions(t) && !DeclOf(i).inout) {
      t = t.Transpose(-2, -1).Contiguous().Transpose(-2, -1);
    }
    inputs.push_back(std::move(t));
  }
  return inputs;
}

std::vector<size_t> OpCase::Wanted() const {
  std::vector<size_t> wanted;
  const std::vector<int>& constant = sample().constant_inputs;
  for (size_t i = 0; i < sample().inputs.size(); ++i) {
    const Tensor& t = sample().inputs[i];
    const bool is_constant =
        std::find(constant.begin(), constant.end(), static_cast<int>(i)) != constant.end();
    if (!t.defined() || !IsFloating(t.dtype()) || DeclOf(i).inout || is_constant) continue;
    wanted.push_back(i);
  }
  return wanted;
}

std::vector<size_t> OpCase::Written() const {
  std::vector<size_t> written;
  for (size_t i = 0; i < sample().inputs.size(); ++i) {
    if (sample().inputs[i].defined() && DeclOf(i).inout) written.push_back(i);
  }
  return written;
}

std::vector<Tensor> OpCase::Call(const std::vector<Tensor>& inputs) const {
  if (!samples_->functions.empty()) {
    return samples_->functions[0](testing::In(inputs), sample().attrs.ref());
  }
  const std::vector<TensorRef> refs(inputs.begin(), inputs.end());
  TensorList results = Apply(*op_, refs, sample().attrs.ref());
  return {results.begin(), results.end()};
}

}  // namespace firn::benchmarks
