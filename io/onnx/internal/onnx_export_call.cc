// Values of a graph lie in buffers, and operations write into them; those of a file are made once.
// So a value stands for the name of what it holds now. Where a call writes into one, those that
// share elements with it get new names, too: of its elements and their own, gathered.
#include "firn/io/onnx/internal/onnx_export_call.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "firn/io/onnx/internal/onnx_elements.h"
#include "firn/tensor/from.h"
#include "firn/tensor/op.h"

namespace firn::io::internal {
namespace {

absl::flat_hash_map<std::string_view, OnnxExportRule>& Rules() {
  static auto& rules = *new absl::flat_hash_map<std::string_view, OnnxExportRule>();
  return rules;
}

template <class Map>
class Reader : public firn::inner::AttrVisitor {
 public:
  explicit Reader(Map& map) : map_(map) {}
  void Field(const char* name, int64_t& value) override { map_[name] = value; }
  void Field(const char* name, double& value) override { map_[name] = value; }
  void Field(const char* name, bool& value) override { map_[name] = value; }
  void Field(const char* name, std::string& value) override { map_[name] = value; }
  void Field(const char* name, std::vector<int64_t>& value) override { map_[name] = value; }

 private:
  void Enumerator(const char* name, int64_t& value, const firn::inner::WordList& words) override {
    const char* word = words.WordFor(value);
    map_[name] = std::string(word == nullptr ? "" : word);
  }
  Map& map_;
};

// Where each element of a value lies in its buffer, in elements.
std::vector<int64_t> Places(const Value& value) {
  const firn::inner::Dims strides = firn::inner::StridesOf(value.spec);
  std::vector<int64_t> places = {value.offset / SizeOf(value.spec.dtype)};
  for (int d = 0; d < value.spec.shape.rank(); ++d) {
    std::vector<int64_t> next;
    next.reserve(places.size() * static_cast<size_t>(value.spec.shape[d]));
    for (const int64_t place : places) {
      for (int64_t i = 0; i < value.spec.shape[d]; ++i) next.push_back(place + i * strides[d]);
    }
    places = std::move(next);
  }
  return places;
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
    : OnnxNodes(opset),
      graph_(graph),
      other_(other),
      now_(graph.values.size()),
      in_buffer_(graph.buffers.size()),
      wanted_(graph.values.size()) {
  for (size_t id = 0; id < graph.values.size(); ++id) {
    in_buffer_[static_cast<size_t>(graph.values[id].buffer)].push_back(static_cast<ValueId>(id));
  }
}

void OnnxExportCall::Take(const Instr& instr) {
  instr_ = &instr;
  attributes_.clear();
  firn::inner::Attrs attrs = instr.attrs;
  Reader reader(attributes_);
  if (const auto* type = attrs.ref().type()) type->visit(attrs.mutable_data(), reader);
  Begin(instr.module_path(), instr.op->name);
}

OnnxValue OnnxExportCall::in(size_t i) { return has(i) ? Current(instr_->in[i]) : Absent(); }

OnnxValue OnnxExportCall::Current(ValueId id) { return now_[static_cast<size_t>(id)]; }

void OnnxExportCall::Bind(ValueId id, OnnxValue value) { now_[static_cast<size_t>(id)] = value; }

void OnnxExportCall::Out(size_t i, OnnxValue value) {
  const OnnxSizes sizes = out_sizes(i);
  const bool fixed =
      std::none_of(sizes.begin(), sizes.end(), [](const OnnxSize& s) { return s.batch(); });
  if (fixed && out_spec(i).shape.num_elements() == 0) {  // runtimes refuse much of what makes it
    value = Constant(FromVector(std::vector<double>{}, out_spec(i).shape).To(out_dtype(i)));
  }
  Bind(instr_->out[i], Cast(std::move(value), out_dtype(i)));
}

void OnnxExportCall::Write(size_t i, OnnxValue value) {
  const ValueId written = instr_->in[i];
  Bind(written, Cast(std::move(value), dtype(i)));
  for (const ValueId id : in_buffer_[static_cast<size_t>(graph_.value(written).buffer)]) {
    if (id != written && !now_[static_cast<size_t>(id)].name.empty()) Refresh(id, written);
  }
}

void OnnxExportCall::Refresh(ValueId id, ValueId written) {
  const Value& value = graph_.value(id);
  const Value& by = graph_.value(written);
  if (value.offset == by.offset && firn::inner::SameSpec(value.spec, by.spec)) {
    return Bind(id, Current(written));
  }
  if (!wanted_[static_cast<size_t>(id)]) return;
  if (value.spec.dtype != by.spec.dtype || value.spec.layout.blocked() ||
      by.spec.layout.blocked()) {
    return Refuse("writes into memory that a value with another dtype or layout shares");
  }
  const std::vector<int64_t> places = Places(value), changed = Places(by);
  absl::flat_hash_map<int64_t, int64_t> at;
  for (size_t k = 0; k < changed.size(); ++k) at[changed[k]] = static_cast<int64_t>(k);
  std::vector<int64_t> from;  // first its own elements, then those written
  bool any = false;
  for (size_t k = 0; k < places.size(); ++k) {
    const auto found = at.find(places[k]);
    any |= found != at.end();
    from.push_back(found == at.end() ? static_cast<int64_t>(k)
                                     : static_cast<int64_t>(places.size()) + found->second);
  }
  if (!any) return;
  Fixed(SizesOf(id));
  const OnnxValue both = Concat({Reshape(Current(id), {-1}), Reshape(Current(written), {-1})}, 0);
  Bind(id, ReshapeTo(Node("Gather", {both, Ints(from)}, {{"axis", 0}}), SizesOf(id)));
}

OnnxSizes OnnxExportCall::SizesOf(ValueId id) const {
  OnnxSizes sizes;
  const Shape& now = graph_.value(id).spec.shape;
  const Shape& other = other_.value(id).spec.shape;
  for (int d = 0; d < now.rank(); ++d) sizes.push_back({now[d], other[d]});
  return sizes;
}

std::vector<OnnxDim> OnnxExportCall::DimsOf(ValueId id) const {
  std::vector<OnnxDim> dims;
  for (const OnnxSize& size : SizesOf(id)) {
    OnnxDim dim;
    if (!size.batch()) {
      dim.value = size.now;
    } else if (const int64_t times = size.now / batch_.now;
               size.now == times * batch_.now && size.other == times * batch_.other) {
      dim.name = times == 1 ? "N" : absl::StrCat(times, "*N");
    }
    dims.push_back(std::move(dim));
  }
  return dims;
}

int64_t OnnxExportCall::size(size_t i, int64_t dim) {
  const OnnxSizes all = sizes(i);
  return Fixed({all[static_cast<size_t>(dim < 0 ? dim + rank(i) : dim)]})[0];
}

std::vector<int64_t> OnnxExportCall::Fixed(const OnnxSizes& sizes) {
  std::vector<int64_t> numbers;
  for (const OnnxSize& size : sizes) {
    if (size.batch()) Refuse("would have the batch size among its constants");
    numbers.push_back(size.now);
  }
  return numbers;
}

double OnnxExportCall::Real(const char* name) const {
  const auto& value = attributes_.at(name);
  if (const auto* whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  return std::get<double>(value);
}

int64_t OnnxExportCall::Dim(const char* name, int rank) const {
  const int64_t dim = Int(name);
  return dim < 0 ? dim + rank : dim;
}

std::vector<int64_t> OnnxExportCall::Dims(const char* name, int rank) const {
  std::vector<int64_t> dims = List(name);
  for (int64_t& dim : dims) dim += dim < 0 ? rank : 0;
  if (dims.empty()) {
    for (int d = 0; d < rank; ++d) dims.push_back(d);
  }
  return dims;
}

DType OnnxExportCall::TypeOf(const char* name) const {
  const firn::inner::WordList words = firn::inner::kWordsOf<DType>;
  const firn::inner::EnumWord* word = words.Find(Word(name));
  return static_cast<DType>(word->value);
}

std::vector<int64_t> OnnxExportCall::Each(const char* name, size_t count) const {
  const std::vector<int64_t>& list = List(name);
  return list.size() == 1 ? std::vector<int64_t>(count, list[0]) : list;
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
    const int64_t times = (size.other - size.now) / (batch_.other - batch_.now);
    const int64_t rest = size.now - times * batch_.now;
    OnnxValue n = Slice(Node("Shape", {batch_of_}, {}, DType::kI64), 0, 0, 1);
    if (times * batch_.other + rest != size.other) Refuse("has a size that the batch does not say");
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

void OnnxExportCall::Warn(std::string what) {
  const std::string module(instr_->module_path());
  warnings_.push_back(
      absl::StrCat(std::string(instr_->op->name), module.empty() ? "" : " of ", module, " ", what));
}

}  // namespace firn::io::internal
