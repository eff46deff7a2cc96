// NNabla's forms of the operations in tensor/ops/recurrent and random.
#include "firn/io/nnabla_network/internal/nnabla_export_call.h"
#include "firn/tensor/from.h"

namespace firn::io::internal {
namespace {

using V = NnablaValue;
using Numbers = NnablaNodes::Numbers;

// One layer of one direction. NNabla has the weights of input and state side by side, and one bias,
// the sum of both. Only the two biases of GRU's new gate stay separate, one behind the other.
void Recurrent(NnablaExportCall& n, const char* type, int64_t gates,
               NnablaNodes::Arguments arguments) {
  const bool lstm = gates == 4, gru = gates == 3;
  if (!n.List("batch_sizes").empty()) return n.Refuse("of packed sequences");
  if (lstm && n.has(7)) return n.Refuse("with a projection");
  const int64_t hidden = n.size(3, 1), in = n.size(2, 1);
  CapturedSizes state = {{1, 1}, {1, 1}, n.sizes(0)[1], {hidden, hidden}};
  // Without gates there is no dimension for them.
  Numbers shape = {1, gates, hidden, in + hidden}, biases = {1, 1, gru ? 4 : gates, hidden};
  if (gates == 1) {
    shape.erase(shape.begin() + 1);
    biases.erase(biases.begin() + 2);
  }
  const V w = n.Reshape(n.Concat({n.in(2), n.in(3)}, 1), shape);
  V x = n.in(0), bias = n.Absent();
  if (n.has(4) || n.has(5)) {
    const V none = n.Constant(FromVector(std::vector<double>(static_cast<size_t>(gates * hidden))));
    const V b = n.has(4) ? n.in(4) : none, c = n.has(5) ? n.in(5) : none;
    bias = b + c;
    if (gru) {
      const int64_t two = 2 * hidden, all = 3 * hidden;
      bias =
          n.Concat({n.Slice(bias, 0, 0, two), n.Slice(b, 0, two, all), n.Slice(c, 0, two, all)}, 0);
    }
    bias = n.Reshape(bias, biases);
  }
  const bool reverse = n.Flag("reverse");
  const auto turned = [&](const V& y) {
    return reverse ? n.Node("Flip", {y}, {{"axes", Numbers{0}}}) : y;
  };
  NnablaNodes::Inputs inputs = {turned(x), n.Reshape(n.in(1), state)};
  if (lstm) inputs.push_back(n.Reshape(n.in(6), state));
  inputs.push_back(w);
  // Without a bias the input for other layers' weights is left out too.
  if (bias.nodes != nullptr) inputs.push_back(bias);
  arguments.emplace_back("num_layers", 1);
  std::vector<CapturedSizes> results = {n.out_sizes(0), state};
  if (lstm) results.push_back(state);
  const auto y = n.NodeOf(type, inputs, arguments, results);
  n.Out(0, turned(y[0]));
  n.Out(1, y[1]);
  if (lstm) n.Out(2, y[2]);
}
FIRN_NNABLA_EXPORT(lstm_layer) { Recurrent(n, "LSTM", 4, {}); }
FIRN_NNABLA_EXPORT(gru_layer) { Recurrent(n, "GRU", 3, {}); }
FIRN_NNABLA_EXPORT(rnn_tanh_layer) { Recurrent(n, "RNN", 1, {{"nonlinearity", "tanh"}}); }
FIRN_NNABLA_EXPORT(rnn_relu_layer) { Recurrent(n, "RNN", 1, {{"nonlinearity", "relu"}}); }

constexpr char kDraws[] = "draws NNabla's numbers, not this generator's";
V Drawn(NnablaExportCall& n, const char* type, NnablaNodes::Arguments arguments, size_t like) {
  n.Warn(kDraws);
  arguments.emplace_back("shape", n.DimsOf(n.out_sizes(like)));
  arguments.emplace_back("seed", -1);
  return n.Node(type, {}, std::move(arguments), n.out_sizes(like));
}
FIRN_NNABLA_EXPORT(rand) {
  n.Out(0, Drawn(n, "Rand", {{"low", n.Real("low")}, {"high", n.Real("high")}}, 0));
}
FIRN_NNABLA_EXPORT(randn) {
  if (n.Real("std") == 0) {
    return n.Out(0, n.Broadcast(n.Number(n.Real("mean")), n.out_sizes(0)));
  }
  n.Out(0, Drawn(n, "Randn", {{"mu", n.Real("mean")}, {"sigma", n.Real("std")}}, 0));
}
FIRN_NNABLA_EXPORT(bernoulli) {
  n.Out(0, n.Binary("Less", Drawn(n, "Rand", {{"low", 0.0}, {"high", 1.0}}, 0), n.in(1)));
}
FIRN_NNABLA_EXPORT(dropout) {
  if (n.wants(1)) return n.Refuse("whose gradient is wanted, which NNabla computes by itself");
  if (n.Real("p") == 1) return n.Out(0, n.in(0) * 0);
  n.Warn(kDraws);
  n.Out(0, n.Node("Dropout", {n.in(0)}, {{"p", n.Real("p")}, {"seed", -1}}));
}
FIRN_NNABLA_EXPORT(randint) {
  n.Out(0, Drawn(n, "Randint", {{"low", n.Int("low")}, {"high", n.Int("high")}}, 0));
}
// Places of numbers in the order of their sizes.
FIRN_NNABLA_EXPORT(randperm) {
  if (n.out_spec(0).shape.num_elements() == 0) return n.Refuse("of nothing");
  const V keys = Drawn(n, "Rand", {{"low", 0.0}, {"high", 1.0}}, 0);
  n.Out(0, n.Node("Sort", {keys}, {{"axis", 0}, {"reverse", false}, {"only_index", true}}));
}
FIRN_NNABLA_EXPORT(multinomial) {
  n.Warn(kDraws);
  const int64_t count = n.Int("n"), kinds = n.size(1, n.rank(1) - 1);
  if (count == 0) return n.Refuse("of no draws");
  const V all = n.Broadcast(n.Ints(NnablaNodes::OrderOf(static_cast<int>(kinds))), n.sizes(1));
  n.Out(0, n.Node("RandomChoice", {all, n.in(1)},
                  {{"shape", Numbers{count}}, {"replace", n.Flag("replacement")}, {"seed", -1}},
                  n.out_sizes(0)));
}
constexpr char kDistribution[] = "NNabla draws no numbers of a distribution that tensors say";
FIRN_NNABLA_NO_EXPORT(binomial, kDistribution);
FIRN_NNABLA_NO_EXPORT(rand_gamma, kDistribution);
FIRN_NNABLA_NO_EXPORT(generator_position, "NNabla has no generators of random numbers as values");
// Step t of a sequence of length l is taken from l - 1 - t, from t beyond it.
FIRN_NNABLA_EXPORT(reverse_sequence) {
  const int64_t time = n.Dim("time_dim", n.rank(0)), batch = n.Dim("batch_dim", n.rank(0));
  const int64_t steps = n.size(0, time);
  Numbers order = {batch, time}, back(static_cast<size_t>(n.rank(0)));
  for (int64_t d = 0; d < n.rank(0); ++d) {
    if (d != batch && d != time) order.push_back(d);
  }
  for (size_t d = 0; d < order.size(); ++d) {
    back[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
  }
  if (steps == 0) return n.Out(0, n.in(0));
  const V x = n.Transpose(n.in(0), order);
  const V t = n.Reshape(n.Ints(NnablaNodes::OrderOf(static_cast<int>(steps))), Numbers{1, steps});
  const V length = n.Unsqueeze(n.in(1), {1});
  const V places = n.Where(n.Binary("Less", t, length), length - 1 - t, t);
  n.Out(0, n.Transpose(n.Node("Gather", {x, places}, {{"axis", 1}, {"batch_dims", 1}}), back));
}
FIRN_NNABLA_NO_EXPORT(recurrent_layer, "is a layer on a CUDA device; capture it on the CPU");

}  // namespace
}  // namespace firn::io::internal
