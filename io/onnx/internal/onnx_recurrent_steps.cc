// One product with w_ih serves all steps, and each weight's gradient is one product behind them;
// only h w_hh^T waits for the step before.
//
// Sequences are sorted by length, so that a step has the first rows of the step before it in time.
// In a walk forwards in time, states of ended sequences are set aside; in a walk backwards,
// sequences that begin join behind those that go on.
#include "firn/io/onnx/internal/onnx_recurrent_steps.h"

#include <algorithm>

#include "firn/tensor/problems/recurrent_problem.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using Values = std::vector<V>;
using In = firn::inner::RecurrentIn;
using GradIn = firn::inner::RecurrentGradIn;
using GradOut = firn::inner::RecurrentGradOut;

// The rows of a step in x and y; all of them are those of [steps, batch, ...].
struct Step {
  int64_t time, at, rows;
};

// The common part of both walks over a call. Sequences that are not packed keep their batch as a
// dimension, so that its size may change.
class Walk {
 public:
  explicit Walk(OnnxExportCall& n) : n_(n), packed_(!n.List("batch_sizes").empty()) {
    const std::vector<int64_t>& sizes = n.List("batch_sizes");
    const int64_t count = packed_ ? static_cast<int64_t>(sizes.size()) : n.size(0, 0);
    int64_t at = 0;
    for (int64_t t = 0; t < count; ++t) {
      const int64_t rows = packed_ ? sizes[static_cast<size_t>(t)] : 0;
      steps_.push_back({t, at, rows});
      at += rows;
    }
    if (n.Flag("reverse")) std::reverse(steps_.begin(), steps_.end());
  }
  // In the order of computation.
  const std::vector<Step>& steps() const { return steps_; }

  V Rows(const V& all, const Step& s) const {
    if (packed_) return n_.Slice(all, 0, s.at, s.at + s.rows);
    return n_.Squeeze(n_.Slice(all, 0, s.time, s.time + 1), {0});
  }
  // Brings kept rows, [all rows, ...], into the layout of x.
  V LikeX(const V& rows, int64_t width) const {
    return packed_ ? rows : n_.Reshape(rows, {n_.size(0, 0), -1, width});
  }
  V AsRows(const V& x, int64_t width) const { return packed_ ? x : n_.Reshape(x, {-1, width}); }
  // Joins parts that were collected in the order of computation, in the order of time.
  V InTime(Values parts) const {
    if (n_.Flag("reverse")) std::reverse(parts.begin(), parts.end());
    if (!packed_) {
      for (V& part : parts) part = n_.Unsqueeze(part, {0});
    }
    return n_.Concat(parts, 0);
  }
  V First(const V& x, int64_t rows) const { return packed_ ? n_.Slice(x, 0, 0, rows) : x; }
  V Behind(const V& x, int64_t rows) const { return n_.Slice(x, 0, rows, INT64_MAX); }
  bool packed() const { return packed_; }
  // Whether all sequences have this step.
  bool HasAll(const Step& s) const { return !packed_ || s.rows == n_.List("batch_sizes")[0]; }

 private:
  OnnxExportCall& n_;
  const bool packed_;
  std::vector<Step> steps_;
};

V Turned(const V& matrix) { return LastTwoTurned(matrix, 2); }
V Linear(OnnxExportCall& n, const V& x, size_t weight, size_t bias) {
  const V y = MatMul(x, Turned(n.in(weight)));
  return n.has(bias) ? y + n.in(bias) : y;
}

// A state while it goes through time.
class State {
 public:
  State(const Walk& walk, V initial) : walk_(walk), initial_(std::move(initial)) {}
  // The state that a step of so many sequences finds.
  V Before(OnnxExportCall& n, int64_t rows) {
    if (rows_ < 0 || !walk_.packed()) return rows_ < 0 ? walk_.First(initial_, rows) : now_;
    const int64_t going_on = std::min(rows_, rows);
    if (going_on < rows_) ended_.push_back(walk_.Behind(now_, going_on));
    const V old = walk_.First(now_, going_on);
    return going_on < rows ? n.Concat({old, n.Slice(initial_, 0, going_on, rows)}, 0) : old;
  }
  void Set(V now, int64_t rows) {
    now_ = std::move(now);
    rows_ = rows;
  }
  V Last(OnnxExportCall& n) {
    ended_.push_back(now_);
    std::reverse(ended_.begin(), ended_.end());  // the longest sequences come first
    return n.Concat(ended_, 0);
  }

 private:
  const Walk& walk_;
  const V initial_;
  V now_;
  int64_t rows_ = -1;
  Values ended_;
};

}  // namespace

void WriteLayerByStep(OnnxExportCall& n, const OnnxRecurrentStep& step) {
  const Walk walk(n);
  std::vector<State> states = {State(walk, n.in(In::kH0))};
  if (n.has(In::kC0)) states.emplace_back(walk, n.in(In::kC0));
  const V gx = Linear(n, n.in(In::kX), In::kWih, In::kBih);
  Values y;
  std::vector<Values> kept;
  for (const Step& s : walk.steps()) {
    Values before;
    for (State& state : states) before.push_back(state.Before(n, s.rows));
    const V gh = Linear(n, before[0], In::kWhh, In::kBhh);
    OnnxRecurrentStep::After after = step.Forward(n, walk.Rows(gx, s), gh, before);
    for (size_t i = 0; i < states.size(); ++i) states[i].Set(after.states[i], s.rows);
    y.push_back(after.states[0]);
    kept.resize(after.kept.size());
    for (size_t i = 0; i < kept.size(); ++i) kept[i].push_back(after.kept[i]);
  }
  n.Out(0, walk.InTime(std::move(y)));
  for (size_t i = 0; i < states.size(); ++i) n.Out(1 + i, states[i].Last(n));
  for (size_t i = 0; i < kept.size(); ++i) {
    const size_t out = 1 + states.size() + i;
    n.Out(out, n.ReshapeTo(walk.InTime(std::move(kept[i])), n.out_sizes(out)));
  }
}

