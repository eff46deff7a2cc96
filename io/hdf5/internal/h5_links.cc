// A path is followed name by name. If a name is itself a soft link, its path replaces the part
// followed so far and is followed first. Each such replacement charges the path as metadata once
// more, in addition to the listing of its group.
#include "firn/io/hdf5/internal/h5_links.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {

void H5Links::Add(uint64_t group, std::vector<H5Link> members) {
  const auto [it, is_new] = groups_.try_emplace(group);
  if (is_new) it->second.members = std::move(members);
}

const H5Link* H5Links::Find(Group& group, std::string_view name) {
  if (group.by_name.empty()) {
    for (const H5Link& link : group.members) group.by_name.emplace(link.name, &link);
  }
  const auto it = group.by_name.find(name);
  return it == group.by_name.end() ? nullptr : it->second;
}

absl::StatusOr<uint64_t> H5Links::Resolve(uint64_t from, std::string_view path) {
  constexpr int kMostLinks = 16;  // as HDF5 follows
  std::string rest(path);
  uint64_t at = rest.starts_with('/') ? file_.root() : from;
  int followed = 0;
  for (size_t begin = 0; begin < rest.size();) {
    const size_t end = std::min(rest.find('/', begin), rest.size());
    const std::string_view name = std::string_view(rest).substr(begin, end - begin);
    begin = end + 1;
    if (name.empty() || name == ".") continue;
    const auto group = groups_.find(at);
    if (group == groups_.end()) {
      return file_.Refused(
          absl::StrCat("a soft link to ", std::string(path), ", which goes through no group"));
    }
    const H5Link* const link = Find(group->second, name);
    if (link == nullptr) {
      return file_.Refused(
          absl::StrCat("a soft link to ", std::string(path), ", where nothing is"));
    }
    if (!link->is_soft) {
      at = link->address;
      continue;
    }
    if (++followed >= kMostLinks) {
      return file_.Refused(absl::StrCat("a soft link to ", std::string(path),
                                        ", which leads through ", kMostLinks, " others: a cycle"));
    }
    rest = absl::StrCat(link->path, "/", begin < rest.size() ? rest.substr(begin) : "");
    FIRN_RETURN_IF_ERROR(file_.ChargeMetadata(rest.size()));
    if (rest.starts_with('/')) at = file_.root();
    begin = 0;
  }
  return at;
}

}  // namespace firn::io::internal
