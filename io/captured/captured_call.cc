// Values of a graph lie in buffers, into which operations write; values of a file are made once. So
// every value in a buffer that is read later counts as read, and a write gives a new value to each
// one that shares elements with the written one.
#include "firn/io/captured/captured_call.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "firn/tensor/op.h"

namespace firn::io::internal {
namespace {

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

std::vector<bool> WantedValues(const Graph& graph) {
  std::vector<bool> buffers(graph.buffers.size()), wanted(graph.values.size());
  const auto buffer = [&](ValueId id) { return static_cast<size_t>(graph.value(id).buffer); };
  const auto want = [&](ValueId id) { buffers[buffer(id)] = true; };
  for (const ValueId id : graph.outputs) want(id);
  for (const GradientEffect& effect : graph.gradients) ForEachValue(effect, want);
  for (const Instr& instr : graph.instrs) {
    for (const ValueId id : instr.in) {
      if (id != kNoValue) want(id);
    }
  }
  for (size_t id = 0; id < graph.values.size(); ++id) {
    wanted[id] = buffers[buffer(static_cast<ValueId>(id))];
  }
  return wanted;
}

}  // namespace

CapturedCall::CapturedCall(const Graph& graph, const Graph& other)
    : graph_(graph), other_(other), in_buffer_(graph.buffers.size()), wanted_(WantedValues(graph)) {
  for (size_t id = 0; id < graph.values.size(); ++id) {
    in_buffer_[static_cast<size_t>(graph.values[id].buffer)].push_back(static_cast<ValueId>(id));
  }
}

void CapturedCall::Take(const Instr& instr) {
  instr_ = &instr;
  attributes_.clear();
  firn::inner::Attrs attrs = instr.attrs;
  Reader reader(attributes_);
  if (const auto* type = attrs.ref().type()) type->visit(attrs.mutable_data(), reader);
}

bool CapturedCall::SameElements(ValueId a, ValueId b) const {
  const Value &x = graph_.value(a), &y = graph_.value(b);
  return x.offset == y.offset && firn::inner::SameSpec(x.spec, y.spec);
}

std::vector<int64_t> CapturedCall::PlacesAfterWrite(ValueId id, ValueId written) {
  const Value &value = graph_.value(id), &by = graph_.value(written);
  if (value.spec.dtype != by.spec.dtype || value.spec.layout.blocked() ||
      by.spec.layout.blocked()) {
    Refuse("writes into memory that a value with another dtype or layout shares");
    return {};
  }
  const std::vector<int64_t> places = Places(value), changed = Places(by);
  absl::flat_hash_map<int64_t, int64_t> at;
  for (size_t k = 0; k < changed.size(); ++k) at[changed[k]] = static_cast<int64_t>(k);
  std::vector<int64_t> from;
  bool any = false;
  for (size_t k = 0; k < places.size(); ++k) {
    const auto found = at.find(places[k]);
    any |= found != at.end();
    from.push_back(found == at.end() ? static_cast<int64_t>(k)
                                     : static_cast<int64_t>(places.size()) + found->second);
  }
  if (!any) from.clear();
  return from;
}

CapturedSizes CapturedCall::SizesOf(ValueId id) const {
  CapturedSizes sizes;
  const Shape& now = graph_.value(id).spec.shape;
  const Shape& other = other_.value(id).spec.shape;
  for (int d = 0; d < now.rank(); ++d) sizes.push_back({now[d], other[d]});
  return sizes;
}

int64_t CapturedCall::size(size_t i, int64_t dim) {
  const CapturedSizes all = sizes(i);
  return Fixed({all[static_cast<size_t>(dim < 0 ? dim + rank(i) : dim)]})[0];
}

std::vector<int64_t> CapturedCall::Fixed(const CapturedSizes& sizes) {
  std::vector<int64_t> numbers;
  for (const CapturedSize& size : sizes) {
    if (size.batch()) Refuse("would have the batch size among its constants");
    numbers.push_back(size.now);
  }
  return numbers;
}

double CapturedCall::Real(const char* name) const {
  const auto& value = attributes_.at(name);
  if (const auto* whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  return std::get<double>(value);
}

int64_t CapturedCall::Dim(const char* name, int rank) const {
  const int64_t dim = Int(name);
  return dim < 0 ? dim + rank : dim;
}

std::vector<int64_t> CapturedCall::Dims(const char* name, int rank) const {
  std::vector<int64_t> dims = List(name);
  for (int64_t& dim : dims) dim += dim < 0 ? rank : 0;
  if (dims.empty()) {
    for (int d = 0; d < rank; ++d) dims.push_back(d);
  }
  return dims;
}

DType CapturedCall::TypeOf(const char* name) const {
  const firn::inner::WordList words = firn::inner::kWordsOf<DType>;
  const firn::inner::EnumWord* word = words.Find(Word(name));
  return static_cast<DType>(word->value);
}

std::vector<int64_t> CapturedCall::Each(const char* name, size_t count) const {
  const std::vector<int64_t>& list = List(name);
  return list.size() == 1 ? std::vector<int64_t>(count, list[0]) : list;
}

std::string CapturedCall::NameOfCall() const {
  const std::string module(instr_->module_path());
  return absl::StrCat(std::string(instr_->op->name), module.empty() ? "" : " of ", module);
}

void CapturedCall::Warn(std::string what) {
  warnings_.push_back(absl::StrCat(NameOfCall(), " ", what));
}

std::optional<std::string> CapturedCall::TakeRefusal() {
  if (refused_.empty()) return std::nullopt;
  return absl::StrCat(NameOfCall(), ": ", std::exchange(refused_, ""));
}

}  // namespace firn::io::internal
