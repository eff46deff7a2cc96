// DOT text: operations sorted by module path, so that frames open and close like brackets; then the
// nodes for inputs, states, constants and results; then edges.
//
// An edge starts at the operation that last changed the value: the one that made it, or one that
// wrote into its buffer later.

#include "firn/autograd/graph/dot.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "firn/autograd/graph/visit.h"
#include "firn/device/escape.h"
#include "firn/tensor/op.h"
#include "firn/tensor/pending.h"
#include "firn/tensor/storage.h"

namespace firn {
namespace {

using internal::DotString;

// Light enough for black text; ColorBrewer's Set3.
constexpr std::array<std::string_view, 12> kPalette = {"#8dd3c7", "#ffffb3", "#bebada", "#fb8072",
                                                       "#80b1d3", "#fdb462", "#b3de69", "#fccde5",
                                                       "#d9d9d9", "#bc80bd", "#ccebc5", "#ffed6f"};

// FNV-1a, since std::hash differs between machines.
std::string ColourOf(std::string_view path) {
  if (path.empty()) return "#ffffff";
  uint32_t hash = 2166136261u;
  for (char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return std::string(kPalette[hash % kPalette.size()]);
}

std::string EdgeText(const TensorSpec& spec) {
  std::string text = absl::StrCat(DTypeName(spec.dtype), " ", spec.shape.ToString());
  if (spec.layout.blocked() && spec.layout.channel_block == spec.shape[1]) {
    text += " channels last";
  } else if (spec.layout.blocked()) {
    absl::StrAppend(&text, " in blocks of ", static_cast<int>(spec.layout.channel_block));
  }
  return text;
}

// Attributes on lines of some 40 characters, or boxes get wider than pages.
std::string Wrapped(const std::string& attributes) {
  constexpr size_t kWidth = 40;
  std::string text;
  size_t line = 0;
  for (absl::string_view part : absl::StrSplit(attributes, ", ")) {
    const bool fits = text.empty() || line + part.size() + 2 <= kWidth;
    absl::StrAppend(&text, text.empty() ? "" : fits ? ", " : ",\n", part);
    line = fits ? line + part.size() + 2 : part.size();
  }
  return text;
}

class Drawing {
 public:
  Drawing(const Graph& graph, const PictureOptions& options)
      : graph_(graph),
        by_module_(options.modules),
        made_by_(graph.values.size(), -1),
        written_by_(graph.buffers.size(), -1),
        node_of_(graph.instrs.size()) {
    for (const auto& [name, tensor] : options.names) {
      if (tensor.defined() && !IsPending(tensor)) {
        names_.try_emplace(tensor.impl()->storage.get(), name);
      }
    }
  }

  std::string Draw() {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      AddSource(graph_.inputs[i], absl::StrCat("input ", i));
    }
    std::map<std::vector<std::string>, std::string> modules;  // nodes by path
    VisitOperations(graph_, [&](const OpView& operation) {
      std::vector<std::string> path;
      if (!operation.module_path.empty()) {
        path = absl::StrSplit(std::string(operation.module_path), '.');
      }
      node_of_[operation.index] = absl::StrCat("op", operation.index);
      if (by_module_ && !path.empty()) {
        AddToModule(operation);
      } else {
        modules[path] += Node(operation);
      }
      Connect(operation);
    });
    for (const auto& [key, module] : modules_) {
      std::vector<std::string> path = absl::StrSplit(key.first, '.');
      const std::string name = path.back();
      path.pop_back();
      modules[path] +=
          Box(module.node, absl::StrCat(name, "\n", Wrapped(Counted(module.operations))), key.first,
              key.second);
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      AddSink(graph_.outputs[i], absl::StrCat("output", i), absl::StrCat("output ", i),
              "doubleoctagon");
    }
    for (size_t i = 0; i < graph_.gradients.size(); ++i) {
      const GradientEffect& e = graph_.gradients[i];
      if (e.value == kNoValue) continue;
      AddSink(e.value, absl::StrCat("gradient", i), absl::StrCat("gradient ", i), "trapezium");
    }
    return absl::StrCat(
        "digraph firn {\n  newrank=true;\n  node [fontname=\"Helvetica\", fontsize=11];\n",
        "  edge [fontname=\"Helvetica\", fontsize=9];\n", Framed(modules), ends_, edges_, "}\n");
  }

 private:
  static std::string Node(const OpView& operation) {
    std::string label(operation.name);
    if (!operation.attributes.empty()) absl::StrAppend(&label, "\n", Wrapped(operation.attributes));
    return Box(absl::StrCat("op", operation.index), label, operation.module_path, operation.phase);
  }

  static std::string Box(const std::string& node, const std::string& label, std::string_view path,
                         Phase phase) {
    return absl::StrCat(node, " [shape=box, style=\"filled,",
                        phase == Phase::kBackward ? "dashed" : "solid", "\", fillcolor=\"",
                        ColourOf(path), "\", label=", DotString(label), "];\n");
  }

  // "add, mul x 3", in the order in which they first come.
  static std::string Counted(const std::vector<std::pair<std::string, int>>& operations) {
    std::string text;
    for (const auto& [name, count] : operations) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", name,
                      count == 1 ? "" : absl::StrCat(" x ", count));
    }
    return text;
  }

