// Control flow, written out while the network is bound: If has the branch that its condition
// chooses, or in a capture, where that may depend on elements of inputs, runs both; loops run as
// often as they say.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using autograd::Control;
using autograd::NetworkBody;
using autograd::NodeCall;
using Values = std::vector<BoundValue>;

Values OutputsOf(NodeCall& call, const NetworkBody& body) {
  Values values;
  for (int id : body.outputs) values.push_back(call.Get(id));
  return values;
}

bool Truth(const NodeCall& call, const BoundValue& value, std::string_view what) {
  const Tensor known = call.Known(value, what);
  if (known.num_elements() != 1) RefuseNode(what, " is expected to be one truth value");
  return known.Item<double>() != 0;
}

// --- If -----------------------------------------------------------------------------------------

class OneBranch final : public Control {
 public:
  explicit OneBranch(const NetworkBody* branch) : branch_(branch) {}
  const NetworkBody* Next(NodeCall& call) override {
    if (!std::exchange(ran_, true)) return branch_;
    call.Return(OutputsOf(call, *branch_));
    return nullptr;
  }

 private:
  const NetworkBody* const branch_;
  bool ran_ = false;
};

// Both branches run, and their results are chosen from: these must have equal shapes.
class BothBranches final : public Control {
 public:
  BothBranches(const NetworkBody* yes, const NetworkBody* no) : branches_{yes, no} {}
  const NetworkBody* Next(NodeCall& call) override {
    if (at_ > 0) results_[at_ - 1] = OutputsOf(call, *branches_[at_ - 1]);
    if (at_ < 2) return branches_[at_++];
    Values chosen;
    for (size_t i = 0; i < results_[0].size() && i < results_[1].size(); ++i) {
      const BoundValue &yes = results_[0][i], &no = results_[1][i];
      if (!yes.is_tensor() || !no.is_tensor() || !(yes.spec.shape == no.spec.shape) ||
          yes.spec.dtype != no.spec.dtype) {
        RefuseUnsupported("output ", i,
                          " has another shape or type in each branch, and"
                          " the condition depends on elements of the network's inputs");
      }
      const Step choose = One([](In in) { return Where(Reshape(in[0], {}), in[1], in[2]); });
      chosen.push_back(call.Run(choose, {call.Input(0), yes, no})[0]);
    }
    call.Return(std::move(chosen));
    return nullptr;
  }

 private:
  const NetworkBody* const branches_[2];
  Values results_[2];
  size_t at_ = 0;
};

const OnnxOps kIf("If", 1, [](OnnxCall& call) -> Step {
  const NetworkBody &yes = call.Graph("then_branch"), &no = call.Graph("else_branch");
  if (call.node.Spec(0).num_elements() != 1) {
    RefuseNode("input 0 is expected to be one truth value, it is ", call.node.Spec(0).ToString());
  }
  const BoundValue& condition = call.node.Input(0);
  if (!condition.varies() || (call.node.MayLook() && !condition.drawn)) {
    const bool holds = Truth(call.node, condition, "input 0 (cond)");
    call.node.Enter(std::make_unique<OneBranch>(holds ? &yes : &no));
  } else {
    call.node.Enter(std::make_unique<BothBranches>(&yes, &no));
  }
  return {};
});

// --- Loops --------------------------------------------------------------------------------------

// The body's inputs are the number of the iteration, the condition and what is carried along; its
// outputs the condition, what is carried, and what each iteration adds to the scan outputs.
class LoopControl final : public Control {
 public:
  LoopControl(const NetworkBody* body, int64_t most, bool goes_on, Values carried)
      : body_(body), most_(most), goes_on_(goes_on), carried_(std::move(carried)) {
    scans_.resize(body->outputs.size() - 1 - carried_.size());
  }

  const NetworkBody* Next(NodeCall& call) override {
    if (at_ > 0) Collect(call);
    if (at_ < most_ && goes_on_) {
      call.Set(body_->inputs[0], NodeCall::Constant(Full({}, at_, DType::kI64)));
      call.Set(body_->inputs[1], NodeCall::Constant(Full({}, true, DType::kBool)));
      for (size_t i = 0; i < carried_.size(); ++i) call.Set(body_->inputs[2 + i], carried_[i]);
      ++at_;
      return body_;
    }
    Values results = carried_;
    for (const Values& scan : scans_) {
      if (scan.empty()) {
        RefuseUnsupported("a loop that runs no iteration has scan outputs of no shape");
      }
      const Step stack = One([](In in) { return Stack({in.begin(), in.end()}, 0); });
      results.push_back(call.Run(stack, scan)[0]);
    }
    call.Return(std::move(results));
    return nullptr;
  }

