// DrawGraph. Layers: a node is one below the lowest of its inputs; edges that close a circle do not
// count. Order within a layer: by the mean place of neighbours, some sweeps up and down. Edges over
// several layers bulge, or a straight chain of nodes would hide them.
#include "tools/firn/monitor/graph_svg.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "firn/io/draw/svg.h"

namespace firn::cli {
namespace {

using io::draw::SvgElement;

constexpr double kBox = 26, kLayer = 58, kGap = 16, kMargin = 12, kLetter = 7;

struct Box {
  size_t layer = 0;
  double x = 0, y = 0, width = 0;  // x and y of the middle
};

class Layout {
 public:
  explicit Layout(const SmallGraph& graph) : graph_(graph), boxes_(graph.nodes.size()) {
    FindLayers();
    OrderLayers();
    Place();
  }
  const std::vector<Box>& boxes() const { return boxes_; }
  double width() const { return width_; }
  double height() const { return static_cast<double>(layers_.size()) * kLayer + kMargin; }

 private:
  // Kahn's order; where only circles are left, the first node that remains goes on.
  void FindLayers() {
    const size_t n = graph_.nodes.size();
    std::vector<std::vector<size_t>> users(n);
    std::vector<size_t> waits(n), ready;
    for (size_t i = 0; i < n; ++i) {
      waits[i] = graph_.nodes[i].inputs.size();
      for (const size_t from : graph_.nodes[i].inputs) users[from].push_back(i);
      if (waits[i] == 0) ready.push_back(i);
    }
    std::vector<bool> done(n, false);
    size_t next = 0;
    for (size_t count = 0; count < n; ++count) {
      while (ready.empty()) {
        if (!done[next]) ready.push_back(next);
        ++next;
      }
      const size_t at = ready.back();
      ready.pop_back();
      done[at] = true;
      if (layers_.size() <= boxes_[at].layer) layers_.resize(boxes_[at].layer + 1);
      layers_[boxes_[at].layer].push_back(at);
      for (const size_t user : users[at]) {
        if (done[user]) continue;
        boxes_[user].layer = std::max(boxes_[user].layer, boxes_[at].layer + 1);
        if (--waits[user] == 0) ready.push_back(user);
      }
    }
    users_ = std::move(users);
  }

  void OrderLayers() {
    for (std::vector<size_t>& layer : layers_) std::sort(layer.begin(), layer.end());
    SetPlaces();
    constexpr int kSweeps = 6;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (size_t i = 0; i < layers_.size(); ++i) {
        const bool down = sweep % 2 == 0;
        std::vector<size_t>& layer = layers_[down ? i : layers_.size() - 1 - i];
        std::stable_sort(layer.begin(), layer.end(), [&](size_t a, size_t b) {
          return MeanOfNeighbours(a, down) < MeanOfNeighbours(b, down);
        });
      }
      SetPlaces();
    }
  }

  // Places from 0 to 1 within the layer, for sweeps only.
  void SetPlaces() {
    for (const std::vector<size_t>& layer : layers_) {
      for (size_t i = 0; i < layer.size(); ++i) {
        boxes_[layer[i]].x = (static_cast<double>(i) + 0.5) / static_cast<double>(layer.size());
      }
    }
  }

  double MeanOfNeighbours(size_t node, bool inputs) const {
    const std::vector<size_t>& all = inputs ? graph_.nodes[node].inputs : users_[node];
    if (all.empty()) return boxes_[node].x;
    double sum = 0;
    for (const size_t other : all) sum += boxes_[other].x;
    return sum / static_cast<double>(all.size());
  }

  void Place() {
    std::vector<double> widths;
    for (const std::vector<size_t>& layer : layers_) {
      double width = 0;
      for (const size_t node : layer) {
        const auto letters = static_cast<double>(graph_.nodes[node].label.size());
        boxes_[node].width = std::max(48.0, letters * kLetter + 18);
        width += boxes_[node].width + kGap;
      }
      widths.push_back(width - kGap);
      width_ = std::max(width_, width - kGap);
    }
    width_ += 2 * kMargin + kBulge;
    for (size_t i = 0; i < layers_.size(); ++i) {
      double x = (width_ - widths[i]) / 2;
      for (const size_t node : layers_[i]) {
        boxes_[node].x = x + boxes_[node].width / 2;
        boxes_[node].y = kMargin + kBox / 2 + static_cast<double>(i) * kLayer;
        x += boxes_[node].width + kGap;
      }
    }
  }

  static constexpr double kBulge = 160;  // room for edges at the sides
  const SmallGraph& graph_;
  std::vector<Box> boxes_;
  std::vector<std::vector<size_t>> users_, layers_;
  double width_ = 0;
};

void DrawEdge(const Box& from, const Box& to, std::string* svg) {
  const double y0 = from.y + kBox / 2, y1 = to.y - kBox / 2;
  const double layers = std::abs(static_cast<double>(to.layer) - static_cast<double>(from.layer));
  const double middle = (y1 - y0) / 2;
  const double bulge = layers > 1 ? std::min(50 + 12 * layers, 140.0) : 0;
  io::draw::SvgPath path;
  path.MoveTo({from.x, y0})
      .CurveTo({from.x + bulge, y0 + middle}, {to.x + bulge, y1 - middle}, {to.x, y1});
  *svg += SvgElement("path", {{"class", "edge"}, {"d", path.text()}});
}

void DrawNode(const SmallGraph::Node& node, const Box& box, std::string* svg) {
  const std::string frame = SvgElement("rect", {{"x", box.x - box.width / 2},
                                                {"y", box.y - kBox / 2},
                                                {"width", box.width},
                                                {"height", kBox},
                                                {"rx", 5}});
  const std::string label = io::draw::SvgText({box.x, box.y}, node.label, io::draw::Align::kCenter);
  *svg += SvgElement("g", {{"class", node.members > 1 ? "node group" : "node"}},
                     absl::StrCat(io::draw::SvgHint(node.hint), frame, label));
}

}  // namespace

std::string DrawGraph(const SmallGraph& graph, const std::string& name) {
  if (graph.nodes.empty()) return "";
  const Layout layout(graph);
  std::string svg;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const size_t from : graph.nodes[i].inputs) {
      DrawEdge(layout.boxes()[from], layout.boxes()[i], &svg);
    }
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) DrawNode(graph.nodes[i], layout.boxes()[i], &svg);
  const std::string about = absl::StrCat("The graph ", name, ": ", graph.nodes.size(), " boxes");
  return io::draw::SvgPicture(layout.width(), layout.height(),
                              {{"width", layout.width()},
                               {"height", layout.height()},
                               {"role", "img"},
                               {"aria-label", about}},
                              svg);
}

}  // namespace firn::cli
