// Turns a saved graph into nodes like those in event files. It is read and checked, not compiled or
// run.
//
// A file's graph is small where its nodes are not: an operation names its inputs by numbers and its
// module by one, which become names of up to some thousand bytes each. So nodes are made while
// there is room for them, and one after another is counted.
#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "firn/autograd/graph/visit.h"
#include "firn/device/status_macros.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/io/random_access.h"
#include "tools/firn/monitor/follower.h"

namespace firn::cli {
namespace {

std::vector<int64_t> SizesOf(const TensorSpec& spec) {
  const absl::Span<const int64_t> sizes = spec.shape.span();
  return {sizes.begin(), sizes.end()};
}

class GraphFollower final : public Follower {
 public:
  using Follower::Follower;

  absl::Status Read(const io::RandomAccess& file) override {
    const int64_t most = rooms_->limits.max_graph_file_bytes;
    FIRN_RETURN_IF(file.size() > most, ResourceExhausted(file.name(), ": a graph of ", file.size(),
                                                         " bytes (want at most ", most, ")"));
    FIRN_ASSIGN_OR_RETURN(const io::GraphFile read, io::TryReadGraph(file));
    offset_ = file.size();
    KeepGraph(NodesOf(read.graph));
    found_.by_module = true;
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kMostInputs = 64;  // of a node, that a picture can tell apart

  // A node for each input and each operation, named by its module. Edges come from the operation
  // that made a value, one from each. If there are more nodes than fit, the graph gets one node too
  // many, which shows it.
  std::vector<io::EventGraphNode> NodesOf(const Graph& graph) const {
    std::vector<io::EventGraphNode> nodes;
    std::map<ValueId, size_t> made_by;  // which of the nodes
    const int64_t room = rooms_->limits.other_bytes;
    int64_t bytes = 0;
    for (size_t i = 0; i < graph.inputs.size() && bytes <= room; ++i) {
      const ValueId id = graph.inputs[i];
      made_by[id] = nodes.size();
      nodes.push_back({.name = absl::StrCat("input", i),
                       .op = "input",
                       .output_shapes = {SizesOf(graph.value(id).spec)}});
      bytes += BytesOf(nodes.back());
    }
    VisitOperations(graph, [&](const OpView& op) {
      if (bytes > room) return;
      nodes.push_back(NodeOf(op, nodes, made_by));
      for (const ValueView& v : op.outputs) made_by[v.id] = nodes.size() - 1;
      bytes += BytesOf(nodes.back());
    });
    return nodes;
  }

  static io::EventGraphNode NodeOf(const OpView& op, const std::vector<io::EventGraphNode>& nodes,
                                   const std::map<ValueId, size_t>& made_by) {
    io::EventGraphNode node;
    node.op = op.name;
    const std::string path = absl::StrReplaceAll(std::string(op.module_path), {{".", "/"}});
    node.name = absl::StrCat(path, path.empty() ? "" : "/", node.op, "_", op.index);
    std::vector<size_t> from;
    for (const ValueView& v : op.inputs) {
      if (from.size() == kMostInputs) break;
      const auto made = made_by.find(v.id);
      if (made == made_by.end()) continue;
      if (std::find(from.begin(), from.end(), made->second) == from.end()) {
        from.push_back(made->second);
      }
    }
    for (const size_t one : from) node.inputs.push_back(nodes[one].name);
    for (const ValueView& v : op.outputs) node.output_shapes.push_back(SizesOf(*v.spec));
    return node;
  }
};

}  // namespace

std::unique_ptr<Follower> FollowGraph(const std::string& file_name, Rooms* rooms) {
  if (!file_name.ends_with(".firn")) return nullptr;
  return std::make_unique<GraphFollower>(rooms);
}

}  // namespace firn::cli
