// RNN, LSTM and GRU. What Firn's layers compute is left to them, with gates in their order: ONNX
// has i, o, f, c of LSTM and z, r, h of GRU, Firn i, f, g, o and r, z, n. Lengths that are known
// and do not grow are those of packed sequences; others, and other activations, clip, peepholes and
// GRU's product outside of R, go step by step.
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "firn/io/onnx/internal/onnx_windows.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

using Activation = std::function<Tensor(const Tensor&)>;

enum class Kind { kRnn, kGru, kLstm };

int Gates(Kind kind) { return kind == Kind::kRnn ? 1 : kind == Kind::kGru ? 3 : 4; }

struct Recurrence {
  Kind kind = Kind::kRnn;
  int64_t hidden = 0, directions = 1;
  bool first_reversed = false;
  bool batch_first = false, reset_outside = false, coupled = false;
  double clip = 0;                      // 0: none
  std::vector<Activation> activations;  // of each direction
  bool plain = true;                    // activations are the usual ones
  bool relu = false;                    // of an RNN
};

// --- Activations, with their alpha and beta -----------------------------------------------------

Activation ActivationOf(const std::string& name, double alpha, double beta) {
  if (name == "Relu") return [](const Tensor& x) { return Relu(x); };
  if (name == "Tanh") return [](const Tensor& x) { return Tanh(x); };
  if (name == "Sigmoid") return [](const Tensor& x) { return Sigmoid(x); };
  if (name == "Affine") return [=](const Tensor& x) { return x * alpha + beta; };
  if (name == "LeakyRelu") return [=](const Tensor& x) { return LeakyRelu(x, alpha); };
  if (name == "ThresholdedRelu") return [=](const Tensor& x) { return Threshold(x, alpha, 0); };
  if (name == "ScaledTanh") return [=](const Tensor& x) { return Tanh(x * beta) * alpha; };
  if (name == "HardSigmoid") return [=](const Tensor& x) { return Clamp(x * alpha + beta, 0, 1); };
  if (name == "Elu") return [=](const Tensor& x) { return Elu(x, alpha); };
  if (name == "Softsign") return [](const Tensor& x) { return Softsign(x); };
  if (name == "Softplus") return [](const Tensor& x) { return Log1p(Exp(x)); };
  RefuseUnsupported("activation ", name, " is not supported");
}
void CheckActivations(const OnnxNodeAttributes& node) {
  for (const std::string& name : node.Texts("activations").value_or(std::vector<std::string>())) {
    ActivationOf(name, 1, 0);
  }
}

double StandardAlpha(const std::string& name) {
  return name == "LeakyRelu" ? 0.01 : name == "HardSigmoid" ? 0.2 : 1;
}
double StandardBeta(const std::string& name) { return name == "HardSigmoid" ? 0.5 : 0; }

void ReadActivations(const OnnxCall& call, Recurrence* r) {
  std::vector<std::string> usual = {"Tanh"};
  if (r->kind == Kind::kGru) usual = {"Sigmoid", "Tanh"};
  if (r->kind == Kind::kLstm) usual = {"Sigmoid", "Tanh", "Tanh"};
  std::vector<std::string> names = call.Texts("activations").value_or(std::vector<std::string>());
  if (names.empty()) {
    for (int64_t d = 0; d < r->directions; ++d) {
      names.insert(names.end(), usual.begin(), usual.end());
    }
  }
  if (names.size() != usual.size() * static_cast<size_t>(r->directions)) {
    RefuseNode("activations are expected to be ", usual.size(), " for each direction");
  }
  const auto alphas = call.Floats("activation_alpha").value_or(std::vector<float>());
  const auto betas = call.Floats("activation_beta").value_or(std::vector<float>());
  r->relu = r->kind == Kind::kRnn && names[0] == "Relu";
  for (size_t i = 0; i < names.size(); ++i) {
    const double alpha = i < alphas.size() ? double{alphas[i]} : StandardAlpha(names[i]);
    const double beta = i < betas.size() ? double{betas[i]} : StandardBeta(names[i]);
    r->activations.push_back(ActivationOf(names[i], alpha, beta));
    r->plain &= names[i] == (r->relu ? "Relu" : usual[i % usual.size()]);
  }
}

