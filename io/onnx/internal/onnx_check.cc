// Graphs are checked from the outside inwards. Values that a graph within a node uses from around
// it, directly or in further graphs within, count as inputs of the node.
#include "firn/io/onnx/internal/onnx_check.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::JsonString;
using Names = absl::flat_hash_set<std::string_view>;

template <class Graph>
std::string NodeIn(const Graph& graph, size_t i) {
  const OnnxNode& node = graph.nodes[i];
  return absl::StrCat("node ", i, " ", JsonString(node.name), " (", node.op_type, ")");
}

std::vector<OnnxGraph>* GraphsOf(OnnxAttribute* attribute) {
  return std::get_if<std::vector<OnnxGraph>>(&attribute->value);
}

// The values that a node uses from around it: its inputs, and the names that graphs within it use
// and do not make.
void UsedBy(OnnxNode& node, Names* used) {
  for (const std::string& input : node.inputs) {
    if (!input.empty()) used->insert(input);
  }
  for (OnnxAttribute& attribute : node.attributes) {
    std::vector<OnnxGraph>* graphs = GraphsOf(&attribute);
    if (graphs == nullptr) continue;
    for (OnnxGraph& graph : *graphs) {
      Names inner, made;
      for (const OnnxValueInfo& input : graph.inputs) made.insert(input.name);
      for (const OnnxTensor& tensor : graph.initializers) made.insert(tensor.name);
      for (const OnnxSparseTensor& tensor : graph.sparse_initializers) {
        made.insert(tensor.values.name);
      }
      for (OnnxNode& within : graph.nodes) {
        UsedBy(within, &inner);
        made.insert(within.outputs.begin(), within.outputs.end());
      }
      for (const OnnxValueInfo& output : graph.outputs) inner.insert(output.name);
      for (const std::string_view name : inner) {
        if (!made.contains(name)) used->insert(name);
      }
    }
  }
}

class Checker {
 public:
  explicit Checker(const OnnxModel& model) : file_(model.file) {}

  // `outer` are the values that the graph sees from around it.
  absl::Status Check(const std::string& where, const Names& outer, OnnxGraph* graph) const {
    Names known = outer, initializers, inputs;
    for (const OnnxValueInfo& input : graph->inputs) {
      FIRN_RETURN_IF(!inputs.insert(input.name).second, Twice(where, "input", input.name));
      FIRN_RETURN_IF(!known.insert(input.name).second, Twice(where, "value", input.name));
    }
    const auto add = [&](const std::string& name) {
      FIRN_RETURN_IF(name.empty(),
                     Fault(where, "expected names of initializers, got an empty one"));
      FIRN_RETURN_IF(!initializers.insert(name).second, Twice(where, "initializer", name));
      // An initializer may be the default of an input.
      FIRN_RETURN_IF(!known.insert(name).second && !inputs.contains(name),
                     Twice(where, "value", name));
      return absl::OkStatus();
    };
    for (const OnnxTensor& tensor : graph->initializers) FIRN_RETURN_IF_ERROR(add(tensor.name));
    for (const OnnxSparseTensor& tensor : graph->sparse_initializers) {
      FIRN_RETURN_IF_ERROR(add(tensor.values.name));
    }
    FIRN_RETURN_IF_ERROR(CheckNodes(where, &known, graph));
    for (const OnnxValueInfo& output : graph->outputs) {
      FIRN_RETURN_IF(!known.contains(output.name),
                     Fault(where, "output ", JsonString(output.name), " is made by nothing"));
    }
    return absl::OkStatus();
  }

