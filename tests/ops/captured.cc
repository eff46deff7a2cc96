// Calls inside a graph: a captured run and every run of its graph give what the call gives outside,
// to the bit. Arguments are the graph's inputs, temporaries that results may be written over, and
// states in several layouts.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "autograd/backward.h"
#include "autograd/graph/static_graph.h"
#include "tensor/apply.h"
#include "tensor/dispatch.h"
#include "tensor/ops/clone.h"
#include "tests/ops/calls.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"

namespace firn::testing {
namespace {

// What is captured, on the inputs of a call.
using Body = std::function<TensorList(const std::vector<Tensor>&)>;

bool IsState(const OpDef& op, const Call& call, size_t i) {
  return call.inputs[i].defined() && DeclOf(op, i).inout;
}

// One call whose written arguments are tensors of its own, set back before each run.
class Arguments {
 public:
  Arguments(const OpDef& op, const Call& call) : op_(op), call_(call), in_(call.inputs) {
    for (size_t i = 0; i < in_.size(); ++i) {
      if (IsState(op, call, i)) in_[i] = CopyOf(in_[i]);
    }
  }
  void Reset() {
    for (size_t i = 0; i < in_.size(); ++i) {
      if (IsState(op_, call_, i)) in_[i].CopyFrom(call_.inputs[i]);
    }
  }
  const std::vector<Tensor>& in() const { return in_; }
  // Copies of the outputs and of what the written arguments are now.
  std::vector<Tensor> Results(const TensorList& out) const {
    std::vector<Tensor> results;
    for (const Tensor& t : out) results.push_back(CopyOf(t));
    for (size_t i = 0; i < in_.size(); ++i) {
      if (IsState(op_, call_, i)) results.push_back(CopyOf(in_[i]));
    }
    return results;
  }

 private:
  const OpDef& op_;
  const Call& call_;
  std::vector<Tensor> in_;
};

void ExpectSame(const std::vector<Tensor>& got, const std::vector<Tensor>& want, const char* what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_TRUE(SameBits(got[i], want[i])) << what << ", result " << i;
  }
}

void ExpectAgreement(const OpDef& op, const Call& call, const Body& body, bool as_inputs) {
  SCOPED_TRACE(absl::StrCat(call.name, as_inputs ? ", inputs" : ", states"));
  Arguments eager(op, call), frozen(op, call);
  const std::vector<Tensor> want = eager.Results(body(eager.in()));
  std::vector<size_t> place;
  std::vector<Tensor> inputs;
  for (size_t i = 0; as_inputs && i < call.inputs.size(); ++i) {
    if (!call.inputs[i].defined() || DeclOf(op, i).inout) continue;
    place.push_back(i);
    inputs.push_back(CopyOf(call.inputs[i]));
  }
  const auto fn = [&](absl::Span<const Tensor> given) {
    std::vector<Tensor> in = frozen.in();
    for (size_t k = 0; k < place.size(); ++k) in[place[k]] = given[k];
    return body(in);
  };
  Captured captured = Capture(fn, inputs);
  ExpectSame(frozen.Results(captured.outputs), want, "the captured run");
  // From here on states lie row-major, and a kernel may sum in another order than before.
  eager.Reset();
  const std::vector<Tensor> next = eager.Results(body(eager.in()));
  absl::StatusOr<StaticGraph> graph = StaticGraph::Compile(std::move(captured.graph));
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (const char* which : {"the first run", "the second run"}) {
    frozen.Reset();
    ExpectSame(frozen.Results(graph->Call(CopiesOf(inputs))), next, which);
  }
}

void CheckCalls(const OpDef& op, const Call& call) {
  NoGradScope no_grad;
  const Body body = [&](const std::vector<Tensor>& in) {
    return Apply(op, RefsOf(in), call.attrs.ref());
  };
  ExpectAgreement(op, call, body, true);
  const Body on_temporaries = [&](const std::vector<Tensor>& in) {
    std::vector<Tensor> copies = in;
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i].defined() && !DeclOf(op, i).inout) copies[i] = Clone(in[i]);
    }
    return body(copies);
  };
  ExpectAgreement(op, call, on_temporaries, true);
  for (const LayoutVariant& v : LayoutVariants(op, call)) {
    // Some layouts cannot be viewed as asked, and expanding changes the values.
    if (Run(op, v.call).status.ok()) ExpectAgreement(op, v.call, body, false);
  }
}

// The gradient of the sum of the outputs by all floating inputs, in the graph.
void CheckGradients(const OpDef& op, const Call& call) {
  std::vector<size_t> wanted;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].defined()) continue;
    if (DeclOf(op, i).inout) return;  // the body would change what it is asked about
    if (IsFloating(call.inputs[i].dtype())) wanted.push_back(i);
  }
  if (op.grad == nullptr || wanted.empty()) return;
  const Body body = [&](const std::vector<Tensor>& in) {
    std::vector<Tensor> inputs = in, leaves, roots;
    for (size_t i : wanted) {
      inputs[i] = inputs[i].Detach();
      leaves.push_back(inputs[i].SetRequiresGrad());
    }
    TensorList results = Apply(op, RefsOf(inputs), call.attrs.ref());
    GradOptions options{.allow_unused = true};
    for (const Tensor& y : results) {
      if (!y.requires_grad()) continue;
      roots.push_back(y);
      options.seeds.push_back(y.Detach());
    }
    if (roots.empty()) return TensorList();
    TensorList gradients;
    for (Tensor& g : Grad(roots, leaves, options)) {
      if (g.defined()) gradients.push_back(std::move(g));
    }
    return gradients;
  };
  ExpectAgreement(op, call, body, true);
}

}  // namespace

void CheckCaptured(const OpDef& op, const Samples& samples) {
  for (const Sample& sample : samples.samples) {
    for (const Call& call : DTypeVariants(op, sample)) CheckCalls(op, call);
    CheckGradients(op, {sample.name, CopiesOf(sample.inputs), sample.attrs});
  }
}

}  // namespace firn::testing
