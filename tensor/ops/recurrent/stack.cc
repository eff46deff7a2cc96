// Layer by layer, each direction of it an operation of its own; the next layer takes the results of
// both directions side by side. Sequences are put into the order of time first: every layer then
// reads and writes them one step behind the other.

#include "firn/tensor/ops/recurrent/stack.h"

#include <utility>

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/random/dropout.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

constexpr const char* kStateNames[] = {"h", "c"};

void CheckWeights(const RecurrentKind& kind, const std::vector<RecurrentWeights>& weights,
                  const RecurrentOptions& o) {
  const size_t directions = o.bidirectional ? 2 : 1;
  if (weights.empty() || weights.size() % directions != 0) {
    RaiseStatus(InvalidArgument("weights must be those of one or more layers in ", directions,
                                " direction(s), got ", weights.size()),
                kind.op);
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    const RecurrentWeights& w = weights[i];
    for (const Tensor* t : {&w.w_ih, &w.w_hh}) {
      if (t->defined() && t->rank() == 2) continue;
      RaiseStatus(InvalidArgument("weights ", i, ": ", t == &w.w_ih ? "w_ih" : "w_hh",
                                  " must have 2 dimensions, got ",
                                  t->defined() ? t->shape().ToString() : "an undefined tensor"),
                  kind.op);
    }
    if (w.w_hr.defined() && (kind.states < 2 || w.w_hr.rank() != 2)) {
      RaiseStatus(InvalidArgument("weights ", i, ": w_hr ", w.w_hr.shape().ToString(),
                                  kind.states < 2 ? " is for lstm" : " must have 2 dimensions"),
                  kind.op);
    }
  }
  if (!(o.dropout >= 0 && o.dropout <= 1)) {
    RaiseStatus(InvalidArgument("dropout must lie in [0, 1], got ", o.dropout), kind.op);
  }
}

// The states to begin with, [layers * directions, batch, width]; undefined for zeros.
void CheckInitial(const RecurrentKind& kind, const std::vector<Tensor>& initial, size_t count,
                  int64_t batch) {
  for (size_t i = 0; i < initial.size(); ++i) {
    const Tensor& t = initial[i];
    if (t.defined() != initial[0].defined()) {
      RaiseStatus(InvalidArgument("h and c must be given together"), kind.op);
    }
    if (!t.defined()) continue;
    if (t.rank() != 3 || t.size(0) != static_cast<int64_t>(count) || t.size(1) != batch) {
      RaiseStatus(
          InvalidArgument("the initial ", kStateNames[i], " must be [", count, ", ", batch,
                          ", ...], for each layer and direction, got ", t.shape().ToString()),
          kind.op);
    }
  }
}

// The states that layer and direction `i` begins with.
std::vector<Tensor> Begin(const RecurrentKind& kind, const std::vector<Tensor>& initial, size_t i,
                          int64_t batch, const Tensor& x, const RecurrentWeights& w) {
  std::vector<Tensor> states;
  const int64_t widths[] = {w.w_hh.size(1), w.w_hh.size(0) / kind.gates};
  for (size_t s = 0; s < initial.size(); ++s) {
    states.push_back(initial[s].defined() ? Select(initial[s], 0, static_cast<int64_t>(i))
                                          : Zeros({batch, widths[s]}, x.dtype(), x.device()));
  }
  return states;
}

LayerTensors WithWeights(const Tensor& x, const std::vector<Tensor>& states,
                         const RecurrentWeights& w) {
  return {
      x,     states[0], w.w_ih, w.w_hh, w.b_ih, w.b_hh, states.size() > 1 ? states[1] : Tensor(),
      w.w_hr};
}

// x and the states as layers take them.
LayerResults RunLayers(const RecurrentKind& kind, Tensor x, const std::vector<Tensor>& initial,
                       const std::vector<RecurrentWeights>& weights, const RecurrentOptions& o,
                       const std::vector<int64_t>& batch_sizes) {
  CheckWeights(kind, weights, o);
  const int64_t batch = batch_sizes.empty() ? x.size(1) : batch_sizes[0];
  CheckInitial(kind, initial, weights.size(), batch);
  const size_t directions = o.bidirectional ? 2 : 1;
  std::vector<std::vector<Tensor>> ends(initial.size());
  for (size_t first = 0; first < weights.size(); first += directions) {
    if (first > 0 && o.dropout > 0) x = Dropout(x, o.dropout, o.training, o.generator);
    std::vector<Tensor> ys;
    for (size_t i = first; i < first + directions; ++i) {
      const RecurrentLayerAttrs attrs{i != first, batch_sizes};
      const std::vector<Tensor> states = Begin(kind, initial, i, batch, x, weights[i]);
      LayerResults r = kind.layer(WithWeights(x, states, weights[i]), attrs);
      ys.push_back(std::move(r.y));
      for (size_t s = 0; s < ends.size(); ++s) ends[s].push_back(std::move(r.states[s]));
    }
    x = ys.size() == 1 ? std::move(ys[0]) : Concat(ys, -1);
  }
  LayerResults all{std::move(x), {}};
  for (const std::vector<Tensor>& of_state : ends) {
    all.states.push_back(of_state.size() == 1 ? Unsqueeze(of_state[0], 0) : Stack(of_state));
  }
  return all;
}