namespace {

// The inputs and partial results of a layer's gradient.
struct GradParts {
  Values kept;     // all rows, as x is
  Values initial;  // h0, or h0 and c0
  Values after;    // the gradients of the states behind the steps that are done
};

// The states before each step in the order of computation, of all rows of `states` and the initial
// one.
Values StatesBefore(OnnxExportCall& n, const Walk& walk, const V& all, const V& initial) {
  State state(walk, initial);
  Values before;
  for (const Step& s : walk.steps()) {
    before.push_back(state.Before(n, s.rows));
    state.Set(walk.Rows(all, s), s.rows);
  }
  return before;
}

GradParts GradPartsOf(OnnxExportCall& n, const Walk& walk) {
  constexpr size_t kDcn = firn::inner::LstmGradIn::kDcn, kC0 = firn::inner::LstmGradIn::kC0;
  const bool lstm = n.count() > kC0;
  GradParts p;
  p.initial = {n.in(GradIn::kH0)};
  if (lstm) p.initial.push_back(n.in(kC0));
  for (size_t i = lstm ? kC0 + 1 : size_t{GradIn::kRest}, end = lstm ? i + 2 : n.count(); i < end;
       ++i) {
    p.kept.push_back(walk.LikeX(n.in(i, n.dtype(0)), n.size(i, 1)));
  }
  const size_t flows[] = {GradIn::kDhn, kDcn};
  for (size_t i = 0; i < p.initial.size(); ++i) {
    const V zeros = n.ExpandTo(n.Number(0, n.dtype(0)), n.sizes(i == 0 ? 1 : kC0));
    p.after.push_back(n.has(flows[i]) ? n.in(flows[i]) : zeros);
  }
  return p;
}

}  // namespace

void WriteLayerGradByStep(OnnxExportCall& n, const OnnxRecurrentStep& step) {
  const Walk walk(n);
  GradParts p = GradPartsOf(n, walk);
  std::vector<Values> before = {StatesBefore(n, walk, n.in(GradIn::kY), p.initial[0])};
  if (p.initial.size() > 1) before.push_back(StatesBefore(n, walk, p.kept[1], p.initial[1]));
  Values dgx, dgh;
  V projected = n.Absent();
  const std::vector<Step>& steps = walk.steps();
  for (size_t i = steps.size(); i-- > 0;) {
    const Step& s = steps[i];
    Values of_step, own, kept;
    for (const V& d : p.after) own.push_back(walk.First(d, s.rows));
    for (const V& all : p.kept) kept.push_back(walk.Rows(all, s));
    for (const Values& states : before) of_step.push_back(states[i]);
    if (n.has(GradIn::kDy)) own[0] = own[0] + walk.Rows(n.in(GradIn::kDy), s);
    const V h = walk.Rows(n.in(GradIn::kY), s);
    OnnxRecurrentStep::Gradients d = step.Backward(n, h, kept, of_step, own);
    const V through = MatMul(d.gh, n.in(GradIn::kWhh));
    d.before[0] = d.before[0].name.empty() ? through : d.before[0] + through;
    for (size_t j = 0; j < p.after.size(); ++j) {
      V& after = p.after[j];
      after = walk.HasAll(s) ? d.before[j] : n.Concat({d.before[j], walk.Behind(after, s.rows)}, 0);
    }
    if (!d.projected.name.empty()) {
      projected = projected.name.empty() ? d.projected : projected + d.projected;
    }
    dgx.push_back(d.gx);
    dgh.push_back(d.gh);
  }
  std::reverse(dgx.begin(), dgx.end());
  std::reverse(dgh.begin(), dgh.end());
  const int64_t width = n.size(GradIn::kWih, 0), in = n.size(GradIn::kWih, 1);
  const V all_dgx = walk.InTime(dgx), rows = walk.AsRows(all_dgx, width);
  const V rows_h = walk.AsRows(walk.InTime(dgh), width);
  if (n.Flag("wants_dx"))
    n.Out(GradOut::kDx, MatMul(all_dgx, n.in(GradIn::kWih)));
  else
    n.Out(GradOut::kDx, n.Number(0, n.dtype(0)));
  n.Out(GradOut::kDh0, p.after[0]);
  n.Out(GradOut::kDwih, MatMul(Turned(rows), walk.AsRows(n.in(GradIn::kX), in)));
  const V all_before = walk.AsRows(walk.InTime(before[0]), n.size(GradIn::kWhh, 1));
  n.Out(GradOut::kDwhh, MatMul(Turned(rows_h), all_before));
  n.Out(GradOut::kDb, SumOver(rows, {0}, false));
  if (p.initial.size() > 1) {
    n.Out(firn::inner::LstmGradOut::kDc0, p.after[1]);
    constexpr size_t kDwhr = firn::inner::LstmGradOut::kDwhr;
    n.Out(kDwhr, projected.name.empty() ? n.Number(0, n.dtype(0)) : projected);
  } else if (n.out_count() > GradOut::kRest) {
    n.Out(firn::inner::GruGradOut::kDbhh, SumOver(rows_h, {0}, false));
  }
}

}  // namespace firn::io::internal
