// Every operation, and its gradient, on every sample: captured, through a file, and run.
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/capture.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/testing/samples.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using testing::Sample;

std::string Bits(const Tensor& t) {
  const Tensor plain = t.Contiguous();
  return std::string(plain.impl()->data, plain.spec().bytes()) + plain.spec().ToString();
}

std::vector<std::string> Bits(const TensorList& list, const StateDict& states) {
  std::vector<std::string> bits;
  for (const Tensor& t : list) bits.push_back(Bits(t));
  for (const auto& [name, tensor] : states) bits.push_back(name + Bits(tensor));
  return bits;
}

TensorList Call(const OpDef& op, const std::vector<Tensor>& in, const Sample& sample) {
  return Apply(op, std::vector<TensorRef>(in.begin(), in.end()), sample.attrs.ref());
}

// The gradients of the outputs' squares, nearly, by all floating inputs.
TensorList Gradients(const OpDef& op, const std::vector<Tensor>& in, const Sample& sample) {
  std::vector<Tensor> inputs = in, leaves, roots;
  for (Tensor& t : inputs) {
    if (!t.defined() || !IsFloating(t.dtype())) continue;
    t = t.Detach();
    leaves.push_back(t.SetRequiresGrad());
  }
  GradOptions options{.allow_unused = true};
  for (const Tensor& y : Call(op, inputs, sample)) {
    if (!y.requires_grad()) continue;
    roots.push_back(y);
    options.seeds.push_back(y.Detach());
  }
  TensorList gradients;
  if (roots.empty()) return gradients;
  for (Tensor& g : Grad(roots, leaves, options)) {
    if (g.defined()) gradients.push_back(std::move(g));
  }
  return gradients;
}

// Captures `body` on the sample's tensors, in f32 if possible, and compares runs of the graph with
// runs of its copy from a file, from the same states on.
template <class Body>
void ExpectSurvival(const OpDef& op, const Sample& sample, const Body& body) {
  SCOPED_TRACE(std::string(op.name) + ", " + sample.name);
  std::vector<Tensor> in;
  SaveGraphOptions options;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    Tensor t = sample.inputs[i];
    if (t.defined()) {
      t = Contains(op.input(i).dtypes, DType::kF32) && t.dtype() == DType::kF64 ? t.To(DType::kF32)
                                                                                : Clone(t);
      options.names.Insert(std::to_string(i), t);
    }
    in.push_back(t);
  }
  StaticGraph graph = *StaticGraph::Compile(
      Capture([&](absl::Span<const Tensor>) { return body(op, in, sample); }, {}).graph);
  const std::string path = MemoryPath("op.firn");
  const absl::Status saved = TrySaveGraph(path, graph, options);
  ASSERT_TRUE(saved.ok()) << saved << "\n" << graph.captured().DebugString();
  absl::StatusOr<GraphFile> file = TryReadGraph(path);
  ASSERT_TRUE(file.ok()) << file.status() << "\n" << graph.captured().DebugString();
  StateDict used;  // the tensors of the graph that the file has, in its order
  for (const auto& [name, tensor] : file->states) {
    if (const Tensor* t = options.names.Find(name)) used.Insert(name, *t);
  }
  StateDict states;
  for (const auto& [name, tensor] : used) states.Insert(name, file->states[name]);
  absl::StatusOr<StaticGraph> loaded = StaticGraph::Compile(std::move(file->graph));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const TensorList want = graph.Call({}), got = loaded->Call({});
  EXPECT_EQ(Bits(got, states), Bits(want, used)) << graph.captured().DebugString();
}

template <class Body>
int ForEverySample(const Body& body, bool (*wanted)(const OpDef&)) {
  int count = 0;
  for (const OpDef* op : AllOps()) {
    if (!testing::HasSamples(op->name) || !wanted(*op)) continue;
    const auto samples = testing::SamplesOf(op->name);
    for (const Sample& sample : samples->samples) {
      ExpectSurvival(*op, sample, body);
      ++count;
    }
  }
  return count;
}

TEST(GraphFileOpsTest, EveryOperationSurvives) {
  const NoGradScope no_grad;
  EXPECT_GT(ForEverySample(Call, [](const OpDef&) { return true; }), 500);
}

TEST(GraphFileOpsTest, EveryGradientSurvives) {
  EXPECT_GT(ForEverySample(Gradients,
                           [](const OpDef& op) { return op.grad != nullptr && !op.any_inout; }),
            300);
}

}  // namespace
}  // namespace firn::io