 private:
  void Collect(NodeCall& call) {
    Values outputs = OutputsOf(call, *body_);
    goes_on_ = Truth(call, outputs[0], "output 0 of the body, whether the loop goes on,");
    for (size_t i = 0; i < carried_.size(); ++i) carried_[i] = outputs[1 + i];
    for (size_t i = 0; i < scans_.size(); ++i) {
      scans_[i].push_back(outputs[1 + carried_.size() + i]);
    }
  }

  const NetworkBody* const body_;
  const int64_t most_;
  bool goes_on_;
  Values carried_;
  std::vector<Values> scans_;
  int64_t at_ = 0;
};

const OnnxOps kLoop("Loop", 1,
                    [](OnnxCall& call) -> Step {
                      const NetworkBody& body = call.Graph("body");
                      const int64_t most = call.node.Has(0) ? call.node.KnownInt(0, "M")
                                                            : std::numeric_limits<int64_t>::max();
                      const bool goes_on = !call.node.Has(1) ||
                                           Truth(call.node, call.node.Input(1), "input 1 (cond)");
                      Values carried;
                      for (size_t i = 2; i < call.node.num_inputs(); ++i)
                        carried.push_back(call.node.Input(i));
                      if (body.inputs.size() != 2 + carried.size() ||
                          body.outputs.size() < 1 + carried.size()) {
                        RefuseNode("the body is expected to have ", 2 + carried.size(),
                                   " inputs and at least ", 1 + carried.size(), " outputs, it has ",
                                   body.inputs.size(), " and ", body.outputs.size());
                      }
                      call.node.Enter(
                          std::make_unique<LoopControl>(&body, most, goes_on, std::move(carried)));
                      return {};
                    },
                    {.settings = {0, 1}});

// --- Scan ---------------------------------------------------------------------------------------

// Where a scanned input or output has the iterations: which dimension, and whether the last comes
// first.
struct Scanned {
  int64_t axis;
  bool reverse;
};

class ScanControl final : public Control {
 public:
  // Opset 8 scans each element of a batch by itself.
  ScanControl(const NetworkBody* body, Values values, std::vector<Scanned> in,
              std::vector<Scanned> out, int64_t count, std::optional<int64_t> batch = {})
      : body_(body),
        values_(std::move(values)),
        in_(std::move(in)),
        out_(std::move(out)),
        count_(count),
        batch_(batch) {}

  const NetworkBody* Next(NodeCall& call) override {
    if (at_ > 0) {
      Values outputs = OutputsOf(call, *body_);
      for (size_t i = 0; i < carried_.size(); ++i) carried_[i] = outputs[i];
      for (size_t i = 0; i < out_.size(); ++i) results_[i].push_back(outputs[carried_.size() + i]);
    } else {
      Begin(call);
    }
    if (at_ == count_) {
      Finish(call);
      if (std::ssize(done_) == batch_.value_or(1)) {
        Return(call);
        return nullptr;
      }
      Begin(call);
    }
    for (size_t i = 0; i < carried_.size(); ++i) call.Set(body_->inputs[i], carried_[i]);
    for (size_t i = 0; i < in_.size(); ++i) {
      const int64_t axis = in_[i].axis, at = in_[i].reverse ? count_ - 1 - at_ : at_;
      const Step select = One([=](In in) { return Select(in[0], axis, at); });
      call.Set(body_->inputs[carried_.size() + i], call.Run(select, {inputs_[i]})[0]);
    }
    ++at_;
    return body_;
  }

 private:
  void Begin(NodeCall& call) {
    Values values = values_;
    const Step select = One([b = std::ssize(done_)](In in) { return Select(in[0], 0, b); });
    for (BoundValue& value : values) {
      if (batch_) value = call.Run(select, {value})[0];
    }
    const auto middle = values.end() - std::ssize(in_);
    carried_.assign(values.begin(), middle);
    inputs_.assign(middle, values.end());
    results_.assign(out_.size(), {});
    at_ = 0;
  }

  void Finish(NodeCall& call) {
    Values all = carried_;
    for (size_t i = 0; i < out_.size(); ++i) {
      if (out_[i].reverse) std::reverse(results_[i].begin(), results_[i].end());
      all.push_back(Stacked(call, results_[i], out_[i].axis));
    }
    done_.push_back(std::move(all));
  }

  void Return(NodeCall& call) {
    Values all = done_[0];
    for (size_t i = 0; batch_ && i < all.size(); ++i) {
      Values of_batch;
      for (const Values& results : done_) of_batch.push_back(results[i]);
      all[i] = Stacked(call, of_batch, 0);
    }
    call.Return(std::move(all));
  }

