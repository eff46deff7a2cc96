// lstm, gru and rnn: layers on layers, by the references of one; and the cells.

#include <utility>

#include "firn/tensor/ops/recurrent/gru.h"
#include "firn/tensor/ops/recurrent/lstm.h"
#include "firn/tensor/ops/recurrent/recurrent_samples.h"
#include "firn/tensor/ops/recurrent/rnn.h"
#include "firn/tensor/testing/golden_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

// The structure of a flat list of weights, and the options.
struct StackAttrs {
  bool batch_first = false, bidirectional = false;
  bool bias = true, projected = false, relu = false;
  std::vector<int64_t> packed = {};  // batch sizes; empty: not packed
  template <class V>
  void Visit(V& v) {
    v.Field("batch_first", batch_first);
    v.Field("bidirectional", bidirectional);
    v.Field("bias", bias);
    v.Field("projected", projected);
    v.Field("relu", relu);
    v.Field("packed", packed);
  }
  size_t per_layer() const { return (bias ? 4u : 2u) + (projected ? 1u : 0u); }
  RecurrentOptions options() const {
    return {.batch_first = batch_first, .bidirectional = bidirectional};
  }
};

std::vector<RecurrentWeights> WeightsOf(const std::vector<Tensor>& flat, const StackAttrs& a) {
  std::vector<RecurrentWeights> all;
  for (size_t i = 0; i < flat.size(); i += a.per_layer()) {
    const auto at = [&](size_t j) { return i + j < flat.size() ? flat[i + j] : Tensor(); };
    const Tensor none;
    all.push_back({at(0), at(1), a.bias ? at(2) : none, a.bias ? at(3) : none,
                   a.projected ? at(a.bias ? 4 : 2) : none});
  }
  return all;
}

using LayerReference = std::vector<RefTensor> (*)(absl::Span<const RefTensor>, AttrsRef, bool relu);

RefTensor StepsFirst(const RefTensor& x) {
  RefTensor y(Shape({x.shape[1], x.shape[0], x.shape[2]}));
  ForEachIndex(y.shape, [&](absl::Span<const int64_t> at) {
    const int64_t from[] = {at[1], at[0], at[2]};
    y.at(at) = x.at(from);
  });
  return y;
}

// Row `i` of the first dimension.
RefTensor Part(const RefTensor& all, int64_t i) {
  RefTensor part(Shape({all.shape[1], all.shape[2]}));
  std::copy_n(all.values.begin() + i * part.size(), part.size(), part.values.begin());
  return part;
}

// Gives y and the states for x, the states and then weights.
std::vector<RefTensor> StackReference(absl::Span<const RefTensor> in, const StackAttrs& a,
                                      size_t states, LayerReference layer) {
  const size_t directions = a.bidirectional ? 2 : 1, first = 1 + states;
  RefTensor x = a.batch_first && a.packed.empty() ? StepsFirst(in[0]) : in[0], absent;
  absent.defined_ = false;
  std::vector<RefTensor> ends(in.begin() + 1, in.begin() + static_cast<std::ptrdiff_t>(first));
  for (size_t i = 0; first + i * a.per_layer() < in.size(); i += directions) {
    std::vector<RefTensor> ys;
    for (size_t d = 0; d < directions; ++d) {
      const auto index = static_cast<int64_t>(i + d);
      const RefTensor* const w = &in[first + (i + d) * a.per_layer()];
      std::vector<RefTensor> inputs = {x,    Part(in[1], index),     w[0],
                                       w[1], a.bias ? w[2] : absent, a.bias ? w[3] : absent};
      if (states > 1) inputs.push_back(Part(in[2], index));
      if (a.projected) inputs.push_back(w[a.bias ? 4 : 2]);
      const RecurrentLayerAttrs attrs{d == 1, a.packed};
      std::vector<RefTensor> out = layer(inputs, attrs, a.relu);
      for (size_t s = 0; s < states; ++s) {
        std::copy(out[1 + s].values.begin(), out[1 + s].values.end(),
                  ends[s].values.begin() + index * out[1 + s].size());
      }
      ys.push_back(std::move(out[0]));
    }
    Dims dims = ys[0].shape.dims();
    const int64_t width = dims[dims.rank - 1];
    dims[dims.rank - 1] *= static_cast<int64_t>(directions);
    x = RefTensor(Shape(dims.span()));
    ForEachIndex(x.shape, [&](absl::Span<const int64_t> at) {
      std::vector<int64_t> from(at.begin(), at.end());
      const auto d = static_cast<size_t>(from.back() / width);
      from.back() %= width;
      x.at(at) = ys[d].at(from);
    });
  }
  std::vector<RefTensor> all = {a.batch_first && a.packed.empty() ? StepsFirst(x) : x};
  all.insert(all.end(), ends.begin(), ends.end());
  return all;
}

