// Attributes are read through the visitor that writes them: fields are set and then compared again,
// and a field that differs did not fit. A field in the form of an earlier version is taken as a
// whole or refused. Enumerators are looked up among their words, which errors list.
#include "firn/io/graph/internal/stored_attrs.h"

#include <algorithm>
#include <bit>
#include <set>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

class Collector final : public AttrVisitor {
 public:
  using AttrVisitor::Field;
  void Field(const char* name, int64_t& v) override { fields.push_back({name, v}); }
  void Field(const char* name, double& v) override { fields.push_back({name, v}); }
  void Field(const char* name, bool& v) override { fields.push_back({name, v}); }
  void Field(const char* name, std::string& v) override { fields.push_back({name, v}); }
  void Field(const char* name, std::vector<int64_t>& v) override { fields.push_back({name, v}); }
  std::vector<StoredAttr> fields;
  absl::Status status;

 private:
  void Enumerator(const char* name, int64_t& v, const WordList& words) override {
    const char* const word = words.WordFor(v);
    if (word != nullptr) {
      fields.push_back({name, StoredWord{word}});
    } else if (status.ok()) {
      status = InvalidArgument("attribute '", name, "' is ", v, ", which stands for none of ",
                               words.Text());
    }
  }
};

const StoredAttr* Find(absl::Span<const StoredAttr> fields, const std::string& name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const StoredAttr& f) { return f.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

class Setter final : public AttrVisitor {
 public:
  explicit Setter(absl::Span<const StoredAttr> fields) : fields_(fields) {}
  using AttrVisitor::Field;
  void Field(const char* name, int64_t& v) override { Set(name, v); }
  void Field(const char* name, double& v) override { Set(name, v); }
  void Field(const char* name, bool& v) override { Set(name, v); }
  void Field(const char* name, std::string& v) override { Set(name, v); }
  void Field(const char* name, std::vector<int64_t>& v) override { Set(name, v); }

  // Whether this field was taken, though now it would be written in another way.
  bool Became(const StoredAttr& field) const { return earlier_.contains(&field); }
  // The error of a field, if it is known more exactly than by the comparison.
  const absl::Status& status() const { return status_; }

 private:
  void Enumerator(const char* name, int64_t& v, const WordList& words) override {
    const StoredAttr* const field = Find(fields_, name);
    if (field == nullptr) return;
    if (const auto* const word = std::get_if<StoredWord>(&field->value)) {
      const EnumWord* const known = words.Find(word->text);
      if (known == nullptr) return Fail(name, absl::StrCat("'", word->text, "'"), words);
      v = known->value;
    } else if (const auto* const number = std::get_if<int64_t>(&field->value)) {
      const bool known = *number >= 0 && *number < words.size();
      if (!known) return Fail(name, absl::StrCat("number ", *number), words);
      v = words.begin()[*number].value;
      earlier_.insert(field);
    }
  }
  void Fail(const char* name, const std::string& value, const WordList& words) {
    if (!status_.ok()) return;
    status_ = InvalidArgument("attribute '", name, "' is ", value, ", which stands for none of ",
                              words.Text());
  }
  bool Earlier(absl::Span<const char* const> names, std::vector<int64_t>* numbers) override {
    std::vector<const StoredAttr*> found;
    for (const char* name : names) {
      found.push_back(Find(fields_, name));
      if (found.back() == nullptr) return false;
      const int64_t* const number = std::get_if<int64_t>(&found.back()->value);
      if (number == nullptr) return false;
      numbers->push_back(*number);
    }
    earlier_.insert(found.begin(), found.end());
    return true;
  }
  template <class T>
  void Set(const char* name, T& to) {
    const StoredAttr* field = Find(fields_, name);
    if (field != nullptr && std::holds_alternative<T>(field->value)) to = std::get<T>(field->value);
  }
  absl::Span<const StoredAttr> fields_;
  std::set<const StoredAttr*> earlier_;
  absl::Status status_;
};

// Floating numbers by their bits: NaN is a value like others.
bool Same(const AttrValue& a, const AttrValue& b) {
  const double* const x = std::get_if<double>(&a);
  const double* const y = std::get_if<double>(&b);
  if (x != nullptr && y != nullptr) {
    return std::bit_cast<uint64_t>(*x) == std::bit_cast<uint64_t>(*y);
  }
  return a == b;
}

}  // namespace

absl::StatusOr<std::vector<StoredAttr>> StoreAttrs(AttrsRef attrs) {
  if (attrs.type() == nullptr) return std::vector<StoredAttr>();
  Attrs copy(attrs);  // a visitor may change what it sees
  Collector collector;
  attrs.type()->visit(copy.mutable_data(), collector);
  FIRN_RETURN_IF_ERROR(collector.status);
  return std::move(collector.fields);
}

absl::StatusOr<Attrs> RestoreAttrs(const AttrsType* type, absl::Span<const StoredAttr> fields) {
  Attrs attrs = DefaultAttrs(type);
  Setter setter(fields);
  if (type != nullptr) {
    type->visit(attrs.mutable_data(), setter);
    FIRN_RETURN_IF_ERROR(setter.status());
  }
  FIRN_ASSIGN_OR_RETURN(const std::vector<StoredAttr> arrived, StoreAttrs(attrs.ref()));
  for (const StoredAttr& field : fields) {
    if (setter.Became(field)) continue;
    const StoredAttr* const is = Find(arrived, field.name);
    FIRN_RETURN_IF(is == nullptr, InvalidArgument("there is no attribute '", field.name, "'"));
    FIRN_RETURN_IF(Find(fields, field.name) != &field,
                   InvalidArgument("attribute '", field.name, "' is given twice"));
    FIRN_RETURN_IF(is->value.index() != field.value.index(),
                   InvalidArgument("attribute '", field.name, "' is of another type"));
    FIRN_RETURN_IF(!Same(is->value, field.value),
                   InvalidArgument("the value of attribute '", field.name, "' does not fit"));
  }
  return attrs;
}

}  // namespace firn::io::internal
