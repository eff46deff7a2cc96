// Pages register before main, and nothing changes afterwards, so there is nothing to lock.
#include "firn/io/formats/graph_writers.h"

#include <list>

#include "absl/strings/match.h"

namespace firn::io::internal {
namespace {

std::list<GraphWriter>& Writers() {
  static auto& writers = *new std::list<GraphWriter>();
  return writers;
}

}  // namespace

void RegisterGraphWriter(GraphWriter writer) { Writers().push_back(std::move(writer)); }

const GraphWriter* GraphWriterOfName(std::string_view path) {
  for (const GraphWriter& writer : Writers()) {
    for (const std::string& suffix : writer.suffixes) {
      if (absl::EndsWithIgnoreCase(std::string(path), suffix)) return &writer;
    }
  }
  return nullptr;
}

}  // namespace firn::io::internal
