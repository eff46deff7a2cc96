// OpNode: what Apply leaves behind, and the context its gradient rule runs in.
//
// `saves` lists fixed positions. For a variadic operation, Saved::Input of the last declared input
// stands for all the tensors given there.

#include "firn/autograd/tape/op_node.h"

#include "firn/autograd/backward.h"
#include "firn/device/macros.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn::autograd {

class OpGradContext final : public GradContext {
 public:
  OpGradContext(OpNode& node, absl::Span<const Tensor> grad_outputs, absl::Span<const bool> wanted,
                absl::Span<Tensor> grad_inputs)
      : GradContext(node.attrs_.ref(), static_cast<int>(grad_inputs.size())),
        node_(node),
        grad_outputs_(grad_outputs),
        wanted_(wanted),
        grad_inputs_(grad_inputs) {}

  bool needs(int i) const override {
    return wanted_.empty() ? node_.edges()[At(i)].wanted() : wanted_[At(i)];
  }
  bool has_grad_output(int i) const override { return grad_outputs_[At(i)].defined(); }
  const Tensor& grad_output(int i) override {
    const Tensor& given = grad_outputs_[At(i)];
    if (given.defined()) return given;
    const TensorSpec& spec = node_.output_specs()[At(i)];
    return Keep(Zeros(spec.shape, spec.dtype, spec.device));
  }
  const Tensor& input(int i) override { return Saved(Saved::kInput, i); }
  const Tensor& output(int i) override { return Saved(Saved::kOutput, i); }
  const TensorSpec& input_spec(int i) const override { return node_.edges()[At(i)].spec(); }

  void set_grad_input(int i, Tensor grad) override {
    if (!OpGradContext::needs(i) || !grad.defined()) return;
    const TensorSpec& want = node_.edges()[At(i)].spec();
    if (grad.shape() != want.shape) [[unlikely]]
      grad = SumTo(grad, want.shape);
    if (grad.dtype() != want.dtype) [[unlikely]]
      grad = Cast(grad, want.dtype);
    grad_inputs_.data()[At(i)] = std::move(grad);
  }

 private:
  using Saved_ = firn::Saved;
  static size_t At(int i) { return static_cast<size_t>(i); }
  const Tensor& Keep(Tensor t) {
    kept_.push_back(std::make_unique<Tensor>(std::move(t)));
    return *kept_.back();
  }

  const Tensor& Saved(Saved_::Kind kind, int index) {
    const OpDef& op = node_.op_;
    const int last = static_cast<int>(op.inputs.size()) - 1;
    for (size_t s = 0; s < op.saves.size(); ++s) {
      if (op.saves[s].kind != kind) continue;
      if (op.saves[s].index == index) return Keep(node_.saved_[s].Unpack(node_));
      if (kind == Saved_::kInput && op.variadic() && op.saves[s].index == last && index > last) {
        const size_t extra = op.saves.size() + At(index - last - 1);
        return Keep(node_.saved_[extra].Unpack(node_));
      }
    }
    RaiseStatus(Internal("the gradient rule reads ", kind == Saved_::kInput ? "input " : "output ",
                         index, ", which its operation does not declare in `saves`"),
                op.name);
  }

  OpNode& node_;
  absl::Span<const Tensor> grad_outputs_;
  absl::Span<const bool> wanted_;
  absl::Span<Tensor> grad_inputs_;
  absl::InlinedVector<std::unique_ptr<Tensor>, 4> kept_;
};

OpNode::OpNode(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
               absl::Span<Tensor> out)
    : Node(in.size()), op_(op), attrs_(attrs) {
  for (size_t i = 0; i < in.size(); ++i) SetEdge(i, *in.data()[i]);
  Attach(out, op.outputs.data());
  for (const Saved& s : op.saves) {
    const size_t i = static_cast<size_t>(s.index);
    saved_.push_back(s.kind == Saved::kInput
                         ? SavedTensor::Input(*in[i])
                         : SavedTensor::Output(out[i], static_cast<uint32_t>(s.index)));
  }
  if (!op.variadic()) return;
  const int last = static_cast<int>(op.inputs.size()) - 1;
  for (const Saved& s : op.saves) {
    if (s.kind != Saved::kInput || s.index != last) continue;
    for (size_t i = op.inputs.size(); i < in.size(); ++i)
      saved_.push_back(SavedTensor::Input(*in[i]));
  }
}

void OpNode::Backward(absl::Span<const Tensor> grad_outputs, absl::Span<const bool> wanted,
                      absl::Span<Tensor> grad_inputs) {
  if (released_) {
    RaiseInBackward(*this, FailedPrecondition(
                               "was visited by an earlier backward, which freed what it had saved; "
                               "pass retain_graph to that one"));
  }
  OpGradContext context(*this, grad_outputs, wanted, grad_inputs);
  op_.grad(context);
}

Tensor OpNode::PartOf(const Tensor& whole) const {
  // In other views an element may occur twice, as in windows that overlap.
  const bool part = &op_ == &TheOp<"slice">() || &op_ == &TheOp<"select">();
  if (!part || released_) return {};
  return Apply1(op_, {whole}, attrs_.ref());
}

void OpNode::ReleaseSaved() {
  released_ = true;
  for (SavedTensor& s : saved_) s.Release();
}

// All calls are inlined here, since every recorded operation comes this way.
FIRN_FLATTEN void TapeRecorder::Record(const OpDef& op, absl::Span<const TensorRef> in,
                                       AttrsRef attrs, absl::Span<Tensor> out) {
  // The tensors hold the references from here on.
  IntrusivePtr<OpNode> node = MakeIntrusive<OpNode>(op, in, attrs, out);
}

void TapeRecorder::Backward(const Tensor& root, const Tensor& seed, bool retain_graph) {
  autograd::Backward({root}, {.seeds = {seed}, .retain_graph = retain_graph});
}

namespace {
const bool installed = [] {
  static TapeRecorder* recorder = new TapeRecorder;  // used by global tensors after main()
  internal::grad_recorder = recorder;
  return true;
}();
}  // namespace

}  // namespace firn::autograd
