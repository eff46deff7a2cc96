// Options as text, and the attributes of operations field by field.

#include "firn/nn/describe.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/inner.h"

namespace firn::nn {
namespace {

class FieldTexts final : public AttrVisitor {
 public:
  void Field(const char* name, int64_t& value) override { Put(name, absl::StrCat(value)); }
  void Field(const char* name, double& value) override { Put(name, absl::StrCat(value)); }
  void Field(const char* name, bool& value) override { Put(name, value ? "true" : "false"); }
  void Field(const char* name, std::string& value) override { Put(name, value); }
  void Field(const char* name, std::vector<int64_t>& value) override {
    Put(name, absl::StrCat("[", absl::StrJoin(value, ", "), "]"));
  }
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  void Enumerator(const char* name, int64_t& value, const WordList& words) override {
    const char* const word = words.WordFor(value);
    Put(name, word != nullptr ? word : absl::StrCat(value));
  }
  void Put(const char* name, std::string text) { fields_.emplace_back(name, std::move(text)); }
  std::vector<std::pair<std::string, std::string>> fields_;
};

FieldTexts TextsOf(AttrsRef attrs) {
  FieldTexts texts;
  Attrs copy(attrs);  // visitors may write
  attrs.type()->visit(copy.mutable_data(), texts);
  return texts;
}

}  // namespace

Describer& Describer::Text(const std::string& text) {
  absl::StrAppend(&text_, text_.empty() ? "" : ", ", text);
  return *this;
}

std::string Describer::ToText(double v) { return absl::StrCat(v); }

std::string Describer::ToText(const Sizes& s) {
  if (s.Are(s[0])) return absl::StrCat(s[0]);
  return absl::StrCat("[", absl::StrJoin(s.span(), ", "), "]");
}

Describer& Describer::Differences(AttrsRef attrs, AttrsRef standard) {
  const FieldTexts given = TextsOf(attrs), usual = TextsOf(standard);
  for (size_t i = 0; i < given.fields().size(); ++i) {
    const auto& [name, text] = given.fields()[i];
    if (text != usual.fields()[i].second) Text(absl::StrCat(name, "=", text));
  }
  return *this;
}

}  // namespace firn::nn
