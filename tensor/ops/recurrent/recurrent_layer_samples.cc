#include <string>

#include "firn/tensor/ops/recurrent/recurrent_samples.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

using Results = std::vector<RefTensor>;
using Cell = RecurrentCell;

constexpr Cell kCells[] = {Cell::kRnnTanh, Cell::kRnnRelu, Cell::kLstm, Cell::kGru};

// The results of the layer's own operation, including those that it keeps.
Results LayerOf(Cell cell, absl::Span<const RefTensor> in, const RecurrentLayerAttrs& attrs) {
  if (cell == Cell::kLstm) return LstmLayerReference(in.first(8), attrs);
  if (cell == Cell::kGru) return GruLayerReference(in.first(6), attrs);
  return RnnLayerReference(in.first(6), attrs, cell == Cell::kRnnRelu);
}

RefTensor NoCells(const RefTensor& h0) { return RefTensor(Shape({0, h0.shape[1]})); }

Results Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const auto& a = attrs.get<CellLayerAttrs>();
  Results all = LayerOf(a.cell, in, {false, a.batch_sizes});
  if (a.cell != Cell::kLstm) all.insert(all.begin() + 2, NoCells(in[1]));
  all.resize(3);
  return all;
}

Results GradReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const auto& a = attrs.get<CellGradAttrs>();
  const Cell cell = a.layer.cell;
  const RecurrentGradAttrs own{{false, a.layer.batch_sizes}, a.wants_dx};
  const Results made = LayerOf(cell, in, own.layer);
  Results given = {in[0], in[1], in[2], in[3], made[0], in[8], in[9]};
  Results d;
  RefTensor of_hidden_bias;
  if (cell == Cell::kLstm) {
    given.insert(given.end(), {in[10], in[6], made[3], made[4], in[7]});
    d = LstmGradReference(given, own);
  } else if (cell == Cell::kGru) {
    given.push_back(made[2]);
    d = GruGradReference(given, own);
  } else {
    d = RnnGradReference(given, own, cell == Cell::kRnnRelu);
  }
  const RefTensor none(Shape({0}));
  const RefTensor& db_hh = cell == Cell::kGru ? d[5] : d[4];
  Results all = {
      d[0], d[1], d[2], d[3], in[4].defined() ? d[4] : none, in[5].defined() ? db_hh : none};
  all.push_back(cell == Cell::kLstm ? d[5] : NoCells(in[1]));
  all.push_back(cell == Cell::kLstm ? d[6] : NoCells(in[1]));
  return all;
}

// x, h0, the weights, c0 and w_hr; without a projection `state` is 0.
std::vector<Tensor> Inputs(Cell cell, const Tensor& x, int64_t batch, int64_t hidden,
                           bool biased = true, int64_t state = 0) {
  const LayerSample layer{GatesOf(cell), hidden, x.size(-1), state == 0 ? hidden : state};
  std::vector<Tensor> in = layer.Inputs(x, batch, biased);
  in.push_back(cell == Cell::kLstm ? Normal({batch, hidden}, 16) : Tensor());
  in.push_back(state == 0 ? Tensor() : Uniform({state, hidden}, -1, 1, 17));
  return in;
}

// Calls that the layer and its gradient have.
template <class Add>
void ForEachCall(const Add& add) {
  for (const Cell cell : kCells) {
    const std::string name(WordFor(cell));
    add(name + ", steps of a batch", Inputs(cell, Normal({4, 2, 5}, 10), 2, 3),
        CellLayerAttrs{cell, {}});
    add(name + ", packed, no bias", Inputs(cell, Normal({9, 2}, 10), 4, 3, false),
        CellLayerAttrs{cell, {4, 3, 1, 1}});
  }
  std::vector<Tensor> one_bias = Inputs(Cell::kGru, Normal({2, 3, 2}, 10), 3, 2);
  one_bias[5] = Tensor();
  add("one bias", one_bias, CellLayerAttrs{Cell::kGru, {}});
  add("projected", Inputs(Cell::kLstm, Normal({3, 2, 4}, 10), 2, 5, true, 3),
      CellLayerAttrs{Cell::kLstm, {}});
  add("projected to as many", Inputs(Cell::kLstm, Normal({3, 2, 4}, 10), 2, 3, true, 3),
      CellLayerAttrs{Cell::kLstm, {}});
  add("projected, packed", Inputs(Cell::kLstm, Normal({6, 4}, 10), 3, 4, true, 2),
      CellLayerAttrs{Cell::kLstm, {3, 2, 1}});
}