  // Nodes of a graph or function: sorts them and adds what they make to `known`.
  template <class Graph>
  absl::Status CheckNodes(const std::string& where, Names* known, Graph* graph) const {
    absl::flat_hash_map<std::string_view, size_t> maker;
    for (size_t i = 0; i < graph->nodes.size(); ++i) {
      for (const std::string& output : graph->nodes[i].outputs) {
        if (output.empty()) continue;
        FIRN_RETURN_IF(known->contains(output) || !maker.emplace(output, i).second,
                       Fault(where, NodeIn(*graph, i), ": output ", JsonString(output),
                             " is the name of another value"));
      }
    }
    FIRN_RETURN_IF_ERROR(Sort(where, *known, maker, graph));
    for (size_t i = 0; i < graph->nodes.size(); ++i) {
      OnnxNode& node = graph->nodes[i];
      for (OnnxAttribute& attribute : node.attributes) {
        std::vector<OnnxGraph>* graphs = GraphsOf(&attribute);
        for (size_t g = 0; graphs != nullptr && g < graphs->size(); ++g) {
          FIRN_RETURN_IF_ERROR(
              Check(absl::StrCat(where, NodeIn(*graph, i), ", ", JsonString(attribute.name), ", "),
                    *known, &(*graphs)[g]));
        }
      }
      for (const std::string& output : node.outputs) {
        if (!output.empty()) known->insert(output);
      }
    }
    return absl::OkStatus();
  }

  template <class... Parts>
  absl::Status Fault(const std::string& where, const Parts&... parts) const {
    return DataLoss(file_, ": ", where, parts...);
  }
  absl::Status Twice(const std::string& where, const char* what, const std::string& name) const {
    return Fault(where, "expected different names of values, got ", what, " ", JsonString(name),
                 " twice");
  }

 private:
  // Kahn's algorithm; among the nodes that may come next the first one in the file is taken.
  template <class Graph>
  absl::Status Sort(const std::string& where, const Names& known,
                    const absl::flat_hash_map<std::string_view, size_t>& maker,
                    Graph* graph) const {
    const size_t n = graph->nodes.size();
    std::vector<size_t> waits(n);
    std::vector<std::vector<size_t>> after(n);
    for (size_t i = 0; i < n; ++i) {
      Names used;
      UsedBy(graph->nodes[i], &used);
      for (const std::string_view name : used) {
        const auto made = maker.find(name);
        FIRN_RETURN_IF(
            made == maker.end() && !known.contains(name),
            Fault(where, NodeIn(*graph, i), ": input ", JsonString(name), " is made by nothing"));
        if (made == maker.end()) continue;
        ++waits[i];
        after[made->second].push_back(i);
      }
    }
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> next;
    for (size_t i = 0; i < n; ++i) {
      if (waits[i] == 0) next.push(i);
    }
    std::vector<size_t> order;
    while (!next.empty()) {
      const size_t made = next.top();
      next.pop();
      order.push_back(made);
      for (const size_t i : after[made]) {
        if (--waits[i] == 0) next.push(i);
      }
    }
    return Reorder(where, order, waits, graph);
  }

  template <class Graph>
  absl::Status Reorder(const std::string& where, const std::vector<size_t>& order,
                       const std::vector<size_t>& waits, Graph* graph) const {
    for (size_t i = 0; i < waits.size(); ++i) {
      FIRN_RETURN_IF(waits[i] != 0,
                     Fault(where, NodeIn(*graph, i), ": its inputs need its outputs, or those of ",
                           "a node that does"));
    }
    if (std::is_sorted(order.begin(), order.end())) return absl::OkStatus();
    std::vector<OnnxNode> sorted;
    for (const size_t i : order) sorted.push_back(std::move(graph->nodes[i]));
    graph->nodes = std::move(sorted);
    return absl::OkStatus();
  }

  const std::string& file_;
};

// Functions by what nodes call them.
using Key = std::tuple<std::string_view, std::string_view, std::string_view>;

class Functions {
 public:
  Functions(const Checker& checker, std::vector<OnnxFunction>* functions)
      : checker_(checker), functions_(*functions) {}