// A call with weights drawn for it.
std::vector<Tensor> Call(const Shape& x, int64_t batch, int64_t gates, int64_t states,
                         int64_t layers, const StackAttrs& a, int64_t hidden = 3) {
  const int64_t state = a.projected ? 2 : hidden;
  const int64_t directions = a.bidirectional ? 2 : 1;
  std::vector<Tensor> in = {Normal(x, 1), Normal({layers * directions, batch, state}, 2)};
  if (states > 1) in.push_back(Normal({layers * directions, batch, hidden}, 3));
  uint64_t seed = 10;
  for (int64_t layer = 0; layer < layers; ++layer) {
    for (int64_t d = 0; d < directions; ++d) {
      const int64_t width = layer == 0 ? x.dim(-1) : state * directions;
      const double most = hidden > 3 ? 0.06 : 0.8;  // sums of many inputs stay as small
      in.push_back(Uniform({gates * hidden, width}, -most, most, ++seed));
      in.push_back(Uniform({gates * hidden, state}, -most, most, ++seed));
      for (int i = 0; a.bias && i < 2; ++i) in.push_back(Normal({gates * hidden}, ++seed));
      if (a.projected) in.push_back(Uniform({state, hidden}, -1, 1, ++seed));
    }
  }
  return in;
}

void AddCalls(Samples& s, int64_t gates, int64_t states) {
  const auto add = [&](const char* name, const Shape& x, int64_t batch, int64_t layers,
                       const StackAttrs& a) {
    s.Add(name, Call(x, batch, gates, states, layers, a), a);
  };
  add("one layer", {3, 2, 4}, 2, 1, {});
  add("two layers, no bias", {2, 2, 3}, 2, 2, {.bias = false});
  add("both directions, batch first", {2, 3, 4}, 2, 1,
      {.batch_first = true, .bidirectional = true});
  add("packed, two layers, both directions", {6, 2}, 3, 2,
      {.bidirectional = true, .packed = {3, 2, 1}});
  if (gates == 1) add("relu", {3, 2, 4}, 2, 1, {.relu = true});
  if (states > 1) {
    add("projected, both directions", {2, 2, 3}, 2, 2, {.bidirectional = true, .projected = true});
  }
  s.AddLarge("64x32x128 to 256", Call({64, 32, 128}, 32, gates, states, 1, {}, 256), StackAttrs{},
             2.0 * 64 * 32 * 256 * static_cast<double>(gates) * (128 + 256), 0);
  std::vector<Tensor> wrong = Call({3, 2, 4}, 2, gates, states, 1, {});
  wrong[0] = Normal({4});
  s.AddError("rank", wrong, StackAttrs{}, "x must have 3 dimensions, or 2 for one sequence");
  wrong = Call({0, 2, 4}, 2, gates, states, 1, {});
  s.AddError("no steps", wrong, StackAttrs{}, "x [0, 2, 4] has no time steps");
  wrong = Call({3, 2, 4}, 3, gates, states, 1, {});
  s.AddError("initial state", wrong, StackAttrs{}, "the initial h must be [1, 2, ...]");
  wrong = Call({3, 2, 4}, 2, gates, states, 1, {});
  s.AddError("one direction", wrong, StackAttrs{.bidirectional = true},
             "weights must be those of one or more layers in 2 direction(s), got 1");
}

