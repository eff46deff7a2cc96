#ifndef FIRN_TESTS_AUTOGRAD_GRAPH_PASSES_GRAPH_BUILDER_H_
#define FIRN_TESTS_AUTOGRAD_GRAPH_PASSES_GRAPH_BUILDER_H_

// Small graphs by hand, and runs of graphs as they are, for tests of passes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/executor.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/lower.h"
#include "firn/autograd/graph/passes/pass.h"
#include "firn/autograd/graph/passes/rewrite.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn::testing {

inline Dims Sizes(std::initializer_list<int64_t> sizes) { return Shape(sizes).dims(); }

// GraphBuilder b;
// const ValueId x = b.Input({2, 3});
// Graph graph = b.Build({b.Call("exp", {x})});
class GraphBuilder {
 public:
  ValueId Input(const Shape& shape, DType dtype = kDefaultFloat) {
    const TensorSpec spec = TensorSpec::Contiguous(dtype, shape, {});
    graph_.buffers.push_back({Buffer::Kind::kInput, static_cast<int64_t>(spec.bytes()), {}});
    graph_.values.push_back({static_cast<BufferId>(graph_.buffers.size() - 1), 0, spec, {}});
    graph_.inputs.push_back(static_cast<ValueId>(graph_.values.size() - 1));
    return graph_.inputs.back();
  }
  ValueId Constant(const Tensor& t) { return AddConstant(graph_, t); }
  ValueId State(const Tensor& t) {
    const ValueId id = AddConstant(graph_, t);
    graph_.buffer_of(id).kind = Buffer::Kind::kState;
    return id;
  }

  // The first result, kNoValue when there is none.
  ValueId Call(std::string_view op, const std::vector<ValueId>& in, AttrsRef attrs = {}) {
    absl::StatusOr<Instr> instr = MakeInstr(graph_, Op(op), in, attrs);
    EXPECT_TRUE(instr.ok()) << instr.status();
    instr->phase = phase;
    graph_.instrs.push_back(*std::move(instr));
    return graph_.instrs.back().out.empty() ? kNoValue : graph_.instrs.back().out[0];
  }
  // Result `i` of the last call.
  ValueId result(size_t i) const { return graph_.instrs.back().out[i]; }
  Graph& graph() { return graph_; }

  Graph Build(const std::vector<ValueId>& outputs) {
    graph_.outputs = outputs;
    EXPECT_TRUE(graph_.Verify().ok()) << graph_.Verify() << "\n" << graph_.DebugString();
    return std::move(graph_);
  }

  Phase phase = Phase::kForward;  // of calls from here on

 private:
  Graph graph_;
};

// Runs a graph once, lowered but without passes.
inline TensorList RunGraph(const Graph& graph, absl::Span<const Tensor> in = {}) {
  absl::StatusOr<Graph> lowered = Lower(graph);
  EXPECT_TRUE(lowered.ok()) << lowered.status();
  if (!lowered.ok()) return {};
  auto executor = Executor::Make(*std::move(lowered));
  EXPECT_TRUE(executor.ok()) << executor.status();
  if (!executor.ok()) return {};
  TensorList out;
  for (ValueId id : graph.outputs) {
    const TensorSpec& spec = graph.value(id).spec;
    out.push_back(Empty(spec.shape, spec.dtype));
  }
  const absl::Status status = (*executor)->Run(in, out);
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

// Runs a pass and checks what holds for all of them.
inline PassReport RunPass(absl::StatusOr<PassReport> (*pass)(Graph&), Graph& graph) {
  absl::StatusOr<PassReport> report = pass(graph);
  EXPECT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(graph.Verify().ok()) << graph.Verify() << "\n" << graph.DebugString();
  if (!report.ok()) return {};
  EXPECT_EQ(static_cast<size_t>(report->changes), report->what.size());
  return *std::move(report);
}

// The operations in order: "exp relu".
inline std::string OpsOf(const Graph& graph) {
  std::string names;
  for (const Instr& instr : graph.instrs) {
    names += (names.empty() ? "" : " ") + std::string(instr.op->name);
  }
  return names;
}

inline int64_t CountOf(const Graph& graph, std::string_view op) {
  int64_t count = 0;
  for (const Instr& instr : graph.instrs) count += instr.op->name == op ? 1 : 0;
  return count;
}

// The largest difference, relative to the largest element of `want`.
inline double Difference(const Tensor& got, const Tensor& want) {
  const std::vector<double> a = got.ToVector<double>(), b = want.ToVector<double>();
  EXPECT_EQ(a.size(), b.size());
  double difference = 0, largest = 1e-30;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    difference = std::max(difference, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  return difference / largest;
}

}  // namespace firn::testing

#endif  // FIRN_TESTS_AUTOGRAD_GRAPH_PASSES_GRAPH_BUILDER_H_