Recurrence ReadRecurrence(const OnnxCall& call, Kind kind) {
  Recurrence r;
  r.kind = kind;
  const std::string direction =
      call.OneOf("direction", "forward", {"forward", "reverse", "bidirectional"});
  r.directions = direction == "bidirectional" ? 2 : 1;
  r.first_reversed = direction == "reverse";
  r.batch_first = call.Flag("layout", false);
  r.reset_outside = call.Flag("linear_before_reset", false);
  r.coupled = call.Flag("input_forget", false);
  r.clip = call.Float("clip", 0);
  const Shape& recurrent = call.node.ShapeAt(2);
  if (call.node.Rank(0) != 3 || call.node.Rank(1) != 3 || recurrent.rank() != 3 ||
      recurrent[0] != r.directions) {
    RefuseNode("X, W and R are expected to have 3 dimensions, W and R ", r.directions,
               " directions");
  }
  r.hidden = call.Int("hidden_size", recurrent[2]);
  if (recurrent[2] != r.hidden || recurrent[1] != Gates(kind) * r.hidden) {
    RefuseNode("R is expected to be [", r.directions, ", ", Gates(kind) * r.hidden, ", ", r.hidden,
               "], it is ", recurrent.ToString());
  }
  ReadActivations(call, &r);
  return r;
}

// --- Sequences of known lengths ------------------------------------------------------------------

// Rows of [steps * batch, ...] that sequences have, as PackedSequence has them one behind the
// other, and for each row of all the one of those, behind a row of zeros.
struct Packing {
  int64_t steps = 0;
  std::vector<int64_t> batch_sizes, rows, back;

  Tensor Pack(const Tensor& x) const {
    return IndexSelect(Flatten(x, 0, 1), 0, FromVector(rows).To(x.device()));
  }
  Tensor Unpack(const Tensor& y) const {
    const Tensor zeros = Zeros({1, y.size(1)}, y.dtype(), y.device());
    const Tensor all = IndexSelect(Concat({zeros, y}, 0), 0, FromVector(back).To(y.device()));
    return Unflatten(all, 0, {steps, batch_sizes[0]});
  }
};

// Nothing where lengths are not those of packed sequences that end with the last step or before.
std::optional<Packing> PackingOf(const std::vector<int64_t>& lengths, int64_t steps) {
  // An input may have any number of steps without an element of its own in the file.
  constexpr int64_t kMostRows = int64_t{1} << 26;
  if (lengths.empty() || lengths.front() > steps || lengths.back() < 1) return {};
  if (!std::is_sorted(lengths.rbegin(), lengths.rend())) return {};
  const auto batch = static_cast<int64_t>(lengths.size());
  if (steps > kMostRows / batch) return {};
  Packing p{.steps = steps, .batch_sizes = {}, .rows = {}, .back = {}};
  for (int64_t t = 0; t < steps; ++t) {
    int64_t here = 0;
    for (int64_t b = 0; b < batch; ++b) {
      const bool runs = t < lengths[static_cast<size_t>(b)];
      if (runs) p.rows.push_back(t * batch + b);
      p.back.push_back(runs ? static_cast<int64_t>(p.rows.size()) : 0);
      here += runs;
    }
    if (here > 0) p.batch_sizes.push_back(here);
  }
  return p;
}

// --- What one direction is computed from --------------------------------------------------------

// x: [steps, batch, in], its steps in the order of the direction. w, r, b, p: without directions.
struct Part {
  Tensor x, w, r, b, p, h, c, lengths;
  size_t direction = 0;
};

// The gates' rows in another order.
Tensor Reordered(const Tensor& t, int gates, const std::vector<int>& order) {
  const std::vector<Tensor> rows = Chunk(t, gates, 0);
  std::vector<Tensor> sorted;
  for (const int i : order) sorted.push_back(rows[static_cast<size_t>(i)]);
  return Concat(sorted, 0);
}

std::vector<int> OrderOf(Kind kind) {
  if (kind == Kind::kGru) return {1, 0, 2};
  if (kind == Kind::kLstm) return {0, 2, 3, 1};
  return {0};
}

// y: [steps, batch, hidden] and the last states, [batch, hidden].
struct Ran {
  Tensor y, h, c;
};

