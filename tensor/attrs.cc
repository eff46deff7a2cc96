// Printing, hashing and comparing attributes: all three read the text or the fields that Visit
// shows, so an attribute that takes part in one takes part in all.

#include "firn/tensor/attrs.h"

#include <algorithm>
#include <bit>
#include <new>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/inner.h"

namespace firn {
namespace {

class Printer final : public AttrVisitor {
 public:
  using AttrVisitor::Field;
  void Field(const char* name, int64_t& v) override { Add(name, absl::StrCat(v)); }
  void Field(const char* name, double& v) override { Add(name, absl::StrCat(v)); }
  void Field(const char* name, bool& v) override { Add(name, v ? "true" : "false"); }
  void Field(const char* name, std::string& v) override { Add(name, absl::StrCat("\"", v, "\"")); }
  void Field(const char* name, std::vector<int64_t>& v) override {
    Add(name, absl::StrCat("[", absl::StrJoin(v, ", "), "]"));
  }
  void Enumerator(const char* name, int64_t& v, const inner::WordList& words) override {
    const char* const word = words.WordFor(v);
    Add(name, word != nullptr ? word : absl::StrCat(v));
  }
  std::string text;

 private:
  void Add(const char* name, const std::string& value) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", name, "=", value);
  }
};

class Hasher final : public AttrVisitor {
 public:
  using AttrVisitor::Field;
  void Field(const char*, int64_t& v) override { Mix(static_cast<uint64_t>(v)); }
  void Field(const char*, double& v) override { Mix(std::bit_cast<uint64_t>(v)); }
  void Field(const char*, bool& v) override { Mix(v); }
  void Field(const char*, std::string& v) override {
    Mix(v.size());
    for (char c : v) Mix(static_cast<unsigned char>(c));
  }
  void Field(const char*, std::vector<int64_t>& v) override {
    Mix(v.size());
    for (int64_t i : v) Mix(static_cast<uint64_t>(i));
  }
  void Enumerator(const char*, int64_t& v, const inner::WordList&) override {
    Mix(static_cast<uint64_t>(v));
  }
  // Only hashing needs one number; Equal keeps them all, so that equal means equal.
  std::vector<uint64_t> words;

 private:
  void Mix(uint64_t v) { words.push_back(v); }
};

// The fields as words. Visit takes a mutable struct (a reader writes through it); these visitors do
// not write.
std::vector<uint64_t> Words(AttrsRef a) {
  Hasher h;
  if (a.type() != nullptr) a.type()->visit(const_cast<void*>(a.data()), h);
  return std::move(h.words);
}

}  // namespace

void AttrVisitor::Field(const char* name, Dims& value) {
  std::vector<int64_t> list(value.span().begin(), value.span().end());
  Field(name, list);
  value.rank = static_cast<int32_t>(std::min<size_t>(list.size(), kMaxRank));
  for (int i = 0; i < value.rank; ++i) value[i] = list[static_cast<size_t>(i)];
}

void AttrVisitor::Field(const char* name, Sizes& value) {
  std::vector<int64_t> list(value.span().begin(), value.span().end());
  Field(name, list);
  value = Sizes(absl::MakeConstSpan(list).subspan(0, Sizes::kMost));
}

Attrs inner::DefaultAttrs(const AttrsType* type) {
  if (type == nullptr) return {};
  const std::align_val_t align{type->align};
  void* const made = ::operator new(type->size, align);
  type->construct(made);
  Attrs attrs(AttrsRef(made, type));
  type->destroy(made);
  ::operator delete(made, align);
  return attrs;
}

std::string inner::ToString(AttrsRef a) {
  if (a.type() == nullptr) return "";
  Printer p;
  a.type()->visit(const_cast<void*>(a.data()), p);
  return "{" + p.text + "}";
}

uint64_t inner::Hash(AttrsRef a) {
  uint64_t h = 0x9e3779b97f4a7c15u;
  for (uint64_t w : Words(a)) h = (std::rotl(h, 23) ^ w) * 0xff51afd7ed558ccdu;
  return h;
}

bool inner::Equal(AttrsRef a, AttrsRef b) { return a.type() == b.type() && Words(a) == Words(b); }

}  // namespace firn
