// A saved graph, as the nodes that event files have. It is read and checked, not compiled or run.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "autograd/graph/visit.h"
#include "device/status_macros.h"
#include "io/graph_file_contents.h"
#include "tools/firn/monitor/follower.h"

namespace firn::cli {
namespace {

std::vector<int64_t> SizesOf(const TensorSpec& spec) {
  const absl::Span<const int64_t> sizes = spec.shape.span();
  return {sizes.begin(), sizes.end()};
}

// A node for each input and each operation, named by its module. Edges come from the operation that
// made a value.
std::vector<io::EventGraphNode> NodesOf(const Graph& graph) {
  std::vector<io::EventGraphNode> nodes;
  std::map<ValueId, std::string> made_by;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueId id = graph.inputs[i];
    made_by[id] = absl::StrCat("input", i);
    nodes.push_back(
        {.name = made_by[id], .op = "input", .output_shapes = {SizesOf(graph.value(id).spec)}});
  }
  VisitOperations(graph, [&](const OpView& op) {
    io::EventGraphNode node;
    node.op = op.name;
    const std::string path = absl::StrReplaceAll(std::string(op.module_path), {{".", "/"}});
    node.name = absl::StrCat(path, path.empty() ? "" : "/", node.op, "_", op.index);
    for (const ValueView& v : op.inputs) {
      const auto from = made_by.find(v.id);
      if (from != made_by.end()) node.inputs.push_back(from->second);
    }
    for (const ValueView& v : op.outputs) {
      made_by[v.id] = node.name;
      node.output_shapes.push_back(SizesOf(*v.spec));
    }
    nodes.push_back(std::move(node));
  });
  return nodes;
}

class GraphFollower final : public Follower {
 public:
  using Follower::Follower;

  absl::Status Read(const io::internal::RandomAccess& file) override {
    const int64_t most = rooms_->limits.max_graph_file_bytes;
    FIRN_RETURN_IF(file.size() > most, ResourceExhausted(file.name(), ": a graph of ", file.size(),
                                                         " bytes (want at most ", most, ")"));
    FIRN_ASSIGN_OR_RETURN(const io::GraphFile read, io::ReadGraph(file.name()));
    offset_ = file.size();
    std::vector<io::EventGraphNode> nodes = NodesOf(read.graph);
    found_.graph_share = rooms_->other.Take(static_cast<int64_t>(nodes.size()) * 1024);
    if (found_.graph_share) found_.graph = std::move(nodes);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Follower> FollowGraph(const std::string& file_name, Rooms* rooms) {
  if (!file_name.ends_with(".firn")) return nullptr;
  return std::make_unique<GraphFollower>(rooms);
}

}  // namespace firn::cli