// For packed sequences, if `packing` is there, else all of them to the last step.
Ran RunLayer(const Recurrence& r, const Part& part, const std::optional<Packing>& packing) {
  const int gates = Gates(r.kind);
  const auto order = OrderOf(r.kind);
  RecurrentWeights weights{Reordered(part.w, gates, order), Reordered(part.r, gates, order)};
  if (part.b.defined()) {
    const std::vector<Tensor> biases = Chunk(part.b, 2, 0);
    weights.b_ih = Reordered(biases[0], gates, order);
    weights.b_hh = Reordered(biases[1], gates, order);
  }
  const auto state = [](const Tensor& t) { return t.defined() ? Unsqueeze(t, 0) : t; };
  if (r.kind == Kind::kLstm) {
    // A state that is given alone has zeros for the other.
    Tensor h = state(part.h), c = state(part.c);
    if (h.defined() && !c.defined()) c = ZerosLike(h);
    if (c.defined() && !h.defined()) h = ZerosLike(c);
    if (packing) {
      const PackedSequence x{packing->Pack(part.x), packing->batch_sizes};
      const PackedLstmResult ran = Lstm(x, {h, c}, {weights});
      return {packing->Unpack(ran.y.data), Squeeze(ran.state.h, {0}), Squeeze(ran.state.c, {0})};
    }
    const LstmResult ran = Lstm(part.x, {h, c}, {weights});
    return {ran.y, Squeeze(ran.state.h, {0}), Squeeze(ran.state.c, {0})};
  }
  const RnnNonlinearity how = r.relu ? RnnNonlinearity::kRelu : RnnNonlinearity::kTanh;
  if (packing) {
    const PackedSequence x{packing->Pack(part.x), packing->batch_sizes};
    const PackedRecurrentResult ran = r.kind == Kind::kGru
                                          ? Gru(x, state(part.h), {weights})
                                          : Rnn(x, state(part.h), {weights}, {}, how);
    return {packing->Unpack(ran.y.data), Squeeze(ran.h_n, {0}), {}};
  }
  const RecurrentResult ran = r.kind == Kind::kGru ? Gru(part.x, state(part.h), {weights})
                                                   : Rnn(part.x, state(part.h), {weights}, {}, how);
  return {ran.y, Squeeze(ran.h_n, {0}), {}};
}

// --- Step by step -------------------------------------------------------------------------------

// One direction's steps: `x_part` is W x + Wb of all of them.
class Steps {
 public:
  Steps(const Recurrence& r, const Part& part) : r_(r), part_(part) {
    const std::vector<Tensor> none = {Tensor(), Tensor()};
    const std::vector<Tensor> biases = part.b.defined() ? Chunk(part.b, 2, 0) : none;
    x_part_ = Linear(part.x, part.w, biases[0]);
    r_bias_ = biases[1];
    if (part.p.defined()) peepholes_ = Chunk(part.p, 3, 0);
  }

  Ran Run() {
    const Tensor zeros = Zeros({part_.x.size(1), r_.hidden}, part_.x.dtype(), part_.x.device());
    Tensor h = part_.h.defined() ? part_.h : zeros, c = part_.c.defined() ? part_.c : zeros;
    std::vector<Tensor> y;
    for (int64_t t = 0; t < part_.x.size(0); ++t) {
      const auto [h_next, c_next] = Next(Select(x_part_, 0, t), h, c);
      if (!part_.lengths.defined()) {
        h = h_next;
        c = c_next;
        y.push_back(h);
        continue;
      }
      const Tensor runs = Unsqueeze(Gt(part_.lengths, t), 1);  // sequences that have this step
      y.push_back(Where(runs, h_next, zeros));
      h = Where(runs, h_next, h);
      c = Where(runs, c_next, c);
    }
    return {Stack(y, 0), h, c};
  }

 private:
  Tensor Activate(size_t which, const Tensor& x) const {
    const size_t each = r_.activations.size() / static_cast<size_t>(r_.directions);
    return r_.activations[part_.direction * each + which](r_.clip > 0 ? Clamp(x, -r_.clip, r_.clip)
                                                                      : x);
  }

  std::pair<Tensor, Tensor> Next(const Tensor& x, const Tensor& h, const Tensor& c) const {
    if (r_.kind == Kind::kRnn) return {Activate(0, x + Linear(h, part_.r, r_bias_)), c};
    return r_.kind == Kind::kGru ? std::pair(NextGru(x, h), c) : NextLstm(x, h, c);
  }

  Tensor NextGru(const Tensor& x, const Tensor& h) const {
    const std::vector<Tensor> in = Chunk(x, 3, 1);
    if (r_.reset_outside) {
      const std::vector<Tensor> again = Chunk(Linear(h, part_.r, r_bias_), 3, 1);
      const Tensor z = Activate(0, in[0] + again[0]), r = Activate(0, in[1] + again[1]);
      return (1 - z) * Activate(1, in[2] + r * again[2]) + z * h;
    }
    const std::vector<Tensor> rows = Chunk(part_.r, 3, 0);
    const std::vector<Tensor> none(3);
    const std::vector<Tensor> bias = r_bias_.defined() ? Chunk(r_bias_, 3, 0) : none;
    const Tensor z = Activate(0, in[0] + Linear(h, rows[0], bias[0]));
    const Tensor r = Activate(0, in[1] + Linear(h, rows[1], bias[1]));
    return (1 - z) * Activate(1, in[2] + Linear(r * h, rows[2], bias[2])) + z * h;
  }

