// Each kind keeps its first places, so that a message and the list itself stay small whatever the
// file says.
#include "firn/io/internal/unsupported_list.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace firn::io::internal {
namespace {

constexpr size_t kMostKinds = 500, kMostPlaces = 3, kMostBytes = 400;

// Both ends of a text, cut between characters of UTF-8: the first says where, the last why.
std::string Shortened(std::string_view text) {
  if (text.size() <= kMostBytes) return std::string(text);
  const auto within = [&](size_t at) { return (static_cast<unsigned char>(text[at]) >> 6) == 2; };
  size_t first = kMostBytes / 2, last = text.size() - kMostBytes / 2;
  while (first > 0 && within(first)) --first;
  while (last < text.size() && within(last)) ++last;
  return std::string(text.substr(0, first)) + "..." + std::string(text.substr(last));
}

}  // namespace

void UnsupportedList::Add(std::string_view kind, std::string_view place) {
  const std::string key(kind);
  auto at = index_.find(key);
  if (at == index_.end()) {
    if (kinds_.size() == kMostKinds) {
      ++others_;
      return;
    }
    at = index_.emplace(key, kinds_.size()).first;
    kinds_.emplace_back();
  }
  Kind& found = kinds_[at->second];
  if (found.places.size() < kMostPlaces) {
    found.places.push_back(Shortened(place));
  } else {
    ++found.others;
  }
}

std::string UnsupportedList::Text() const {
  std::string text;
  for (const Kind& kind : kinds_) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", absl::StrJoin(kind.places, ", "));
    if (kind.others > 0) absl::StrAppend(&text, " and ", kind.others, " more like these");
  }
  if (others_ > 0) absl::StrAppend(&text, "; and ", others_, " of further kinds");
  return text;
}

}  // namespace firn::io::internal
