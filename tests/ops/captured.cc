// Calls inside a graph: a captured run and every run of its graph give what the call gives outside,
// to the bit. Arguments are the graph's inputs, temporaries that results may be written over, and
// states in several layouts. A run on the captured values is followed by one on others, which a
// graph that holds elements instead of reading them gets wrong.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "firn/autograd/backward.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/reorder.h"
#include "firn/tensor/storage.h"
#include "tests/ops/calls.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"

namespace firn::testing {
namespace {

// The function that is captured, on the inputs of a call.
using Body = std::function<TensorList(const std::vector<Tensor>&)>;

bool IsWritten(const Subject& subject, const Tensor& t, size_t i) {
  return t.defined() && DeclOf(subject, i).inout;
}

// Writes the elements of `from`, whatever the layouts. (Tensors that are expanded take, for each
// element in memory, one of those that it stands for.)
void Write(const Tensor& from, const Tensor& to) {
  const absl::Status status =
      CopyElements(from.spec(), from.impl()->data, to.spec(), to.impl()->data);
  EXPECT_TRUE(status.ok()) << status;
  to.impl()->storage->BumpVersion();
}

// Other elements that the operation takes if it takes those of `t`: rolled by one along the first
// dimension that has several, and halved if they are floating.
Tensor Others(const Tensor& t) {
  if (!t.defined() || t.num_elements() == 0) return t;
  NoGradScope no_grad;
  Tensor rolled = t;
  for (int d = 0; d < t.rank(); ++d) {
    if (t.shape()[d] < 2) continue;
    rolled = Concat({Slice(t, d, 1, t.shape()[d]), Slice(t, d, 0, 1)}, d);
    break;
  }
  return IsFloating(t.dtype()) ? rolled * 0.5 : rolled;
}

// The arguments of one call. Those that it writes are tensors of its own; those that it reads are
// the graph's inputs, in new memory for each run, or the call's own tensors, in which each run
// finds other elements.
class Arguments {
 public:
  Arguments(const Subject& subject, const Call& call, bool as_inputs)
      : op_(subject), in_(call.inputs) {
    for (size_t i = 0; i < in_.size(); ++i) {
      if (!in_[i].defined()) continue;
      if (IsWritten(subject, in_[i], i)) {
        in_[i] = CopyOf(in_[i]);
      } else if (as_inputs) {
        places_.push_back(i);
      }
    }
  }
  void Set(const std::vector<Tensor>& values) {
    for (size_t i = 0; i < in_.size(); ++i) {
      const bool is_input = std::find(places_.begin(), places_.end(), i) != places_.end();
      if (is_input) {
        in_[i] = CopyOf(values[i]);
      } else if (in_[i].defined()) {
        Write(values[i], in_[i]);
      }
    }
  }
  const std::vector<Tensor>& all() const { return in_; }
  std::vector<Tensor> inputs() const {
    std::vector<Tensor> inputs;
    for (size_t i : places_) inputs.push_back(in_[i]);
    return inputs;
  }
  // All arguments, with these inputs.
  std::vector<Tensor> With(absl::Span<const Tensor> inputs) const {
    std::vector<Tensor> all = in_;
    for (size_t k = 0; k < places_.size(); ++k) all[places_[k]] = inputs[k];
    return all;
  }
  // Copies of the outputs and of what the written arguments are now.
  std::vector<Tensor> Results(const TensorList& out) const {
    std::vector<Tensor> results;
    for (const Tensor& t : out) results.push_back(CopyOf(t));
    for (size_t i = 0; i < in_.size(); ++i) {
      if (IsWritten(op_, in_[i], i)) results.push_back(CopyOf(in_[i]));
    }
    return results;
  }