void DeclareStack(Samples& s, bool cells) {
  std::vector<ArgDecl> in = {{.name = "x", .dtypes = kFloating, .min_rank = 1},
                             {.name = "h", .same_dtype_as = "x", .min_rank = 1}};
  std::vector<ArgDecl> out = {{.name = "y", .same_dtype_as = "x"},
                              {.name = "h_n", .same_dtype_as = "x"}};
  if (cells) {
    in.push_back({.name = "c", .same_dtype_as = "x", .min_rank = 1});
    out.push_back({.name = "c_n", .same_dtype_as = "x"});
  }
  in.push_back({.name = "weights", .same_dtype_as = "x", .variadic = true});
  s.Declare(std::move(in), std::move(out));
}

std::vector<Tensor> RunLstm(const Tensor& x, const LstmState& initial,
                            const std::vector<Tensor>& flat, const StackAttrs& a) {
  if (a.packed.empty()) {
    const LstmResult r = Lstm(x, initial, WeightsOf(flat, a), a.options());
    return {r.y, r.state.h, r.state.c};
  }
  const PackedLstmResult r =
      Lstm(PackedSequence{x, a.packed}, initial, WeightsOf(flat, a), a.options());
  return {r.y.data, r.state.h, r.state.c};
}

std::vector<Tensor> RunGru(const Tensor& x, const Tensor& h, const std::vector<Tensor>& flat,
                           const StackAttrs& a) {
  if (a.packed.empty()) {
    const RecurrentResult r = Gru(x, h, WeightsOf(flat, a), a.options());
    return {r.y, r.h_n};
  }
  const PackedRecurrentResult r =
      Gru(PackedSequence{x, a.packed}, h, WeightsOf(flat, a), a.options());
  return {r.y.data, r.h_n};
}

std::vector<Tensor> RunRnn(const Tensor& x, const Tensor& h, const std::vector<Tensor>& flat,
                           const StackAttrs& a) {
  const auto kind = a.relu ? RnnNonlinearity::kRelu : RnnNonlinearity::kTanh;
  if (a.packed.empty()) {
    const RecurrentResult r = Rnn(x, h, WeightsOf(flat, a), a.options(), kind);
    return {r.y, r.h_n};
  }
  const PackedRecurrentResult r =
      Rnn(PackedSequence{x, a.packed}, h, WeightsOf(flat, a), a.options(), kind);
  return {r.y.data, r.h_n};
}

FIRN_REGISTER_COMPOSITE(lstm) {
  DeclareStack(s, true);
  s.Function([](In in, const StackAttrs& a) {
    return RunLstm(in[0], {in[1], in[2]}, in.From(3), a);
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    return StackReference(in, attrs.get<StackAttrs>(), 2,
                          [](absl::Span<const RefTensor> one, AttrsRef of_layer, bool) {
                            return LstmLayerReference(one, of_layer);
                          });
  });
  AddCalls(s, 4, 2);
}

FIRN_REGISTER_COMPOSITE(gru) {
  DeclareStack(s, false);
  s.Function([](In in, const StackAttrs& a) { return RunGru(in[0], in[1], in.From(2), a); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    return StackReference(in, attrs.get<StackAttrs>(), 1,
                          [](absl::Span<const RefTensor> one, AttrsRef of_layer, bool) {
                            return GruLayerReference(one, of_layer);
                          });
  });
  AddCalls(s, 3, 1);
}

FIRN_REGISTER_COMPOSITE(rnn) {
  DeclareStack(s, false);
  s.Function([](In in, const StackAttrs& a) { return RunRnn(in[0], in[1], in.From(2), a); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    return StackReference(in, attrs.get<StackAttrs>(), 1, RnnLayerReference);
  });
  AddCalls(s, 1, 1);
}

