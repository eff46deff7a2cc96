// Names of classes from the C++ ABI's demangled ones, such as "firn::nn::ModuleList<ns::Block>" and
// "Test::Body()::(anonymous namespace)::Net": what counts is what follows the last "::" outside all
// brackets.

#include "firn/nn/type_names.h"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>

namespace firn::nn {

std::string ClassName(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  const std::string full = status == 0 && text != nullptr ? text.get() : type.name();
  size_t begin = 0, end = full.size();
  int depth = 0;
  for (size_t i = 0; i < full.size(); ++i) {
    const char c = full[i];
    if (c == '<' && depth == 0) end = i;
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
    if (depth == 0 && c == ':') {
      begin = i + 1;
      end = full.size();
    }
  }
  return full.substr(begin, end - begin);
}

std::string SnakeCase(const std::string& class_name) {
  const auto upper = [&](size_t i) {
    return i < class_name.size() && std::isupper(static_cast<unsigned char>(class_name[i]));
  };
  const auto lower = [&](size_t i) {
    return i < class_name.size() && std::islower(static_cast<unsigned char>(class_name[i]));
  };
  std::string snake;
  for (size_t i = 0; i < class_name.size(); ++i) {
    const bool starts_word = upper(i) && i > 0 && (!upper(i - 1) || lower(i + 1));
    if (starts_word && !snake.empty() && snake.back() != '_') snake += '_';
    snake += static_cast<char>(std::tolower(static_cast<unsigned char>(class_name[i])));
  }
  return snake;
}

}  // namespace firn::nn