  absl::Status Check() {
    FIRN_RETURN_IF(functions_.size() > kMostFunctions,
                   checker_.Fault("", "expected at most ", kMostFunctions, " functions, got ",
                                  functions_.size()));
    for (size_t i = 0; i < functions_.size(); ++i) {
      const OnnxFunction& f = functions_[i];
      FIRN_RETURN_IF(!index_.emplace(Key(f.domain, f.name, f.overload), i).second,
                     checker_.Fault("", NameOf(i), ": there is another one of this name"));
    }
    for (OnnxFunction& function : functions_) FIRN_RETURN_IF_ERROR(CheckOne(&function));
    nodes_.assign(functions_.size(), kUnknown);
    for (size_t i = 0; i < functions_.size(); ++i) FIRN_RETURN_IF_ERROR(Count(i, 0));
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kMostFunctions = 10000;
  static constexpr int kMostCalls = 100;             // in each other
  static constexpr int64_t kMostNodes = 10'000'000;  // with calls of functions written out
  static constexpr int64_t kUnknown = -1, kOpen = -2;

  std::string NameOf(size_t i) const {
    return absl::StrCat("function ", JsonString(functions_[i].domain), ".",
                        JsonString(functions_[i].name));
  }

  absl::Status CheckOne(OnnxFunction* function) const {
    const std::string where = absl::StrCat("function ", JsonString(function->name), ", ");
    Names known;
    for (const std::string& input : function->inputs) {
      FIRN_RETURN_IF(!known.insert(input).second, checker_.Twice(where, "input", input));
    }
    FIRN_RETURN_IF_ERROR(checker_.CheckNodes(where, &known, function));
    for (const std::string& output : function->outputs) {
      FIRN_RETURN_IF(!known.contains(output),
                     checker_.Fault(where, "output ", JsonString(output), " is made by nothing"));
    }
    return absl::OkStatus();
  }

  // The number of nodes that a call of a function stands for. It is limited, since a chain of
  // functions, each of which calls the next twice, doubles it at every step.
  absl::Status Count(size_t i, int depth) {
    if (nodes_[i] >= 0) return absl::OkStatus();
    FIRN_RETURN_IF(nodes_[i] == kOpen, checker_.Fault("", NameOf(i), ": it calls itself"));
    FIRN_RETURN_IF(depth > kMostCalls, checker_.Fault("", NameOf(i), ": expected at most ",
                                                      kMostCalls, " calls in each other"));
    nodes_[i] = kOpen;
    int64_t n = 0;
    FIRN_RETURN_IF_ERROR(CountNodes(functions_[i].nodes, i, depth, &n));
    nodes_[i] = n;
    return absl::OkStatus();
  }

  absl::Status CountNodes(std::vector<OnnxNode>& nodes, size_t i, int depth, int64_t* n) {
    for (OnnxNode& node : nodes) {
      const auto called = index_.find(Key(node.domain, node.op_type, node.overload));
      if (called != index_.end() && !node.domain.empty()) {
        FIRN_RETURN_IF_ERROR(Count(called->second, depth + 1));
        *n += nodes_[called->second];
      }
      FIRN_RETURN_IF(++*n > kMostNodes, checker_.Fault("", NameOf(i), ": expected at most ",
                                                       kMostNodes, " nodes in its calls"));
      for (OnnxAttribute& attribute : node.attributes) {
        std::vector<OnnxGraph>* graphs = GraphsOf(&attribute);
        for (size_t g = 0; graphs != nullptr && g < graphs->size(); ++g) {
          FIRN_RETURN_IF_ERROR(CountNodes((*graphs)[g].nodes, i, depth, n));
        }
      }
    }
    return absl::OkStatus();
  }

  const Checker& checker_;
  std::vector<OnnxFunction>& functions_;
  absl::flat_hash_map<Key, size_t> index_;
  std::vector<int64_t> nodes_;
};

}  // namespace

absl::Status CheckOnnxModel(OnnxModel* model) {
  const Checker checker(*model);
  FIRN_RETURN_IF_ERROR(Functions(checker, &model->functions).Check());
  return checker.Check("graph, ", {}, &model->graph);
}

}  // namespace firn::io::internal
