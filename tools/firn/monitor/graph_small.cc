// MakeSmall: groups by prefixes of names, a node being its name or, in a module that has no other
// one in it, that module's.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "tools/firn/monitor/graph_svg.h"

namespace firn::cli {
namespace {

constexpr size_t kMostDepth = 16, kMostLabel = 24, kMostHint = 300, kMostShapes = 4;

// The first `depth` words of a name; all of it where it has no more.
std::string_view Prefix(std::string_view name, size_t depth) {
  size_t at = 0;
  for (size_t i = 0; i < depth; ++i) {
    at = name.find('/', at);
    if (at == std::string_view::npos) return name;
    ++at;
  }
  return name.substr(0, at - 1);
}

std::string_view NodeOf(std::string_view input) {
  if (input.starts_with('^')) input.remove_prefix(1);
  const size_t colon = input.rfind(':');
  const bool number = colon != std::string_view::npos &&
                      input.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  return number ? input.substr(0, colon) : input;
}

std::string Short(std::string_view text) {
  if (text.size() <= kMostLabel) return std::string(text);
  return absl::StrCat(std::string(text.substr(0, kMostLabel - 3)), "...");
}

std::string HintOf(const io::EventGraphNode& node) {
  std::string hint = node.name.substr(0, kMostHint);
  if (!node.op.empty()) absl::StrAppend(&hint, ": ", node.op.substr(0, kMostHint));
  for (size_t i = 0; i < std::min(node.output_shapes.size(), kMostShapes); ++i) {
    absl::StrAppend(&hint, " [");
    for (size_t k = 0; k < std::min<size_t>(node.output_shapes[i].size(), 8); ++k) {
      absl::StrAppend(&hint, k == 0 ? "" : ", ", node.output_shapes[i][k]);
    }
    absl::StrAppend(&hint, "]");
  }
  return hint;
}

using Names = std::vector<std::string_view>;

std::string_view ModuleOf(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
}

// The name for each node in the picture: its own, or that of its module if the module has no other
// module in it and more than this node.
Names NamesOf(const std::vector<io::EventGraphNode>& nodes, bool by_module) {
  std::map<std::string_view, int64_t> modules;  // and how many nodes each has
  for (const io::EventGraphNode& node : nodes) ++modules[ModuleOf(node.name)];
  Names names;
  for (const io::EventGraphNode& node : nodes) {
    const std::string_view module = ModuleOf(node.name);
    bool whole = by_module && !module.empty() && modules[module] > 1;
    if (whole) {
      const std::string inside = absl::StrCat(std::string(module), "/");
      const auto next = modules.lower_bound(inside);
      whole = next == modules.end() || !next->first.starts_with(inside);
    }
    names.push_back(whole ? module : std::string_view(node.name));
  }
  return names;
}

// How many groups prefixes of this depth make, counted up to `most` + 1.
size_t CountGroups(const Names& names, size_t depth, size_t most) {
  std::map<std::string_view, bool> groups;
  for (const std::string_view name : names) {
    groups[Prefix(name, depth)] = true;
    if (groups.size() > most) break;
  }
  return groups.size();
}

// The most words with which there are few enough groups; 0 where even one word makes too many.
size_t DepthFor(const Names& names, size_t most) {
  size_t depth = kMostDepth;
  while (depth > 0 && CountGroups(names, depth, most) > most) --depth;
  return depth;
}

std::string_view LastWord(std::string_view name) {
  return name.substr(std::min(name.rfind('/') + 1, name.size()));
}

}  // namespace

SmallGraph MakeSmall(const std::vector<io::EventGraphNode>& nodes,
                     const SmallGraphOptions& options) {
  SmallGraph graph{.all = static_cast<int64_t>(nodes.size())};
  const Names names = NamesOf(nodes, options.by_module);
  const bool few = CountGroups(names, SIZE_MAX, options.most) <= options.most;
  const size_t depth = few ? SIZE_MAX : DepthFor(names, options.most);
  if (depth == 0) return graph;
  std::map<std::string_view, size_t> places;  // of prefixes
  std::map<std::string_view, size_t> of;      // of nodes
  for (size_t i = 0; i < nodes.size(); ++i) {
    const io::EventGraphNode& node = nodes[i];
    const std::string_view prefix = Prefix(names[i], depth);
    const auto [at, added] = places.emplace(prefix, graph.nodes.size());
    of[node.name] = at->second;
    if (added) {
      const std::string label = node.op.empty() ? std::string(LastWord(node.name)) : node.op;
      graph.nodes.push_back({std::string(prefix), Short(label), HintOf(node), 1, {}});
      continue;
    }
    SmallGraph::Node& group = graph.nodes[at->second];
    ++group.members;
    group.label = Short(LastWord(prefix));
    group.hint = absl::StrCat(group.name.substr(0, kMostHint), ": ", group.members, " nodes");
  }
  for (const io::EventGraphNode& node : nodes) {
    const size_t to = of[node.name];
    for (const std::string& input : node.inputs) {
      const auto from = of.find(NodeOf(input));
      if (from == of.end() || from->second == to) continue;
      std::vector<size_t>& inputs = graph.nodes[to].inputs;
      if (std::find(inputs.begin(), inputs.end(), from->second) == inputs.end()) {
        inputs.push_back(from->second);
      }
    }
  }
  return graph;
}

}  // namespace firn::cli