 private:
  const OpDef& op_;
  std::vector<Tensor> in_;
  std::vector<size_t> places_;  // of the graph's inputs
};

void ExpectSame(const std::vector<Tensor>& got, const std::vector<Tensor>& want, const char* what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_TRUE(SameBits(got[i], want[i])) << what << ", result " << i;
  }
}

void ExpectAgreement(const Subject& subject, const Call& call, const Body& body, bool as_inputs) {
  SCOPED_TRACE(absl::StrCat(call.name, as_inputs ? ", inputs" : ", states"));
  Arguments eager(subject, call, as_inputs), frozen(subject, call, as_inputs);
  const std::vector<Tensor> values = CopiesOf(call.inputs);
  std::vector<Tensor> others;
  for (const Tensor& t : values) others.push_back(Others(t));
  const std::vector<Tensor> want = eager.Results(body(eager.all()));
  const std::vector<Tensor> inputs = CopiesOf(frozen.inputs());  // whose memory stays taken
  Captured captured =
      Capture([&](absl::Span<const Tensor> given) { return body(frozen.With(given)); }, inputs);
  ExpectSame(frozen.Results(captured.outputs), want, "the captured run");
  // Does not choose the fastest of several kernels, which may round differently from the usual one.
  absl::StatusOr<StaticGraph> graph =
      StaticGraph::Compile(std::move(captured.graph), {.autotune = false});
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto run = [&](const std::vector<Tensor>& with, const char* what) {
    // States lie row-major from now on, and a kernel may sum in another order than before.
    eager.Set(with);
    const std::vector<Tensor> next = eager.Results(body(eager.all()));
    frozen.Set(with);
    ExpectSame(frozen.Results(graph->Call(frozen.inputs())), next, what);
  };
  run(values, "a run on the captured values");
  run(others, "a run on other values");
  eager.Set(values);  // the call's tensors are used again
}

// Values that a device refuses are told when a result is read.
bool Runs(const Subject& subject, const Call& call) {
  const Outcome outcome = Run(subject, call);
  if (!outcome.status.ok()) return false;
  try {
    for (const Tensor& result : outcome.results) result.To(Device::Cpu());
  } catch (const Error&) {
    return false;
  }
  return true;
}

void CheckCalls(const Subject& subject, const Call& call) {
  NoGradScope no_grad;
  const Body body = [&](const std::vector<Tensor>& in) { return subject(in, call.attrs.ref()); };
  ExpectAgreement(subject, call, body, true);
  const Body on_temporaries = [&](const std::vector<Tensor>& in) {
    std::vector<Tensor> copies = in;
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i].defined() && !DeclOf(subject, i).inout) copies[i] = Clone(in[i]);
    }
    return body(copies);
  };
  ExpectAgreement(subject, call, on_temporaries, true);
  for (const LayoutVariant& v : LayoutVariants(subject, call)) {
    // Some layouts cannot be viewed as asked, and expanding changes the values.
    if (Runs(subject, v.call)) ExpectAgreement(subject, v.call, body, false);
  }
}

// The gradient of the sum of the outputs' halved squares by all floating inputs, in the graph.
void CheckGradients(const Subject& subject, const Sample& sample) {
  const std::vector<size_t> wanted = WantedGradients(subject, sample);
  if (!subject.differentiable() || wanted.empty()) return;
  const Call call{sample.name, CopiesOf(sample.inputs), sample.attrs};
  const Body body = [&](const std::vector<Tensor>& in) {
    std::vector<Tensor> inputs = in, leaves, roots;
    for (size_t i : wanted) {
      inputs[i] = inputs[i].Detach();
      leaves.push_back(inputs[i].SetRequiresGrad());
    }
    TensorList results = subject(inputs, call.attrs.ref());
    GradOptions options{.allow_unused = true};
    for (size_t i = 0; i < results.size(); ++i) {
      const Tensor& y = results[i];
      const bool constant = subject.output(i).constant || !IsFloating(y.dtype());
      EXPECT_EQ(y.requires_grad(), !constant) << call.name << ", output " << i;
      if (constant) continue;
      roots.push_back(y);
      options.seeds.push_back(y.Detach());
    }
    TensorList gradients;
    if (roots.empty()) return gradients;
    for (Tensor& g : Grad(roots, leaves, options)) {
      if (g.defined()) gradients.push_back(std::move(g));
    }
    EXPECT_FALSE(gradients.empty()) << call.name << ": no gradient to compare";
    return gradients;
  };
  ExpectAgreement(subject, call, body, true);
}

// A graph would keep the elements that were read during the capture for ever.
void ExpectNoCapture(const Subject& subject, const Sample& sample) {
  const std::vector<Tensor> inputs = CopiesOf(sample.inputs);
  const auto body = [&](absl::Span<const Tensor> in) {
    return subject({in.begin(), in.end()}, sample.attrs.ref());
  };
  EXPECT_THROW(Capture(body, inputs), Error) << sample.name;
}

}  // namespace

void CheckCaptured(const Subject& subject, const Samples& samples) {
  for (const Sample& sample : samples.samples) {
    if (!samples.captured) {
      ExpectNoCapture(subject, sample);
      continue;
    }
    for (const Call& call : DTypeVariants(subject, sample)) CheckCalls(subject, call);
    CheckGradients(subject, sample);
  }
}

}  // namespace firn::testing
