#ifndef FIRN_NN_DESCRIBE_H_
#define FIRN_NN_DESCRIBE_H_

#include <string>
#include <type_traits>

#include "firn/device/enum_words.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/shape.h"
#include "firn/tensor/sizes.h"

namespace firn::nn {

// Puts a layer's options together for printing, those that differ from the default only:
// "1 -> 32, kernel=3, padding=1".
class Describer {
 public:
  // As it stands.
  Describer& Text(const std::string& text);
  template <class E>
  requires(std::is_enum_v<E>) Describer& Text(E enumerator) { return Text(ToText(enumerator)); }
  template <class T>
  Describer& Field(const char* name, const T& value) {
    return Text(std::string(name) + "=" + ToText(value));
  }
  template <class T>
  Describer& Field(const char* name, const T& value, const std::type_identity_t<T>& standard) {
    return value == standard ? *this : Field(name, value);
  }
  Describer& Field(const char* name, const Sizes& value, int64_t standard) {
    return value.Are(standard) ? *this : Field(name, value);
  }
  // The fields of an operation's attributes that differ from `standard`.
  Describer& Differences(inner::AttrsRef attrs, inner::AttrsRef standard);
  // "1 -> 32"; an unknown size is "?".
  Describer& FromTo(int64_t in, int64_t out) { return Text(Size(in) + " -> " + Size(out)); }
  static std::string Size(int64_t n) { return n <= 0 ? "?" : ToText(n); }
  const std::string& text() const { return text_; }

 private:
  static std::string ToText(bool b) { return b ? "true" : "false"; }
  static std::string ToText(double v);  // six digits
  static std::string ToText(int64_t v) { return std::to_string(v); }
  static std::string ToText(int v) { return std::to_string(v); }
  static std::string ToText(const std::string& s) { return s; }
  static std::string ToText(const Sizes& s);  // "3", or "[3, 5]"
  static std::string ToText(const Shape& s) { return s.ToString(); }
  template <class E>
  requires(std::is_enum_v<E>) static std::string ToText(E enumerator) {  // its word
    const char* const word = inner::WordFor(enumerator);
    return word != nullptr ? word : "?";
  }

  std::string text_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_DESCRIBE_H_