StackAttrs AttrsOfGolden(GoldenArgs& args) {
  args.Int("layers", 1);  // the list of weights says it
  return {.batch_first = args.Flag("batch_first", false),
          .bidirectional = args.Flag("bidirectional", false),
          .bias = args.Flag("bias", true),
          .projected = args.Int("projected", 0) > 0,
          .relu = args.Text("nonlinearity") == "relu",
          .packed = args.Ints("packed")};
}

FIRN_REGISTER_GOLDEN(lstm) {
  const std::vector<Tensor> r =
      RunLstm(args["x"], {args["h"], args["c"]}, args.List("weights"), AttrsOfGolden(args));
  return {{"y", r[0]}, {"h_n", r[1]}, {"c_n", r[2]}};
}
FIRN_REGISTER_GOLDEN(gru) {
  const std::vector<Tensor> r =
      RunGru(args["x"], args["h"], args.List("weights"), AttrsOfGolden(args));
  return {{"y", r[0]}, {"h_n", r[1]}};
}
FIRN_REGISTER_GOLDEN(rnn) {
  const std::vector<Tensor> r =
      RunRnn(args["x"], args["h"], args.List("weights"), AttrsOfGolden(args));
  return {{"y", r[0]}, {"h_n", r[1]}};
}

// --- Cells ---------------------------------------------------------------------------------------

struct NonlinearityAttrs {
  bool relu = false;
  template <class V>
  void Visit(V& v) {
    v.Field("relu", relu);
  }
};

void DeclareCell(Samples& s, bool cells) {
  std::vector<ArgDecl> in = {{.name = "x", .dtypes = kFloating, .min_rank = 1, .max_rank = 2},
                             {.name = "h", .same_dtype_as = "x", .min_rank = 1, .max_rank = 2}};
  std::vector<ArgDecl> out = {{.name = "h", .same_dtype_as = "x"}};
  if (cells) {
    in.push_back({.name = "c", .same_dtype_as = "x", .min_rank = 1, .max_rank = 2});
    out.push_back({.name = "c", .same_dtype_as = "x"});
  }
  for (const char* name : {"w_ih", "w_hh"}) {
    in.push_back({.name = name, .same_dtype_as = "x", .min_rank = 2, .max_rank = 2});
  }
  for (const char* name : {"b_ih", "b_hh"}) {
    in.push_back(
        {.name = name, .same_dtype_as = "x", .min_rank = 1, .max_rank = 1, .optional = true});
  }
  s.Declare(std::move(in), std::move(out));
}

// One step of a layer.
std::vector<RefTensor> CellReference(absl::Span<const RefTensor> in, bool cells, bool relu,
                                     LayerReference layer) {
  const auto batched = [](RefTensor t, bool step) {
    const int64_t batch = t.shape.rank() == 2 ? t.shape[0] : 1, width = t.shape.dim(-1);
    t.shape = step ? Shape({1, batch, width}) : Shape({batch, width});
    return t;
  };
  const size_t w = cells ? 3 : 2;
  RefTensor absent;
  absent.defined_ = false;
  const auto bias = [&](size_t i) { return i < in.size() ? in[i] : absent; };
  std::vector<RefTensor> inputs = {
      batched(in[0], true), batched(in[1], false), in[w], in[w + 1], bias(w + 2), bias(w + 3)};
  if (cells) inputs.push_back(batched(in[2], false));
  const RecurrentLayerAttrs attrs;
  const std::vector<RefTensor> out = layer(inputs, attrs, relu);
  std::vector<RefTensor> states = {out[1]};
  if (cells) states.push_back(out[2]);
  for (size_t i = 0; i < states.size(); ++i) states[i].shape = in[1 + i].shape;
  return states;
}

