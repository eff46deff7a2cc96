// The contents that followers of all kinds keep, and the room that these take.
#include "tools/firn/monitor/follower.h"

#include <cstddef>
#include <utility>

namespace firn::cli {

void Follower::AddPoint(std::string_view name, double x, double y) {
  const std::string kept = Name(name);
  auto at = found_.curves.find(kept);
  if (at == found_.curves.end()) {
    Room::Share share = rooms_->curves.Take(ThinCurve::MaxBytes() + 512);
    if (!share) return;
    at = found_.curves.emplace(kept, Findings::Kept<ThinCurve>{}).first;
    at->second.share = std::move(share);
  }
  at->second.value.Add(x, y);
}

int64_t Follower::BytesOf(const io::EventGraphNode& node) {
  size_t bytes = sizeof(node) + node.name.size() + node.op.size() + node.device.size();
  for (const std::string& input : node.inputs) bytes += sizeof(input) + input.size();
  for (const auto& shape : node.output_shapes) {
    bytes += sizeof(shape) + shape.size() * sizeof(int64_t);
  }
  return static_cast<int64_t>(bytes);
}

void Follower::KeepGraph(std::vector<io::EventGraphNode> nodes) {
  int64_t bytes = 0;
  for (const io::EventGraphNode& node : nodes) bytes += BytesOf(node);
  found_.graph.clear();
  found_.graph_share = {};
  Room::Share share = rooms_->other.Take(bytes);
  if (!share) return;
  found_.graph = std::move(nodes);
  found_.graph_share = std::move(share);
}

std::string Follower::Name(std::string_view name) const {
  return std::string(name.substr(0, static_cast<size_t>(rooms_->limits.max_name_bytes)));
}

}  // namespace firn::cli
