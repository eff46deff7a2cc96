// Options as text, field by field. Two structs of one type show the same fields in the same order,
// so those that differ are found by their places.

#include "firn/nn/describe.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/nn/module.h"

namespace firn::nn {
namespace {

std::string TextOf(int64_t value) { return absl::StrCat(value); }
std::string TextOf(double value) { return absl::StrCat(value); }  // six digits
std::string TextOf(bool value) { return value ? "true" : "false"; }
std::string TextOf(const std::string& value) { return value; }
template <class T>
std::string TextOf(const std::vector<T>& value) {
  return absl::StrCat("[", absl::StrJoin(value, ", "), "]");
}
std::string TextOf(const Sizes& value) {
  if (!value.given()) return "";
  if (value.Are(value[0])) return absl::StrCat(value[0]);
  return absl::StrCat("[", absl::StrJoin(value.span(), ", "), "]");
}
std::string TextOf(const Tensor& value) { return value.defined() ? value.shape().ToString() : ""; }
template <class T>
std::string TextOf(const std::optional<T>& value) {
  return value ? TextOf(*value) : "";
}

std::string SizeText(int64_t size) { return size <= kDeferred ? "?" : absl::StrCat(size); }

class Writer final : public OptionVisitor {
 public:
  using OptionVisitor::Field;
  void Field(const char* name, int64_t& value) override { Put(name, TextOf(value)); }
  void Field(const char* name, double& value) override { Put(name, TextOf(value)); }
  void Field(const char* name, bool& value) override { Put(name, TextOf(value)); }
  void Field(const char* name, std::string& value) override { Put(name, TextOf(value)); }
  void Field(const char* name, std::vector<int64_t>& value) override { Put(name, TextOf(value)); }
  void Field(const char* name, std::vector<double>& value) override { Put(name, TextOf(value)); }
  void Field(const char* name, Sizes& value) override { Put(name, TextOf(value)); }
  void Field(const char* name, std::optional<int64_t>& value) override { Put(name, TextOf(value)); }
  void Field(const char* name, std::optional<double>& value) override { Put(name, TextOf(value)); }
  void Field(const char* name, Tensor& value) override {
    Put(name, TextOf(value));
    texts.back().tensor = true;
  }
  void Deferred(const char* name, int64_t& value) override {
    texts.push_back({name, TextOf(value), SizeText(value), true, true});
  }
  void Deferred(const char* name, std::vector<int64_t>& value) override {
    texts.push_back({name, TextOf(value), value.empty() ? "[?]" : TextOf(value), true, true});
  }
  void FromTo(const char* in_name, int64_t& in, const char* out_name, int64_t& out) override {
    texts.push_back({in_name, TextOf(in), "", false, true});
    texts.push_back(
        {out_name, TextOf(out), absl::StrCat(SizeText(in), " -> ", SizeText(out)), true});
  }
  void SizesOr(const char* name, Sizes& value, const char* word, bool& is_word) override {
    Put(name, is_word ? word : TextOf(value));
  }

  std::vector<OptionText> texts;

 private:
  void Enumerator(const char* name, int64_t& number, const inner::WordList& words) override {
    const char* const word = words.WordFor(number);
    Put(name, word == nullptr ? absl::StrCat(number) : word);
  }
  void Put(const char* name, std::string value) {
    std::string told = absl::StrCat(name, "=", value);
    texts.push_back({name, std::move(value), std::move(told), always()});
  }
};

}  // namespace

std::vector<OptionText> OptionTexts(absl::FunctionRef<void(OptionVisitor&)> visit) {
  Writer writer;
  visit(writer);
  return std::move(writer.texts);
}

std::string DescribeOptions(const std::vector<OptionText>& given,
                            const std::vector<OptionText>& standard) {
  std::string text;
  for (size_t i = 0; i < given.size(); ++i) {
    const OptionText& o = given[i];
    if (o.told.empty() || (!o.always && o.value == standard[i].value)) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", o.told);
  }
  return text;
}

std::string internal::DescribeOptions(void* given, void* standard,
                                      void (*show)(void*, OptionVisitor&)) {
  return nn::DescribeOptions(OptionTexts([&](OptionVisitor& v) { show(given, v); }),
                             OptionTexts([&](OptionVisitor& v) { show(standard, v); }));
}

}  // namespace firn::nn
