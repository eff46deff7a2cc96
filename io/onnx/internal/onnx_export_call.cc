// Each value has the name of its present contents. If a call writes into a value, the values that
// share elements with it get new names too, for their own elements gathered with the written ones.
#include "firn/io/onnx/internal/onnx_export_call.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "firn/tensor/from.h"
#include "firn/tensor/op.h"

namespace firn::io::internal {
namespace {

absl::flat_hash_map<std::string_view, OnnxExportRule>& Rules() {
  static auto& rules = *new absl::flat_hash_map<std::string_view, OnnxExportRule>();
  return rules;
}

}  // namespace

OnnxExportRegistration::OnnxExportRegistration(std::string_view op, OnnxExportRule rule) {
  Rules().emplace(op, rule);
}

const OnnxExportRule* FindOnnxExport(std::string_view op) {
  const auto at = Rules().find(op);
  return at == Rules().end() ? nullptr : &at->second;
}

OnnxExportCall::OnnxExportCall(const Graph& graph, const Graph& other, int opset)
    : OnnxNodes(opset), CapturedCall(graph, other), now_(graph.values.size()) {}

void OnnxExportCall::Take(const Instr& instr) {
  CapturedCall::Take(instr);
  Begin(instr.module_path(), instr.op->name);
}

OnnxValue OnnxExportCall::in(size_t i) { return has(i) ? Current(instr().in[i]) : Absent(); }

OnnxValue OnnxExportCall::Current(ValueId id) { return now_[static_cast<size_t>(id)]; }

void OnnxExportCall::Bind(ValueId id, OnnxValue value) {
  id_of_.emplace(value.name, id);
  now_[static_cast<size_t>(id)] = std::move(value);
}

void OnnxExportCall::BindState(ValueId id, OnnxValue value) {
  elements_.insert(value.name);
  Bind(id, std::move(value));
}

const Value* OnnxExportCall::GraphValueOf(const std::string& name) const {
  const auto at = id_of_.find(name);
  return at == id_of_.end() ? nullptr : &captured().value(at->second);
}

std::optional<OnnxSizes> OnnxExportCall::SizesOf(const std::string& name) const {
  const auto at = id_of_.find(name);
  return at == id_of_.end() ? std::nullopt : std::optional(SizesOf(at->second));
}

Tensor OnnxExportCall::ElementsOf(const std::string& name) const {
  return elements_.contains(name) ? GraphValueOf(name)->bound : Tensor();
}

void OnnxExportCall::Out(size_t i, OnnxValue value) {
  const OnnxSizes sizes = out_sizes(i);
  const bool fixed =
      std::none_of(sizes.begin(), sizes.end(), [](const OnnxSize& s) { return s.batch(); });
  if (fixed && out_spec(i).shape.num_elements() == 0) {  // runtimes lack nodes for it
    value = Constant(FromVector(std::vector<double>{}, out_spec(i).shape).To(out_dtype(i)));
  }
  Bind(instr().out[i], Cast(std::move(value), out_dtype(i)));
}

void OnnxExportCall::Write(size_t i, OnnxValue value) {
  const ValueId written = instr().in[i];
  Bind(written, Cast(std::move(value), dtype(i)));
  for (const ValueId id : InBufferOf(written)) {
    if (id != written && !now_[static_cast<size_t>(id)].name.empty()) Refresh(id, written);
  }
}

void OnnxExportCall::Refresh(ValueId id, ValueId written) {
  if (SameElements(id, written)) return Bind(id, Current(written));
  if (!wanted(id)) return;
  const std::vector<int64_t> from = PlacesAfterWrite(id, written);
  if (from.empty()) return;
  Fixed(SizesOf(id));
  const OnnxValue both = Concat({Reshape(Current(id), {-1}), Reshape(Current(written), {-1})}, 0);
  Bind(id, ReshapeTo(Node("Gather", {both, Ints(from)}, {{"axis", 0}}), SizesOf(id)));
}

std::vector<OnnxDim> OnnxExportCall::DimsOf(ValueId id) const {
  std::vector<OnnxDim> dims;
  for (const OnnxSize& size : SizesOf(id)) {
    OnnxDim dim;
    if (!size.batch()) {
      dim.value = size.now;
    } else if (const int64_t times = size.now / batch().now;
               size.now == times * batch().now && size.other == times * batch().other) {
      dim.name = times == 1 ? "N" : absl::StrCat(times, "*N");
    }
    dims.push_back(std::move(dim));
  }
  return dims;
}

OnnxValue OnnxExportCall::ShapeTensor(const OnnxSizes& sizes) {
  Inputs parts;
  std::vector<int64_t> known;
  const auto flush = [&] {
    if (!known.empty()) parts.push_back(Ints(known));
    known.clear();
  };
  for (const OnnxSize& size : sizes) {
    if (!size.batch()) {
      known.push_back(size.now);
      continue;
    }
    flush();
    const int64_t times = (size.other - size.now) / (batch().other - batch().now);
    const int64_t rest = size.now - times * batch().now;
    OnnxValue n = Slice(Node("Shape", {batch_of_}, {}, DType::kI64), 0, 0, 1);
    if (times * batch().other + rest != size.other)
      Refuse("has a size that the batch does not say");
    if (times != 1) n = n * static_cast<double>(times);
    if (rest != 0) n = n + static_cast<double>(rest);
    parts.push_back(n);
  }
  if (parts.empty() && known.empty()) return Ints({});
  flush();
  return Concat(parts, 0);
}

OnnxValue OnnxExportCall::ReshapeTo(OnnxValue x, const OnnxSizes& sizes) {
  const auto batches =
      std::count_if(sizes.begin(), sizes.end(), [](const OnnxSize& s) { return s.batch(); });
  const bool zero =
      std::any_of(sizes.begin(), sizes.end(), [](const OnnxSize& s) { return s.now == 0; });
  if (batches > 1 || (batches == 1 && zero)) return Node("Reshape", {x, ShapeTensor(sizes)});
  std::vector<int64_t> numbers;
  for (const OnnxSize& size : sizes) numbers.push_back(size.batch() ? -1 : size.now);
  return Reshape(x, numbers);
}

OnnxValue OnnxExportCall::ExpandTo(OnnxValue x, const OnnxSizes& sizes) {
  return Node("Expand", {x, ShapeTensor(sizes)});
}

void OnnxExportCall::NeedsOpset(int least) {
  if (opset() < least) {
    Refuse(absl::StrCat("needs opset ", least, ", and the file is to have ", opset()));
  }
}

}  // namespace firn::io::internal
