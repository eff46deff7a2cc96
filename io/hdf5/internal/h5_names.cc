// Reading turns each slash into a dot, so a dot may be written as either: as a slash where it can
// be, and as itself where a group could not stand:
//   - beside another dot or at an end of the name: a link needs a name;
//   - after a prefix that is an entry itself ("w", "w.m"): a dataset has no members;
//   - deeper than kMaxGroups.
// What a link's name cannot hold is escaped: % as %25, / as %2F, NUL as %00, the dots of a name
// that is nothing but dots as %2E, and the empty name is a single %.
#include "firn/io/hdf5/internal/h5_names.h"

#include <algorithm>

namespace firn::io::internal {
namespace {

constexpr int kMaxGroups = 32;

struct Escape {
  char plain;
  std::string_view code;
};
constexpr Escape kEscapes[] = {{'%', "%25"}, {'/', "%2F"}, {'\0', "%00"}, {'.', "%2E"}};
constexpr std::string_view kEmptyName = "%";

bool OnlyDots(std::string_view name) {
  return name.find_first_not_of('.') == std::string_view::npos;
}

}  // namespace

std::string H5Path(const StateDict& state, std::string_view name) {
  if (name.empty()) return std::string(kEmptyName);
  const bool only_dots = OnlyDots(name);
  std::string path;
  int groups = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool inner_dot =
        name[i] == '.' && i > 0 && i + 1 < name.size() && name[i - 1] != '.' && name[i + 1] != '.';
    if (inner_dot && groups < kMaxGroups && !state.Contains(name.substr(0, i))) {
      path += '/';
      ++groups;
      continue;
    }
    const auto* escape = std::find_if(std::begin(kEscapes), std::end(kEscapes),
                                      [&](const Escape& e) { return e.plain == name[i]; });
    if (escape == std::end(kEscapes) || (name[i] == '.' && !only_dots)) {
      path += name[i];
    } else {
      path += escape->code;
    }
  }
  return path;
}

std::string H5Name(std::string_view path) {
  if (path == kEmptyName) return "";
  std::string name;
  for (size_t i = 0; i < path.size();) {
    const auto* escape =
        std::find_if(std::begin(kEscapes), std::end(kEscapes),
                     [&](const Escape& e) { return path.substr(i, e.code.size()) == e.code; });
    if (escape != std::end(kEscapes)) {
      name += escape->plain;
      i += escape->code.size();
    } else {
      name += path[i] == '/' ? '.' : path[i];
      ++i;
    }
  }
  return name;
}

}  // namespace firn::io::internal