FIRN_REGISTER_SAMPLES(recurrent_layer) {
  s.Internal("a layer of lstm, gru or rnn on devices other than the CPU");
  s.Reference(Reference);
  ForEachCall([&](std::string name, std::vector<Tensor> in, const CellLayerAttrs& a) {
    s.Add(std::move(name), std::move(in), a);
  });
  s.AddLarge("64x32x128 to 256", Inputs(Cell::kLstm, Normal({64, 32, 128}), 32, 256),
             CellLayerAttrs{}, 2.0 * 64 * 32 * 1024 * (128 + 256), 0);
  const std::vector<Tensor> lstm = Inputs(Cell::kLstm, Normal({4, 2, 5}), 2, 3);
  std::vector<Tensor> wrong = lstm;
  wrong[6] = Tensor();
  s.AddError("no cells", wrong, CellLayerAttrs{}, "an lstm needs c0");
  s.AddError("cells of another", lstm, CellLayerAttrs{Cell::kGru, {}}, "c0 is for lstm");
  wrong = Inputs(Cell::kGru, Normal({4, 2, 5}), 2, 3);
  wrong[7] = Normal({2, 3});
  s.AddError("projection of another", wrong, CellLayerAttrs{Cell::kGru, {}}, "w_hr is for lstm");
  wrong = lstm;
  wrong[6] = Normal({2, 4});
  s.AddError("cells", wrong, CellLayerAttrs{}, "c0 must be [2, 3], got [2, 4]");
  s.AddError("growing batch", Inputs(Cell::kLstm, Normal({5, 5}), 2, 3),
             CellLayerAttrs{Cell::kLstm, {2, 3}}, "never grow");
}

FIRN_REGISTER_SAMPLES(recurrent_layer_grad) {
  s.Internal("the gradient of recurrent_layer");
  s.Reference(GradReference);
  int count = 0;
  const auto add = [&](std::string name, std::vector<Tensor> in, const CellLayerAttrs& a) {
    const int64_t batch = in[1].size(0), state = in[1].size(1);
    Dims dims = in[0].shape().dims();
    dims[dims.rank - 1] = state;
    const bool lstm = a.cell == Cell::kLstm, flowed = count % 2 == 0, wants_dx = count % 3 != 1;
    in.push_back(flowed || !lstm ? Normal(Shape(dims.span()), 22) : Tensor());
    in.push_back(flowed || lstm ? Normal({batch, state}, 23) : Tensor());
    in.push_back(flowed && lstm ? Normal({batch, in[6].size(1)}, 24) : Tensor());
    s.Add(std::move(name), std::move(in), CellGradAttrs{a, wants_dx});
    ++count;
  };
  ForEachCall(add);
  std::vector<Tensor> large = Inputs(Cell::kLstm, Normal({64, 32, 128}), 32, 256);
  for (const Tensor& t : {Normal({64, 32, 256}, 22), Tensor(), Tensor()}) large.push_back(t);
  s.AddLarge("64x32x128 to 256", large, CellGradAttrs{}, 6.0 * 64 * 32 * 1024 * (128 + 256), 0);
  std::vector<Tensor> wrong = Inputs(Cell::kLstm, Normal({4, 2, 5}), 2, 3);
  for (const Tensor& t : {Normal({4, 2, 4}), Tensor(), Tensor()}) wrong.push_back(t);
  s.AddError("dy", wrong, CellGradAttrs{}, "dy must be [4, 2, 3], got [4, 2, 4]");
  wrong[8] = Tensor();
  wrong[9] = Normal({3, 3});
  s.AddError("dh_n", wrong, CellGradAttrs{}, "dh_n must be [2, 3], got [3, 3]");
  wrong[9] = Tensor();
  wrong[10] = Normal({3, 3});
  s.AddError("dc_n", wrong, CellGradAttrs{}, "dc_n must be [2, 3], got [3, 3]");
}

}  // namespace
}  // namespace firn::testing
