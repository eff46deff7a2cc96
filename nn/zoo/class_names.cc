#include "firn/nn/zoo/class_names.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "firn/nn/zoo/zoo.h"

namespace firn::zoo {

const std::vector<std::string>& ClassNames(const std::string& set) {
  static const auto* const all = [] {
    auto* const lists = new std::map<std::string, std::vector<std::string>>();
    for (const ClassNameList* l = kClassNameLists; l->set != nullptr; ++l) {
      (*lists)[l->set] = absl::StrSplit(l->names, '\n', absl::SkipEmpty());
    }
    return lists;
  }();
  return FindPublished(*all, set);
}

}  // namespace firn::zoo
