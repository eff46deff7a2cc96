#ifndef FIRN_DEVICE_MESSAGE_H_
#define FIRN_DEVICE_MESSAGE_H_

#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace firn::inner::internal {

// Converts a part to a type that absl::StrCat takes. Where Abseil was built with a string_view of
// its own, StrCat does not take std::string_view.
template <class Part>
decltype(auto) MessagePart(const Part& part) {
  if constexpr (std::is_same_v<Part, std::string_view>) {
    return absl::string_view(part.data(), part.size());
  } else if constexpr (requires { typename Part::Plain; }) {
    return static_cast<typename Part::Plain>(part);  // of arguments.h
  } else {
    return (part);
  }
}

// Puts the parts together as absl::StrCat does: text (std::string_view included), numbers, bool (as
// 0 or 1), absl::Hex and its like.
template <class... Parts>
std::string Message(const Parts&... parts) {
  return absl::StrCat(MessagePart(parts)...);
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_MESSAGE_H_
