// Suggestions work on modules, not single names: the unexpected "head.weight" and "head.bias" are
// compared with every module that misses something, and the one that misses the most of the same
// last components, then the one spelt most alike, is proposed as "fc.*". A name that stands alone
// is compared by spelling only.

#include "firn/nn/load_report.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/edit_distance.h"

namespace firn::nn {
namespace {

using firn::inner::internal::EditDistance;

// Module path -> last components; "" holds the names without a dot.
using Groups = std::map<std::string, std::set<std::string>>;

Groups GroupByModule(const std::vector<std::string>& names) {
  Groups groups;
  for (const std::string& name : names) {
    const size_t dot = name.rfind('.');
    if (dot == std::string::npos) {
      groups[""].insert(name);
    } else {
      groups[name.substr(0, dot)].insert(name.substr(dot + 1));
    }
  }
  return groups;
}

size_t NumShared(const std::set<std::string>& a, const std::set<std::string>& b) {
  size_t n = 0;
  for (const std::string& s : a) n += b.count(s);
  return n;
}

std::string SuggestModule(const std::string& path, const std::set<std::string>& parts,
                          const Groups& missing) {
  const std::string* best = nullptr;
  size_t best_shared = 0, best_distance = 0;
  for (const auto& [candidate, has] : missing) {
    const size_t shared = NumShared(parts, has);
    if (shared == 0) continue;
    const size_t distance = EditDistance(path, candidate);
    if (best == nullptr || shared > best_shared ||
        (shared == best_shared && distance < best_distance)) {
      best = &candidate;
      best_shared = shared;
      best_distance = distance;
    }
  }
  if (best == nullptr) return "";
  return best->empty() ? *parts.begin() : *best + ".*";
}

std::string SuggestName(const std::string& name, const std::vector<std::string>& missing) {
  std::string best;
  size_t best_distance = name.size() / 3 + 1;  // names farther apart are not similar
  for (const std::string& candidate : missing) {
    const size_t distance = EditDistance(name, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

// "module." if all names are missing names with this in front; else "".
std::string PrefixOf(const std::vector<std::string>& names,
                     const std::vector<std::string>& missing) {
  const size_t dot = names.empty() ? std::string::npos : names[0].find('.');
  if (dot == std::string::npos) return "";
  const std::string prefix = names[0].substr(0, dot + 1);
  const std::set<std::string> wanted(missing.begin(), missing.end());
  const bool all = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return name.starts_with(prefix) && wanted.contains(name.substr(prefix.size()));
  });
  return all ? prefix : "";
}

constexpr size_t kTold = 10;  // names shown of each list: a report fits a screen

// "a, b, c", and of many the first ones: "a, b, c and 273 more".
std::string Listed(const std::vector<std::string>& names, const char* separator = ", ") {
  if (names.size() <= kTold) return absl::StrJoin(names, separator);
  return absl::StrCat(absl::StrJoin(names.begin(), names.begin() + kTold, separator), " and ",
                      names.size() - kTold, " more");
}

}  // namespace

void LoadReport::Suggest() {
  suggestions.clear();
  const std::string prefix = PrefixOf(unexpected, missing);
  if (!prefix.empty()) {
    suggestions = {absl::StrCat("LoadOptions::strip_prefix = \"", prefix, "\"")};
    return;
  }
  const Groups have = GroupByModule(missing);
  const auto add = [&](const std::string& s) {
    if (!s.empty() && std::find(suggestions.begin(), suggestions.end(), s) == suggestions.end()) {
      suggestions.push_back(s);
    }
  };
  for (const auto& [path, parts] : GroupByModule(unexpected)) {
    const std::string module = SuggestModule(path, parts, have);
    add(module);
    if (!module.empty()) continue;
    for (const std::string& part : parts) {
      add(SuggestName(path.empty() ? part : absl::StrCat(path, ".", part), missing));
    }
  }
}

std::string LoadReport::ToString() const {
  if (ok()) {
    return absl::StrCat("all ", loaded, " loaded",
                        converted.empty() ? ""
                                          : absl::StrCat(", ", converted.size(), " converted (",
                                                         Listed(converted, "; "), ")"));
  }
  std::vector<std::string> parts;
  if (!missing.empty()) {
    parts.push_back(absl::StrCat(missing.size(), " missing (", Listed(missing), ")"));
  }
  if (!unexpected.empty()) {
    parts.push_back(absl::StrCat(
        unexpected.size(), " unexpected (", Listed(unexpected),
        suggestions.empty() ? "" : absl::StrCat("; did you mean ", Listed(suggestions), "?"), ")"));
  }
  if (!misshaped.empty()) {
    std::vector<std::string> each;
    for (const Misshaped& m : misshaped) {
      each.push_back(absl::StrCat(m.name, ": file ", m.file, ", net ", m.net));
    }
    parts.push_back(absl::StrCat(misshaped.size(), " misshaped (", Listed(each, "; "), ")"));
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace firn::nn
