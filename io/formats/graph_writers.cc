// Writers stand in the order of their names, so that nothing depends on the order in which pages
// were linked.
#include "firn/io/formats/graph_writers.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<const GraphWriter>> writers;  // by names in small letters
};
Registry& TheRegistry() {
  static auto* const registry = new Registry();
  return *registry;
}

template <class... What>
[[noreturn]] void Refuse(const What&... what) {
  RaiseStatus(InvalidArgument(what...), "register_graph_writer");
}

void CheckSuffixes(const GraphWriter& writer, const Registry& registry) {
  if (writer.suffixes.empty()) Refuse(writer.name, ": expected a suffix, got none");
  for (const std::string& suffix : writer.suffixes) {
    if (suffix.size() < 2 || suffix[0] != '.' || absl::AsciiStrToLower(suffix) != suffix) {
      Refuse(writer.name, ": the suffix '", suffix, "' (want a dot and small letters behind it)");
    }
    for (const auto& [key, other] : registry.writers) {
      if (std::count(other->suffixes.begin(), other->suffixes.end(), suffix) == 0) continue;
      Refuse(writer.name, ": the suffix ", suffix, " is that of ", other->name,
             " (want one that no writer has)");
    }
  }
}

}  // namespace

void RegisterGraphWriter(GraphWriter writer) {
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  std::string key = absl::AsciiStrToLower(writer.name);
  if (key.empty() || registry.writers.contains(key)) {
    Refuse("a writer called '", writer.name, "' (want a name that no writer has)");
  }
  if (!writer.write) Refuse(writer.name, ": expected a function that writes, got none");
  CheckSuffixes(writer, registry);
  registry.writers.emplace(std::move(key), std::make_unique<const GraphWriter>(std::move(writer)));
}

std::vector<const GraphWriter*> GraphWriters() {
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  std::vector<const GraphWriter*> writers;
  for (const auto& [key, writer] : registry.writers) writers.push_back(writer.get());
  return writers;
}

const GraphWriter* GraphWriterOfName(std::string_view path) {
  const GraphWriter* best = nullptr;
  size_t longest = 0;
  for (const GraphWriter* writer : GraphWriters()) {
    for (const std::string& suffix : writer->suffixes) {
      if (suffix.size() <= longest || !absl::EndsWithIgnoreCase(std::string(path), suffix))
        continue;
      best = writer;
      longest = suffix.size();
    }
  }
  return best;
}

std::string GraphSuffixesText() {
  std::vector<std::string> all;
  for (const GraphWriter* writer : GraphWriters()) {
    all.insert(all.end(), writer->suffixes.begin(), writer->suffixes.end());
  }
  std::sort(all.begin(), all.end());
  std::string text;
  for (size_t i = 0; i < all.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : i + 1 == all.size() ? " or " : ", ", all[i]);
  }
  return text;
}

}  // namespace firn::io
