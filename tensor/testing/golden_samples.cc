// What a case gives is found by the names of arguments; Visit tells those of attributes.

#include "firn/tensor/testing/golden_samples.h"

#include <functional>

#include "absl/strings/str_cat.h"
#include "firn/device/check.h"

namespace firn::testing {
namespace {

// Sets the attributes that a case gives.
class AttrSetter final : public AttrVisitor {
 public:
  explicit AttrSetter(GoldenArgs* args) : args_(*args) {}
  using AttrVisitor::Field;
  void Field(const char* name, int64_t& v) override { v = args_.Int(name, v); }
  void Field(const char* name, double& v) override { v = args_.Number(name, v); }
  void Field(const char* name, bool& v) override { v = args_.Flag(name, v); }
  void Field(const char* name, std::string& v) override {
    if (args_.Has(name)) v = args_.Text(name);
  }
  void Field(const char* name, std::vector<int64_t>& v) override { v = args_.Ints(name, v); }

 private:
  void Enumerator(const char* name, int64_t& v, const WordList& words) override {
    v = args_.Enumerator(name, words, v);
  }

  GoldenArgs& args_;
};

std::map<std::string, GoldenFn, std::less<>>& Adapters() {
  static auto* adapters = new std::map<std::string, GoldenFn, std::less<>>;
  return *adapters;
}

}  // namespace

double GoldenCase::Number(const std::string& attr, double otherwise) const {
  asked.insert(attr);
  const auto it = attrs.find(attr);
  return it == attrs.end() || it->second.empty() ? otherwise : std::stod(it->second[0]);
}

std::string GoldenCase::Text(const std::string& attr, const std::string& otherwise) const {
  asked.insert(attr);
  const auto it = attrs.find(attr);
  return it == attrs.end() || it->second.empty() ? otherwise : it->second[0];
}

std::vector<int64_t> GoldenCase::Ints(const std::string& attr,
                                      std::vector<int64_t> otherwise) const {
  asked.insert(attr);
  const auto it = attrs.find(attr);
  if (it == attrs.end()) return otherwise;
  std::vector<int64_t> values;
  for (const std::string& w : it->second) values.push_back(std::stoll(w));
  return values;
}

GoldenArgs::GoldenArgs(const GoldenCase& golden) : case_(golden) {
  for (const auto& [name, tensor] : golden.inputs) {
    Tensor copy = tensor.Clone();
    if (golden.grads.Contains(name)) copy.SetRequiresGrad();
    inputs_[name] = copy;
  }
}

Tensor GoldenArgs::operator[](const std::string& name) {
  used_.insert(name);
  if (const auto it = inputs_.find(name); it != inputs_.end()) return it->second;
  if (!case_.Has(name)) return {};
  const std::string text = case_.Text(name, "");
  const bool integer = text.find_first_not_of("-0123456789") == std::string::npos;
  return integer ? Tensor(static_cast<int64_t>(std::stoll(text))) : Tensor(std::stod(text));
}

std::vector<Tensor> GoldenArgs::List(const std::string& name) {
  std::vector<Tensor> list;
  for (;;) {
    const std::string item = absl::StrCat(name, ".", list.size());
    if (!inputs_.contains(item)) return list;
    list.push_back((*this)[item]);
  }
}

double GoldenArgs::Number(const std::string& attr, double otherwise) {
  used_.insert(attr);
  return case_.Number(attr, otherwise);
}

int64_t GoldenArgs::Int(const std::string& attr, int64_t otherwise) {
  used_.insert(attr);
  return case_.Has(attr) ? std::stoll(case_.Text(attr, "")) : otherwise;
}

bool GoldenArgs::Flag(const std::string& attr, bool otherwise) {
  used_.insert(attr);
  return case_.Flag(attr, otherwise);
}

std::vector<int64_t> GoldenArgs::Ints(const std::string& attr, std::vector<int64_t> otherwise) {
  used_.insert(attr);
  return case_.Ints(attr, std::move(otherwise));
}

std::string GoldenArgs::Text(const std::string& attr) {
  used_.insert(attr);
  return case_.Text(attr, "");
}

int64_t GoldenArgs::Enumerator(const std::string& attr, const WordList& words, int64_t otherwise) {
  if (!Has(attr)) return otherwise;
  const std::string word = Text(attr);
  const EnumWord* const known = words.Find(word);
  FIRN_CHECK(known != nullptr, attr, " is ", word, ", none of ", words.Text());
  return known->value;
}

std::vector<std::string> GoldenArgs::Unused() const {
  std::vector<std::string> unused;
  for (const auto& [name, tensor] : inputs_) {
    if (!used_.contains(name)) unused.push_back(name);
  }
  for (const auto& [name, words] : case_.attrs) {
    if (!used_.contains(name)) unused.push_back(name);
  }
  return unused;
}

void SetAttrs(GoldenArgs& args, const AttrsType* type, void* attrs) {
  AttrSetter setter(&args);
  type->visit(attrs, setter);
}

GoldenResults::GoldenResults(std::initializer_list<std::pair<std::string, Tensor>> list) {
  for (const auto& [name, tensor] : list) named.Insert(name, tensor);
}

GoldenRegistration::GoldenRegistration(std::string_view name, GoldenFn fn) {
  const bool inserted = Adapters().emplace(std::string(name), fn).second;
  FIRN_CHECK(inserted, "golden adapter registered twice: ", std::string(name));
}

GoldenFn FindGolden(std::string_view name) {
  const auto it = Adapters().find(name);
  return it == Adapters().end() ? nullptr : it->second;
}

std::vector<std::string> GoldenNames() {
  std::vector<std::string> names;
  for (const auto& [name, fn] : Adapters()) names.push_back(name);
  return names;
}

}  // namespace firn::testing