  std::pair<Tensor, Tensor> NextLstm(const Tensor& x, const Tensor& h, const Tensor& c) const {
    std::vector<Tensor> gates = Chunk(x + Linear(h, part_.r, r_bias_), 4, 1);  // i, o, f, c
    const bool peeps = !peepholes_.empty();
    const Tensor i = Activate(0, peeps ? gates[0] + peepholes_[0] * c : gates[0]);
    const Tensor f =
        r_.coupled ? 1 - i : Activate(0, peeps ? gates[2] + peepholes_[2] * c : gates[2]);
    const Tensor next = f * c + i * Activate(1, gates[3]);
    const Tensor o = Activate(0, peeps ? gates[1] + peepholes_[1] * next : gates[1]);
    const size_t last = r_.activations.size() / static_cast<size_t>(r_.directions) - 1;
    return {o * r_.activations[part_.direction * (last + 1) + last](next), next};
  }

  const Recurrence& r_;
  const Part& part_;
  Tensor x_part_, r_bias_;
  std::vector<Tensor> peepholes_;  // i, o, f
};

// --- All directions -----------------------------------------------------------------------------

// Inputs: X, W, R, B, sequence_lens, initial_h, initial_c, P.
TensorList RunAll(const Recurrence& r, In in, bool simple, const std::optional<Packing>& packing) {
  const Tensor x = r.batch_first ? Transpose(in[0], 0, 1) : in[0], lengths = At(in, 4);
  std::vector<Tensor> ys, hs, cs;
  for (int64_t d = 0; d < r.directions; ++d) {
    const auto of = [&](size_t i) { return At(in, i).defined() ? Select(in[i], 0, d) : Tensor(); };
    const auto state = [&](size_t i) {
      return At(in, i).defined() ? Select(in[i], r.batch_first ? 1 : 0, d) : Tensor();
    };
    const bool reversed = d == 1 || r.first_reversed;
    const auto turned = [&](const Tensor& t) {
      if (!reversed) return t;
      return lengths.defined() ? ReverseSequence(t, lengths, 0, 1) : Flip(t, {0});
    };
    const Part part = {
        turned(x), of(1), of(2), of(3), of(7), state(5), state(6), lengths, static_cast<size_t>(d)};
    const Ran ran = simple ? RunLayer(r, part, packing) : Steps(r, part).Run();
    ys.push_back(turned(ran.y));
    hs.push_back(ran.h);
    if (ran.c.defined()) cs.push_back(ran.c);
  }
  // Y: [steps, directions, batch, hidden], or [batch, steps, directions, hidden].
  Tensor y = Stack(ys, 1);
  if (r.batch_first) y = Permute(y, {2, 0, 1, 3});
  const int at = r.batch_first ? 1 : 0;
  TensorList all = {y, Stack(hs, at)};
  if (r.kind == Kind::kLstm) all.push_back(Stack(cs, at));
  return all;
}

std::optional<std::vector<int64_t>> KnownLengths(const OnnxCall& call) {
  if (!call.node.Has(4) || !call.node.IsKnown(4)) return {};
  return call.node.KnownInts(4, "sequence_lens");
}

Step LowerRecurrent(OnnxCall& call, Kind kind) {
  const Recurrence r = ReadRecurrence(call, kind);
  const Shape& x = call.node.ShapeAt(0);
  const int64_t steps = x[r.batch_first ? 1 : 0], batch = x[r.batch_first ? 0 : 1];
  const auto lengths = KnownLengths(call);
  const bool all = !call.node.Has(4) ||
                   (lengths && std::all_of(lengths->begin(), lengths->end(),
                                           [&](int64_t length) { return length == steps; }));
  std::optional<Packing> packing;
  if (lengths && !all && static_cast<int64_t>(lengths->size()) == batch) {
    packing = PackingOf(*lengths, steps);
  }
  const bool simple = r.plain && r.clip == 0 && !r.coupled && !call.node.Has(7) &&
                      (all || packing) && (kind != Kind::kGru || r.reset_outside);
  return [=](In in) {
    if (!all) return RunAll(r, in, simple, packing);
    std::vector<Tensor> without(in.begin(), in.end());
    if (without.size() > 4) without[4] = Tensor();
    return RunAll(r, without, simple, packing);
  };
}

OnnxLowering Recurrent(Kind kind) {
  return [kind](OnnxCall& call) -> Step { return LowerRecurrent(call, kind); };
}
const OnnxOps kRnn("RNN", 1, Recurrent(Kind::kRnn), {.check = CheckActivations});
const OnnxOps kGru("GRU", 1, Recurrent(Kind::kGru), {.check = CheckActivations});
const OnnxOps kLstm("LSTM", 1, Recurrent(Kind::kLstm), {.check = CheckActivations});

}  // namespace
}  // namespace firn::io::internal
