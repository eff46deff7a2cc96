// A name is cut into words: runs of letters, digits and bytes beyond ASCII, and also before a
// capital after a small letter. A word for a part of the data counts where it begins or ends what
// stands between two slashes, as writers of all frameworks put it; in the middle, as in "mean train
// speed", it may mean anything.
#include "firn/io/monitors/series_names.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace firn::io {
namespace {

struct Word {
  std::string text = {};  // in small letters
  bool begins = false;    // what stands between two slashes
  bool ends = false;
};

bool IsOfWord(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || (c & 0x80); }

// Without the mark that some programs put before the first column of a table.
std::string_view Unmarked(std::string_view name) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return name.starts_with(kMark) ? name.substr(kMark.size()) : name;
}

std::vector<Word> WordsOf(std::string_view name) {
  name = Unmarked(name);
  std::vector<Word> words;
  bool inside = false, begins = true;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!IsOfWord(c)) {
      inside = false;
      if (c == '/') {
        begins = true;
        if (!words.empty()) words.back().ends = true;
      }
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    const bool hump = inside && absl::ascii_isupper(byte) &&
                      absl::ascii_islower(static_cast<unsigned char>(name[i - 1]));
    if (!inside || hump) words.push_back({.begins = std::exchange(begins, false)});
    words.back().text += absl::ascii_tolower(byte);
    inside = true;
  }
  if (!words.empty()) words.back().ends = true;
  return words;
}

DataPart PartOf(std::string_view word) {
  constexpr std::pair<std::string_view, DataPart> kWords[] = {
      {"train", DataPart::kTraining},        {"training", DataPart::kTraining},
      {"val", DataPart::kValidation},        {"valid", DataPart::kValidation},
      {"validation", DataPart::kValidation}, {"eval", DataPart::kValidation},
      {"evaluation", DataPart::kValidation}, {"test", DataPart::kTest},
      {"testing", DataPart::kTest}};
  const auto* const found = std::find_if(std::begin(kWords), std::end(kWords),
                                         [&](const auto& one) { return one.first == word; });
  return found == std::end(kWords) ? DataPart::kNone : found->second;
}

}  // namespace

NameParts PartsOf(std::string_view name) {
  const std::vector<Word> words = WordsOf(name);
  NameParts parts;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool may =
        parts.part == DataPart::kNone && words.size() > 1 && (words[i].begins || words[i].ends);
    const DataPart part = may ? PartOf(words[i].text) : DataPart::kNone;
    if (part != DataPart::kNone) {
      parts.part = part;
    } else {
      absl::StrAppend(&parts.base, parts.base.empty() ? "" : " ", words[i].text);
    }
  }
  return parts;
}

std::vector<LineStyle> StylesOf(const std::vector<std::string>& names, size_t colors) {
  std::vector<LineStyle> styles;
  std::map<std::string, size_t> color_of;  // by base
  std::set<std::pair<size_t, size_t>> taken;
  size_t next = 0;
  for (const std::string& name : names) {
    const NameParts parts = PartsOf(name);
    const size_t part = parts.part == DataPart::kValidation ? 1
                        : parts.part == DataPart::kTest     ? 2
                                                            : 0;
    // A name without letters has nothing in common with another one.
    const auto [at, added] = color_of.emplace(parts.base.empty() ? name : parts.base, next);
    size_t color = at->second;
    if (!taken.insert({color, part}).second) {
      color = next;
      taken.insert({color, part});
    }
    if (color == next) ++next;
    styles.push_back({color, part + (color / colors % 2 == 0 ? 0 : 3)});
  }
  return styles;
}

size_t XColumnOf(const std::vector<std::string>& columns) {
  if (columns.empty()) return 0;
  if (!absl::EqualsIgnoreCase(std::string(Unmarked(columns[0])), "epoch")) return 0;
  const auto step = std::find_if(columns.begin(), columns.end(), [](const std::string& column) {
    return absl::EqualsIgnoreCase(column, "step");
  });
  return step == columns.end() ? 0 : static_cast<size_t>(step - columns.begin());
}

bool CountsEpochs(std::string_view column) {
  const std::vector<Word> words = WordsOf(column);
  return std::any_of(words.begin(), words.end(), [](const Word& word) {
    return word.text == "epoch" || word.text == "epochs";
  });
}

}  // namespace firn::io
