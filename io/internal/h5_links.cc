// A path is followed name by name. Where a name is itself a soft link, its path takes the place of
// what was gone through, and is gone through first. What is gone through counts as metadata.
#include "firn/io/internal/h5_links.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/h5_object.h"

namespace firn::io::internal {

absl::StatusOr<const H5Links::Members*> H5Links::MembersOf(uint64_t group, std::string_view path) {
  const auto [it, is_new] = groups_.try_emplace(group);
  if (!is_new) return &it->second;
  FIRN_ASSIGN_OR_RETURN(const H5Object object, ReadH5Object(file_, group));
  if (!object.is_group()) {
    return file_.Refused(
        absl::StrCat("a soft link to ", std::string(path), ", which goes through no group"));
  }
  FIRN_ASSIGN_OR_RETURN(std::vector<H5Link> links, ListH5Group(file_, object));
  for (H5Link& link : links) {
    std::string name = link.name;
    it->second.emplace(std::move(name), std::move(link));
  }
  return &it->second;
}

absl::StatusOr<uint64_t> H5Links::Resolve(uint64_t from, std::string_view path) {
  constexpr int kMostLinks = 16;  // as HDF5 follows
  std::string rest(path);
  uint64_t at = rest.starts_with('/') ? file_.root() : from;
  int followed = 0;
  FIRN_RETURN_IF_ERROR(file_.ChargeMetadata(rest.size()));
  for (size_t begin = 0; begin < rest.size();) {
    const size_t end = std::min(rest.find('/', begin), rest.size());
    const std::string name = rest.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty() || name == ".") continue;
    FIRN_ASSIGN_OR_RETURN(const Members* const members, MembersOf(at, path));
    const auto it = members->find(name);
    if (it == members->end()) {
      return file_.Refused(
          absl::StrCat("a soft link to ", std::string(path), ", where nothing is"));
    }
    if (!it->second.is_soft) {
      at = it->second.address;
      continue;
    }
    if (++followed >= kMostLinks) {
      return file_.Refused(absl::StrCat("a soft link to ", std::string(path),
                                        ", which leads through ", kMostLinks, " others: a cycle"));
    }
    rest = absl::StrCat(it->second.path, "/", begin < rest.size() ? rest.substr(begin) : "");
    FIRN_RETURN_IF_ERROR(file_.ChargeMetadata(rest.size()));
    if (rest.starts_with('/')) at = file_.root();
    begin = 0;
  }
  return at;
}

}  // namespace firn::io::internal
