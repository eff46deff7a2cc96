// A layer is found in the table of internal/layer_classes.h, and a visitor sets its options. Values
// are taken from their texts by the types of the fields.

#include "firn/nn/make_layer.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <typeinfo>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "firn/device/edit_distance.h"
#include "firn/device/status_macros.h"
#include "firn/nn/internal/layer_classes.h"
#include "firn/tensor/error.h"

namespace firn::nn {
namespace {

const LayerClass& FindClass(const std::string& name, const char* function) {
  for (const LayerClass& c : LayerClasses()) {
    if (c.name == name) return c;
  }
  RaiseStatus(
      NotFound("there is no layer named ", name, inner::internal::InsteadOf(name, LayerNames())),
      function);
}

bool ReadNumber(absl::string_view text, int64_t* number) { return absl::SimpleAtoi(text, number); }
bool ReadNumber(absl::string_view text, double* number) { return absl::SimpleAtod(text, number); }

// Reads "3", "3, 5" or "[3, 5]".
template <class T>
std::optional<std::vector<T>> NumbersOf(absl::string_view text) {
  if (absl::ConsumePrefix(&text, "[") && !absl::ConsumeSuffix(&text, "]")) return std::nullopt;
  std::vector<T> numbers;
  for (absl::string_view word : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    if (!ReadNumber(word, &numbers.emplace_back())) return std::nullopt;
  }
  return numbers;
}

// Sets the options that are given by their texts, and remembers which there are.
class Setter final : public OptionVisitor {
 public:
  Setter(const std::string& layer, const OptionValues& values, const StateDict& tensors)
      : layer_(layer), tensors_(tensors) {
    for (const auto& [name, text] : values) {
      if (!values_.emplace(name, text).second) {
        RaiseStatus(InvalidArgument(name, " is given twice"), Where());
      }
    }
    for (const auto& [name, tensor] : tensors) values_.emplace(name, "a tensor");
  }

  using OptionVisitor::Field;
  void Field(const char* name, int64_t& value) override { Set(name, value, "an integer"); }
  void Field(const char* name, double& value) override { Set(name, value, "a number"); }
  void Field(const char* name, bool& value) override { Set(name, value, "true or false"); }
  void Field(const char* name, std::string& value) override { Set(name, value, "a text"); }
  void Field(const char* name, std::vector<int64_t>& value) override {
    Set(name, value, "integers, as in [1, 2]");
  }
  void Field(const char* name, std::vector<double>& value) override {
    Set(name, value, "numbers, as in [1.5, 2]");
  }
  void Field(const char* name, Sizes& value) override {
    Set(name, value, "1 to 3 integers, as in 3 or [3, 5]");
  }
  void Field(const char* name, std::optional<int64_t>& value) override {
    Set(name, value, "an integer");
  }
  void Field(const char* name, std::optional<double>& value) override {
    Set(name, value, "a number");
  }
  void Field(const char* name, Tensor& value) override {
    known_.push_back(name);
    if (const Tensor* given = tensors_.Find(name)) value = *given;
  }
  void SizesOr(const char* name, Sizes& value, const char* word, bool& is_word) override {
    const std::string* const text = Find(name);
    if (text == nullptr) return;
    is_word = *text == word;
    if (is_word || Read(*text, value)) return;
    RaiseUnfit(name, *text, absl::StrCat("1 to 3 integers, as in 3 or [3, 5], or ", word));
  }

  // Throws where an option was given that has not been seen.
  void CheckAllTaken() const {
    for (const auto& [name, text] : values_) {
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      RaiseStatus(InvalidArgument("there is no option named ", name,
                                  inner::internal::InsteadOf(name, known_)),
                  Where());
    }
  }

 private:
  void Enumerator(const char* name, int64_t& number, const inner::WordList& words) override {
    const std::string* const text = Find(name);
    if (text == nullptr) return;
    const inner::EnumWord* const word = words.Find(*text);
    if (word == nullptr) RaiseUnfit(name, *text, words.Text());
    number = word->value;
  }

  static bool Read(const std::string& text, int64_t& value) { return ReadNumber(text, &value); }
  static bool Read(const std::string& text, double& value) { return ReadNumber(text, &value); }
  static bool Read(const std::string& text, bool& value) {
    return absl::SimpleAtob(text, &value);  // 1 and 0, too
  }
  static bool Read(const std::string& text, std::string& value) {
    value = text;
    return true;
  }
  template <class T>
  static bool Read(const std::string& text, std::vector<T>& value) {
    std::optional<std::vector<T>> numbers = NumbersOf<T>(text);
    if (numbers) value = *std::move(numbers);
    return numbers.has_value();
  }
  static bool Read(const std::string& text, Sizes& value) {
    const std::optional<std::vector<int64_t>> numbers = NumbersOf<int64_t>(text);
    if (!numbers || numbers->empty() || numbers->size() > Sizes::kMost) return false;
    value = Sizes(*numbers);
    return true;
  }
  template <class T>
  static bool Read(const std::string& text, std::optional<T>& value) {
    return Read(text, value.emplace());
  }

  template <class T>
  void Set(const char* name, T& value, const std::string& wanted) {
    const std::string* const text = Find(name);
    if (text != nullptr && !Read(*text, value)) RaiseUnfit(name, *text, wanted);
  }

  const std::string* Find(const char* name) {
    known_.push_back(name);
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }
  [[noreturn]] void RaiseUnfit(const char* name, const std::string& text,
                               const std::string& wanted) const {
    RaiseStatus(InvalidArgument(name, " is ", text, " (want ", wanted, ")"), Where());
  }
  std::string Where() const { return absl::StrCat("MakeLayer of ", layer_); }

  const std::string& layer_;
  const StateDict& tensors_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> known_;
};

}  // namespace

std::unique_ptr<Module> MakeLayer(const std::string& name, const OptionValues& options,
                                  const StateDict& tensors) {
  const LayerClass& layer = FindClass(name, "MakeLayer");
  Setter check(name, options, tensors);
  layer.show(nullptr, check);
  check.CheckAllTaken();
  Setter setter(name, options, tensors);
  return std::unique_ptr<Module>(layer.make(setter));
}

std::vector<std::string> LayerNames() {
  std::vector<std::string> names;
  for (const LayerClass& c : LayerClasses()) names.push_back(c.name);
  return names;
}

std::vector<OptionText> LayerOptions(const std::string& name) {
  const LayerClass& layer = FindClass(name, "LayerOptions");
  return OptionTexts([&](OptionVisitor& v) { layer.show(nullptr, v); });
}

std::vector<OptionText> OptionsOf(const Module& layer) {
  for (const LayerClass& c : LayerClasses()) {
    if (c.type != typeid(layer)) continue;
    return OptionTexts([&](OptionVisitor& v) { c.show(&layer, v); });
  }
  RaiseStatus(NotFound("there is no layer named ", layer.type_name(),
                       inner::internal::InsteadOf(layer.type_name(), LayerNames())),
              "OptionsOf");
}

}  // namespace firn::nn
