// Formats stand in the order of their names, which is the order in which they are asked: so the
// result does not depend on the order in which pages were linked. A file's bytes come before its
// name, since files of weights have many suffixes. Text formats have no first bytes and are told by
// their names alone.
#include "firn/io/formats/formats.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/little_endian.h"
#include "firn/io/random_access.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<const Format>> formats;  // by their names in small letters
};
Registry& TheRegistry() {
  static auto* const registry = new Registry();
  return *registry;
}

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

using Suffixes = std::vector<std::string>;

// The length of the longest suffix that the name ends in; 0: none.
size_t LongestEnd(const std::string& name, const Suffixes& suffixes) {
  size_t longest = 0;
  for (const std::string& suffix : suffixes) {
    if (absl::EndsWithIgnoreCase(name, suffix)) longest = std::max(longest, suffix.size());
  }
  return longest;
}
size_t SuffixOf(const std::string& name, const Format& format) {
  return std::max(LongestEnd(name, format.suffixes), LongestEnd(name, format.read_suffixes));
}

template <class... What>
[[noreturn]] void Refuse(const What&... what) {
  RaiseStatus(InvalidArgument(what...), "register_format");
}

bool Has(const Suffixes& suffixes, const std::string& suffix) {
  return std::count(suffixes.begin(), suffixes.end(), suffix) > 0;
}

// Whether both formats claim the suffix. A format that is only recognised gives way to one that is
// read, and one suffix may serve for graphs in one format and for tensors in another.
bool Clash(const Format& one, const Format& other, const std::string& suffix, bool of_graphs) {
  if (of_graphs) return Has(other.graph_suffixes, suffix);
  return other.instead.empty() && one.instead.empty() &&
         (Has(other.suffixes, suffix) || Has(other.read_suffixes, suffix));
}

void CheckSuffixes(const Format& format, const Registry& registry) {
  if (format.graph_suffixes.empty() != !format.write_graph) {
    Refuse(format.name, ": expected write_graph and graph_suffixes, got ",
           format.write_graph ? "no suffix" : "no function that writes");
  }
  for (const auto* list : {&format.suffixes, &format.read_suffixes, &format.graph_suffixes}) {
    for (const std::string& suffix : *list) {
      if (suffix.size() < 2 || suffix[0] != '.' || absl::AsciiStrToLower(suffix) != suffix) {
        Refuse(format.name, ": the suffix '", suffix, "' (want a dot and small letters behind it)");
      }
      for (const auto& [key, other] : registry.formats) {
        if (!Clash(format, *other, suffix, list == &format.graph_suffixes)) continue;
        Refuse(format.name, ": the suffix ", suffix, " is that of ", other->name,
               " (want one that no format has)");
      }
    }
  }
}

// ".a, .b or .c".
std::string Listed(Suffixes all) {
  std::sort(all.begin(), all.end());
  std::string text;
  for (size_t i = 0; i < all.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : i + 1 == all.size() ? " or " : ", ", all[i]);
  }
  return text;
}

// The name and first bytes of a file. `file` must outlive the result.
FileHead HeadOf(const std::string& path, const RandomAccess& file) {
  const auto at = [&file](int64_t offset, int64_t n) {
    n = std::min(n, file.size() - offset);
    if (offset < 0 || n <= 0) return std::string();
    std::string bytes(static_cast<size_t>(n), '\0');
    return file.ReadAt(offset, bytes.data(), n, "signature").ok() ? bytes : std::string();
  };
  return {.name = FileName(path), .bytes = at(0, 512), .at = at};
}

}  // namespace

const char* FileHoldsName(FileHolds holds) {
  constexpr const char* kNames[] = {"tensors", "a table", "an image", "sound", "a graph", "events"};
  return kNames[static_cast<size_t>(holds)];
}

std::string_view FileHead::FirstZipMember() const {
  constexpr size_t kHeader = 30, kLength = 26;
  if (bytes.size() < kHeader || !bytes.starts_with("PK\x03\x04")) return {};
  const std::string_view all = bytes;
  return all.substr(kHeader, internal::LittleEndian(all.substr(kLength, 2)));
}

void RegisterFormat(Format format) {
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  std::string key = absl::AsciiStrToLower(format.name);
  if (key.empty() || registry.formats.contains(key)) {
    Refuse("a format called '", format.name, "' (want a name that no format has)");
  }
  CheckSuffixes(format, registry);
  registry.formats.emplace(std::move(key), std::make_unique<const Format>(std::move(format)));
}

std::vector<const Format*> Formats() {
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  std::vector<const Format*> formats;
  for (const auto& [key, format] : registry.formats) formats.push_back(format.get());
  return formats;
}

const Format* FindFormat(std::string_view name) {
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  const auto found = registry.formats.find(absl::AsciiStrToLower(std::string(name)));
  return found == registry.formats.end() ? nullptr : found->second.get();
}

const Format* FormatOfName(std::string_view path) {
  const std::string name = FileName(std::string(path));
  const Format* best = nullptr;
  size_t longest = 0;
  for (const Format* format : Formats()) {
    const size_t length = SuffixOf(name, *format);
    if (length > longest || (length > 0 && length == longest && !best->instead.empty())) {
      best = format;
      longest = length;
    }
  }
  return best;
}

const Format* GraphFormatOfName(std::string_view path) {
  const std::string name = FileName(std::string(path));
  const Format* best = nullptr;
  size_t longest = 0;
  for (const Format* format : Formats()) {
    const size_t length = LongestEnd(name, format->graph_suffixes);
    if (length > longest) best = format;
    longest = std::max(longest, length);
  }
  return best;
}

const Format* FormatOfFile(const std::string& path) {
  const Format* const by_name = FormatOfName(path);
  const auto file = RandomAccess::Open(path);
  if (!file.ok()) return nullptr;
  if (by_name != nullptr && !by_name->recognises && by_name->instead.empty()) return by_name;
  const FileHead head = HeadOf(path, **file);
  const Format* first = nullptr;
  for (const Format* format : Formats()) {
    if (!format->recognises || !format->recognises(head)) continue;
    if (format == by_name) return format;
    if (first == nullptr || (!first->instead.empty() && format->instead.empty())) first = format;
  }
  return first != nullptr ? first : by_name;
}

void RefuseForeign(const std::string& path, std::string_view who) {
  std::error_code error;
  const std::string model = path + "/saved_model.pb";
  const bool folder = std::filesystem::exists(model, error);
  const Format* const format = folder ? FormatOfName(model) : FormatOfFile(path);
  if (format == nullptr || format->instead.empty()) return;
  RaiseStatus(Unimplemented(path, ": is of the format ", format->name,
                            ", which is not read: ", format->instead),
              who);
}

bool EndsAsWritten(std::string_view path, const Format& format) {
  const std::string name = FileName(std::string(path));
  return std::any_of(
      format.suffixes.begin(), format.suffixes.end(),
      [&](const std::string& suffix) { return absl::EndsWithIgnoreCase(name, suffix); });
}

std::string SuffixesText(const std::function<bool(const Format& format)>& which) {
  Suffixes all;
  for (const Format* format : Formats()) {
    if (which(*format)) all.insert(all.end(), format->suffixes.begin(), format->suffixes.end());
  }
  return Listed(std::move(all));
}

std::string GraphSuffixesText() {
  Suffixes all;
  for (const Format* format : Formats()) {
    all.insert(all.end(), format->graph_suffixes.begin(), format->graph_suffixes.end());
  }
  return Listed(std::move(all));
}

}  // namespace firn::io
