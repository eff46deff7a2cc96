#include "firn/autograd/network/port.h"

#include <ostream>

#include "absl/strings/str_cat.h"

namespace firn::autograd {

std::string NetworkPort::Type() const {
  std::string text = dtype ? DTypeName(*dtype) : "any dtype";
  if (!dims) return text;
  const char* separator = " [";
  for (const NetworkDim& dim : *dims) {
    absl::StrAppend(&text, separator,
                    dim.size              ? absl::StrCat(*dim.size)
                    : !dim.symbol.empty() ? dim.symbol
                                          : "?");
    separator = ", ";
  }
  return text + (dims->empty() ? " []" : "]");
}

std::ostream& operator<<(std::ostream& out, const NetworkPort& port) {
  return out << port.name << ": " << port.Type();
}

}  // namespace firn::autograd