void AddCellCalls(Samples& s, int64_t gates, bool cells, AttrsRef attrs) {
  const auto call = [&](const Shape& x, const Shape& h, bool biased) {
    std::vector<Tensor> in = {Normal(x, 1), Normal(h, 2)};
    if (cells) in.push_back(Normal(h, 3));
    const int64_t hidden = h.dim(-1);
    const double most = hidden > 3 ? 0.06 : 0.8;
    in.push_back(Uniform({gates * hidden, x.dim(-1)}, -most, most, 4));
    in.push_back(Uniform({gates * hidden, hidden}, -most, most, 5));
    for (int i = 0; i < 2; ++i) {
      in.push_back(biased ? Normal({gates * hidden}, 6 + static_cast<uint64_t>(i)) : Tensor());
    }
    return in;
  };
  s.Add("batch", call({2, 4}, {2, 3}, true), attrs);
  s.Add("one, no bias", call({4}, {3}, false), attrs);
  if (s.large.empty()) {
    s.AddLarge("256x256 to 256", call({256, 256}, {256, 256}, true), attrs,
               2.0 * 256 * 256 * static_cast<double>(gates) * 512, 0);
  }
  s.AddError("batch and one", call({2, 4}, {3}, true), attrs, "or both without batch");
  s.AddError("sizes", call({2, 4}, {3, 3}, true), attrs, "the initial h must be [1, 2, ...]");
}

FIRN_REGISTER_COMPOSITE(lstm_cell) {
  DeclareCell(s, true);
  s.Function([](In in) {
    const LstmState r = LstmCell(in[0], {in[1], in[2]}, in[3], in[4], in[5], in[6]);
    return std::vector<Tensor>{r.h, r.c};
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    return CellReference(in, true, false,
                         [](absl::Span<const RefTensor> one, AttrsRef attrs, bool) {
                           return LstmLayerReference(one, attrs);
                         });
  });
  AddCellCalls(s, 4, true, {});
}

FIRN_REGISTER_COMPOSITE(gru_cell) {
  DeclareCell(s, false);
  s.Function([](In in) { return GruCell(in[0], in[1], in[2], in[3], in[4], in[5]); });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef) {
    return CellReference(in, false, false,
                         [](absl::Span<const RefTensor> one, AttrsRef attrs, bool) {
                           return GruLayerReference(one, attrs);
                         });
  });
  AddCellCalls(s, 3, false, {});
}

FIRN_REGISTER_COMPOSITE(rnn_cell) {
  DeclareCell(s, false);
  s.Function([](In in, const NonlinearityAttrs& a) {
    return RnnCell(in[0], in[1], in[2], in[3], in[4], in[5],
                   {a.relu ? RnnNonlinearity::kRelu : RnnNonlinearity::kTanh});
  });
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    return CellReference(in, false, attrs.get<NonlinearityAttrs>().relu, RnnLayerReference);
  });
  AddCellCalls(s, 1, false, NonlinearityAttrs{});
  AddCellCalls(s, 1, false, NonlinearityAttrs{true});
}

FIRN_REGISTER_GOLDEN(lstm_cell) {
  const LstmState r = LstmCell(args["x"], {args["h"], args["c"]}, args["w_ih"], args["w_hh"],
                               args["b_ih"], args["b_hh"]);
  return {{"h", r.h}, {"c", r.c}};
}
FIRN_REGISTER_GOLDEN(gru_cell) {
  return GruCell(args["x"], args["h"], args["w_ih"], args["w_hh"], args["b_ih"], args["b_hh"]);
}
FIRN_REGISTER_GOLDEN(rnn_cell) {
  return RnnCell(
      args["x"], args["h"], args["w_ih"], args["w_hh"], args["b_ih"], args["b_hh"],
      {args.Text("nonlinearity") == "relu" ? RnnNonlinearity::kRelu : RnnNonlinearity::kTanh});
}

}  // namespace
}  // namespace firn::testing