// The sequences of a state in the order of `indices`, if there are any.
Tensor Ordered(const Tensor& state, const std::vector<int64_t>& indices) {
  return indices.empty() ? state : IndexSelect(state, 1, FromVector(indices).To(state.device()));
}

Tensor BatchAdded(const Tensor& state) {
  return state.defined() && state.rank() == 2 ? Unsqueeze(state, 1) : state;
}

}  // namespace

LayerResults RunStack(const RecurrentKind& kind, const Tensor& x,
                      const std::vector<Tensor>& initial,
                      const std::vector<RecurrentWeights>& weights, const RecurrentOptions& o) {
  CheckDefined(x, kind.op);
  if (x.rank() == 2) {  // one sequence
    std::vector<Tensor> batched;
    for (const Tensor& t : initial) {
      if (t.defined() && t.rank() != 2) {
        RaiseStatus(InvalidArgument("states of one sequence must be [layers * directions, width], "
                                    "got ",
                                    t.shape().ToString()),
                    kind.op);
      }
      batched.push_back(BatchAdded(t));
    }
    LayerResults r = RunLayers(kind, Unsqueeze(x, 1), batched, weights, o, {});
    r.y = Squeeze(r.y, 1);
    for (Tensor& t : r.states) t = Squeeze(t, 1);
    return r;
  }
  if (x.rank() != 3) {
    RaiseStatus(InvalidArgument("x must have 3 dimensions, or 2 for one sequence, got ",
                                x.spec().ToString()),
                kind.op);
  }
  if (!o.batch_first) return RunLayers(kind, x, initial, weights, o, {});
  LayerResults r = RunLayers(kind, Permute(x, {1, 0, 2}), initial, weights, o, {});
  r.y = Permute(r.y, {1, 0, 2});
  return r;
}

LayerResults RunPackedStack(const RecurrentKind& kind, const PackedSequence& x,
                            const std::vector<Tensor>& initial,
                            const std::vector<RecurrentWeights>& weights,
                            const RecurrentOptions& o) {
  CheckPacked(x, kind.op);
  if (x.data.rank() != 2) {
    RaiseStatus(InvalidArgument("packed data must be [rows, in], got ", x.data.spec().ToString()),
                kind.op);
  }
  std::vector<Tensor> sorted = initial;
  CheckInitial(kind, initial, weights.size(), x.batch_sizes[0]);
  for (Tensor& t : sorted) {
    if (t.defined()) t = Ordered(t, x.sorted_indices);
  }
  LayerResults r = RunLayers(kind, x.data, sorted, weights, o, x.batch_sizes);
  for (Tensor& t : r.states) t = Ordered(t, x.unsorted_indices);
  return r;
}

std::vector<Tensor> RunCell(const RecurrentKind& kind, const Tensor& x,
                            const std::vector<Tensor>& states, const RecurrentWeights& weights) {
  CheckDefined(x, kind.op);
  CheckWeights(kind, {weights}, {});
  const bool batched = x.rank() == 2;
  for (size_t i = 0; i < states.size(); ++i) {
    if (states[i].defined() != states[0].defined()) {
      RaiseStatus(InvalidArgument("h and c must be given together"), kind.op);
    }
    if ((!batched && x.rank() != 1) || (states[i].defined() && states[i].rank() != x.rank())) {
      RaiseStatus(
          InvalidArgument("x must be [batch, in] and ", kStateNames[i],
                          " [batch, hidden], or both without batch, got ", x.shape().ToString(),
                          states[i].defined() ? " and " + states[i].shape().ToString() : ""),
          kind.op);
    }
  }
  std::vector<Tensor> initial;
  for (const Tensor& t : states) {
    const Tensor one = t.defined() && !batched ? Unsqueeze(t, 0) : t;
    initial.push_back(one.defined() ? Unsqueeze(one, 0) : one);
  }
  const Tensor row = batched ? x : Unsqueeze(x, 0);
  LayerResults r = RunLayers(kind, Unsqueeze(row, 0), initial, {weights}, {}, {});
  for (Tensor& t : r.states) {
    t = Squeeze(t, 0);
    if (!batched) t = Squeeze(t, 0);
  }
  return r.states;
}

}  // namespace firn