  static BoundValue Stacked(NodeCall& call, const Values& values, int64_t axis) {
    const Step stack = One([=](In in) { return Stack({in.begin(), in.end()}, axis); });
    return call.Run(stack, values)[0];
  }

  const NetworkBody* const body_;
  const Values values_;  // carried along, then scanned
  const std::vector<Scanned> in_, out_;
  const int64_t count_;
  const std::optional<int64_t> batch_;
  Values carried_, inputs_;
  std::vector<Values> results_, done_;  // of each output; of each scan
  int64_t at_ = 0;
};

std::vector<Scanned> ScannedOf(OnnxCall& call, size_t n, const std::string& which) {
  const std::vector<int64_t> none(n);
  const auto axes = call.Ints(absl::StrCat("scan_", which, "_axes")).value_or(none);
  const auto reversed = call.Ints(absl::StrCat("scan_", which, "_directions")).value_or(none);
  if (axes.size() != n || reversed.size() != n) {
    RefuseNode("axes and directions of ", n, " scanned ", which, "s are expected, got ",
               axes.size(), " and ", reversed.size());
  }
  std::vector<Scanned> all;
  for (size_t i = 0; i < n; ++i) all.push_back({axes[i], reversed[i] != 0});
  return all;
}

// The number of values that a scan carries along. `values` are these and then the scanned ones.
size_t CarriedOf(const OnnxCall& call, const NetworkBody& body, size_t values) {
  const int64_t scanned = call.Int("num_scan_inputs");
  if (scanned < 1 || static_cast<size_t>(scanned) > values || body.inputs.size() != values ||
      body.outputs.size() < values - static_cast<size_t>(scanned)) {
    RefuseNode("the body is expected to have ", values, " inputs, ", scanned,
               " of them scanned, it has ", body.inputs.size(), ", and ", body.outputs.size(),
               " outputs");
  }
  return values - static_cast<size_t>(scanned);
}

// Input 0 is sequence_lens; the others are [batch, ...] and [batch, steps, ...].
const OnnxOps kScan8("Scan", 8, [](OnnxCall& call) -> Step {
  if (call.node.Has(0)) RefuseUnsupported("input 0 (sequence_lens) is not supported");
  const NetworkBody& body = call.Graph("body");
  const size_t all = std::max<size_t>(call.node.num_inputs(), 1) - 1;
  const size_t kept = CarriedOf(call, body, all);
  const auto reversed = call.Ints("directions").value_or(std::vector<int64_t>(all - kept));
  const Shape& last = call.node.ShapeAt(all);
  Values values;
  std::vector<Scanned> in;
  for (size_t i = 0; i < all; ++i) {
    const Shape& x = call.node.ShapeAt(1 + i);
    bool fits = reversed.size() == all - kept;
    for (int d = 0; d < (i < kept ? 1 : 2); ++d) {
      fits &= d < x.rank() && d < last.rank() && x[d] == last[d] && x[d] > 0;
    }
    if (!fits) RefuseNode("inputs are expected to begin with one batch, scanned ones with steps");
    values.push_back(call.node.Input(1 + i));
    if (i >= kept) in.push_back({0, reversed[i - kept] != 0});
  }
  call.node.Enter(std::make_unique<ScanControl>(
      &body, std::move(values), std::move(in),
      std::vector<Scanned>(body.outputs.size() - kept, Scanned{0, false}), last[1], last[0]));
  return {};
});

const OnnxOps kScan("Scan", 9, [](OnnxCall& call) -> Step {
  const NetworkBody& body = call.Graph("body");
  const size_t all = call.node.num_inputs(), kept = CarriedOf(call, body, all);
  Values values;
  for (size_t i = 0; i < all; ++i) values.push_back(call.node.Input(i));
  std::vector<Scanned> in = ScannedOf(call, all - kept, "input");
  std::vector<Scanned> out = ScannedOf(call, body.outputs.size() - kept, "output");
  int64_t count = -1;
  for (size_t i = 0; i < in.size(); ++i) {
    const Shape& shape = call.node.ShapeAt(kept + i);
    in[i].axis = call.Axis(in[i].axis, shape.rank());
    if (count >= 0 && shape[in[i].axis] != count) {
      RefuseNode("scanned inputs are expected to be equally long, got ", count, " and ",
                 shape[in[i].axis]);
    }
    count = shape[in[i].axis];
  }
  if (count == 0 && !out.empty()) {
    RefuseUnsupported("a scan of no iterations has outputs of no shape");
  }
  call.node.Enter(std::make_unique<ScanControl>(&body, std::move(values), std::move(in),
                                                std::move(out), count));
  return {};
});

}  // namespace
}  // namespace firn::io::internal