  void AddToModule(const OpView& operation) {
    const std::pair<std::string, Phase> key(operation.module_path, operation.phase);
    const auto [it, inserted] = modules_.try_emplace(key);
    Module& module = it->second;
    if (inserted) module.node = absl::StrCat("module", modules_.size() - 1);
    node_of_[operation.index] = module.node;
    const auto same = std::find_if(module.operations.begin(), module.operations.end(),
                                   [&](const auto& o) { return o.first == operation.name; });
    if (same == module.operations.end()) {
      module.operations.emplace_back(operation.name, 1);
    } else {
      ++same->second;
    }
  }

  // Paths in order: those inside one module follow each other.
  static std::string Framed(const std::map<std::vector<std::string>, std::string>& modules) {
    std::string text;
    std::vector<std::string> open;
    int frames = 0;
    const auto close_to = [&](size_t depth) {
      for (; open.size() > depth; open.pop_back()) text += "}\n";
    };
    for (const auto& [path, nodes] : modules) {
      const auto differ = std::mismatch(open.begin(), open.end(), path.begin(), path.end());
      close_to(static_cast<size_t>(differ.first - open.begin()));
      while (open.size() < path.size()) {
        open.push_back(path[open.size()]);
        absl::StrAppend(&text, "subgraph cluster", frames++, " {\n",
                        "label=", DotString(open.back()),
                        "; tooltip=", DotString(absl::StrJoin(open, ".")), ";\n");
      }
      text += nodes;
    }
    close_to(0);
    return text;
  }

  // The node of the buffer that the value lies in.
  std::string AddSource(ValueId id, const std::string& title) {
    const Value& v = graph_.value(id);
    const std::string name = absl::StrCat("buffer", v.buffer);
    const auto [it, inserted] = sources_.try_emplace(v.buffer, name);
    if (!inserted) return name;
    const Buffer::Kind kind = graph_.buffer_of(id).kind;
    const std::string_view shape = kind == Buffer::Kind::kInput      ? "oval"
                                   : kind == Buffer::Kind::kState    ? "cylinder"
                                   : kind == Buffer::Kind::kConstant ? "note"
                                                                     : "plaintext";
    absl::StrAppend(&ends_, name, " [shape=", std::string(shape),
                    ", label=", DotString(absl::StrCat(title, "\n", EdgeText(v.spec))), "];\n");
    return name;
  }

  std::string SourceOf(ValueId id) {
    const int64_t by = std::max(made_by_[static_cast<size_t>(id)],
                                written_by_[static_cast<size_t>(graph_.value(id).buffer)]);
    if (by >= 0) return node_of_[static_cast<size_t>(by)];
    return AddSource(id, TitleOf(id));
  }

  // "state fc.weight", "constant %7".
  std::string TitleOf(ValueId id) const {
    const std::string kind(NameOf(graph_.buffer_of(id).kind));
    const Tensor& bound = graph_.value(id).bound;
    const auto named = bound.defined() && !IsPending(bound)
                           ? names_.find(bound.impl()->storage.get())
                           : names_.end();
    return named == names_.end() ? absl::StrCat(kind, " %", id)
                                 : absl::StrCat(kind, " ", named->second);
  }

  // Between two modules there is one edge of a kind, and none from a module to itself.
  void AddEdge(ValueId id, const std::string& to) {
    const std::string from = SourceOf(id);
    const std::string edge = absl::StrCat(
        from, " -> ", to, " [label=", DotString(EdgeText(graph_.value(id).spec)), "];\n");
    if (by_module_ && (from == to || !drawn_.insert(edge).second)) return;
    edges_ += edge;
  }

  void AddSink(ValueId id, const std::string& name, const std::string& label,
               const std::string& shape) {
    absl::StrAppend(&ends_, name, " [shape=", shape, ", label=", DotString(label), "];\n");
    AddEdge(id, name);
  }

  void Connect(const OpView& operation) {
    const std::string& name = node_of_[operation.index];
    const auto by = static_cast<int64_t>(operation.index);
    for (const ValueView& v : operation.inputs) {
      if (v.id != kNoValue) AddEdge(v.id, name);
    }
    for (size_t i = 0; i < operation.inputs.size(); ++i) {
      const ValueId id = operation.inputs[i].id;
      if (id == kNoValue || !operation.instr->op->writes(i)) continue;
      written_by_[static_cast<size_t>(graph_.value(id).buffer)] = by;
      if (graph_.buffer_of(id).kind != Buffer::Kind::kState) continue;
      const std::string edge = absl::StrCat(name, " -> ", AddSource(id, TitleOf(id)),
                                            " [style=dashed, constraint=false];\n");
      if (!by_module_ || drawn_.insert(edge).second) edges_ += edge;
    }
    for (const ValueView& v : operation.outputs) {
      made_by_[static_cast<size_t>(v.id)] = by;
      if (!operation.instr->op->is_view) {
        written_by_[static_cast<size_t>(graph_.value(v.id).buffer)] = by;
      }
    }
  }

  struct Module {
    std::string node;
    std::vector<std::pair<std::string, int>> operations;  // and how often
  };

  const Graph& graph_;
  const bool by_module_;
  std::vector<int64_t> made_by_;      // operations, by value
  std::vector<int64_t> written_by_;   // operations, by buffer
  std::vector<std::string> node_of_;  // by operation
  std::map<std::pair<std::string, Phase>, Module> modules_;
  std::map<const Storage*, std::string> names_;
  std::set<std::string> drawn_;  // edges
  std::map<BufferId, std::string> sources_;
  std::string ends_, edges_;
};

}  // namespace

std::string DotText(const Graph& graph, const PictureOptions& options) {
  return Drawing(graph, options).Draw();
}

}  // namespace firn
