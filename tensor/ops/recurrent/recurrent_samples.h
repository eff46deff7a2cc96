#ifndef FIRN_TENSOR_OPS_RECURRENT_RECURRENT_SAMPLES_H_
#define FIRN_TENSOR_OPS_RECURRENT_RECURRENT_SAMPLES_H_

// Parts shared by samples of recurrent layers: one sequence after the other, number by number.

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "firn/tensor/ops/recurrent/recurrent.h"
#include "firn/tensor/ops/recurrent/sequence.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {

// The rows of each sequence of a call, in the order of computation.
inline std::vector<std::vector<int64_t>> RowsOfSequences(const Shape& x, int64_t batch,
                                                         const RecurrentLayerAttrs& attrs) {
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(batch));
  const size_t steps =
      attrs.batch_sizes.empty() ? static_cast<size_t>(x[0]) : attrs.batch_sizes.size();
  int64_t at = 0;
  for (size_t t = 0; t < steps; ++t) {
    const int64_t size = attrs.batch_sizes.empty() ? batch : attrs.batch_sizes[t];
    for (int64_t b = 0; b < size; ++b) rows[static_cast<size_t>(b)].push_back(at++);
  }
  for (std::vector<int64_t>& of_one : rows) {
    if (attrs.reverse) std::reverse(of_one.begin(), of_one.end());
  }
  return rows;
}

// Row `row` of m [n, k] times v.
inline double RowTimes(const RefTensor& m, int64_t row, const double* v) {
  const int64_t width = m.shape[1];
  double sum = 0;
  for (int64_t j = 0; j < width; ++j) sum += m[row * width + j] * v[j];
  return sum;
}

inline double BiasAt(const RefTensor& bias, int64_t i) { return bias.defined() ? bias[i] : 0; }

inline double LogisticOf(double x) { return 1 / (1 + std::exp(-x)); }

// One layer in one direction, of the inputs of its operation: y, the states at the end and what the
// operation keeps.
std::vector<RefTensor> LstmLayerReference(absl::Span<const RefTensor> in, AttrsRef attrs);
std::vector<RefTensor> GruLayerReference(absl::Span<const RefTensor> in, AttrsRef attrs);
std::vector<RefTensor> RnnLayerReference(absl::Span<const RefTensor> in, AttrsRef attrs, bool relu);
// The results of its gradient's operation, of the inputs of that.
std::vector<RefTensor> LstmGradReference(absl::Span<const RefTensor> in, AttrsRef attrs);
std::vector<RefTensor> GruGradReference(absl::Span<const RefTensor> in, AttrsRef attrs);
std::vector<RefTensor> RnnGradReference(absl::Span<const RefTensor> in, AttrsRef attrs, bool relu);

// The gradients that all layers have, summed up row by row: dx, dh0, dw_ih, dw_hh and db of the
// inputs of a gradient operation.
struct LayerGradients {
  const RefTensor &x, &h0, &w_ih, &w_hh;
  RefTensor dx, dh0, dw_ih, dw_hh, db;

  explicit LayerGradients(absl::Span<const RefTensor> in)
      : x(in[0]),
        h0(in[1]),
        w_ih(in[2]),
        w_hh(in[3]),
        dx(x.shape),
        dh0(h0.shape),
        dw_ih(w_ih.shape),
        dw_hh(w_hh.shape),
        db(Shape({w_ih.shape[0]})) {}

  // Adds the contributions of row `row` with the gradients dgx of x w_ih^T and dgh of h w_hh^T,
  // both [gates]; `before` is h then, and dh, its gradient, is added to.
  void Add(int64_t row, const double* before, const double* dgx, const double* dgh, double* dh) {
    const int64_t in = w_ih.shape[1], state = w_hh.shape[1];
    for (int64_t g = 0; g < w_ih.shape[0]; ++g) {
      db[g] += dgx[g];
      for (int64_t j = 0; j < in; ++j) {
        dx[row * in + j] += dgx[g] * w_ih[g * in + j];
        dw_ih[g * in + j] += dgx[g] * x[row * in + j];
      }
      for (int64_t j = 0; j < state; ++j) {
        dh[j] += dgh[g] * w_hh[g * state + j];
        dw_hh[g * state + j] += dgh[g] * before[j];
      }
    }
  }
  std::vector<RefTensor> Results(const RecurrentGradAttrs& attrs) const {
    return {attrs.wants_dx ? dx : RefTensor(Shape({0, w_ih.shape[1]})), dh0, dw_ih, dw_hh, db};
  }
};

// Calls f(b, row, before) for every row of every sequence b from the last that is computed to the
// first; `before` is the row computed before it, -1 for none.
inline void ForEachRowBackwards(const Shape& x, int64_t batch, const RecurrentLayerAttrs& attrs,
                                const std::function<void(int64_t, int64_t, int64_t)>& f) {
  const auto sequences = RowsOfSequences(x, batch, attrs);
  for (size_t b = 0; b < sequences.size(); ++b) {
    for (size_t i = sequences[b].size(); i-- > 0;) {
      f(static_cast<int64_t>(b), sequences[b][i], i == 0 ? -1 : sequences[b][i - 1]);
    }
  }
}

// Sizes of a sample's layer.
struct LayerSample {
  int64_t gates, hidden, in, state;
  std::vector<Tensor> Inputs(const Tensor& x, int64_t batch, bool biased = true) const {
    const Tensor none;
    return {x,
            Normal({batch, state}, 11),
            Uniform({gates * hidden, in}, -0.7, 0.7, 12),
            Uniform({gates * hidden, state}, -0.7, 0.7, 13),
            biased ? Normal({gates * hidden}, 14) : none,
            biased ? Normal({gates * hidden}, 15) : none};
  }
};

// Makes the inputs of a call from those that all kinds have.
using MoreInputs = std::vector<Tensor> (*)(std::vector<Tensor>);

// The calls of the layer operations that all kinds have.
inline void AddLayerCalls(Samples& s, int64_t gates, MoreInputs more) {
  const auto call = [&](const char* name, int64_t hidden, const Shape& x, int64_t batch,
                        const RecurrentLayerAttrs& attrs, bool biased = true) {
    const LayerSample layer{gates, hidden, x.dim(-1), hidden};
    // The functions begin with the direction that goes forwards.
    s.Add(name, more(layer.Inputs(Normal(x, 10), batch, biased)), attrs).check_function =
        !attrs.reverse;
  };
  call("steps of a batch", 3, {4, 2, 5}, 2, {});
  call("from the end, no bias", 2, {3, 3, 2}, 3, {true, {}}, false);
  call("packed", 3, {9, 2}, 4, {false, {4, 3, 1, 1}});
  call("packed, from the end", 2, {7, 3}, 3, {true, {3, 3, 1}});
  call("one step", 4, {1, 2, 3}, 2, {});
  call("more units than a register", 19, {2, 7, 3}, 7, {});
  call("no features", 2, {2, 2, 0}, 2, {});
  call("no sequences", 2, {3, 0, 4}, 0, {});
}

// The calls of the operations of gradients; `more` makes the inputs behind those that all have.
inline void AddGradCalls(Samples& s, int64_t gates, MoreInputs more) {
  const auto call = [&](const char* name, int64_t hidden, const Shape& x, int64_t batch,
                        const RecurrentGradAttrs& attrs, bool flowed = true) {
    std::vector<Tensor> in =
        LayerSample{gates, hidden, x.dim(-1), hidden}.Inputs(Normal(x, 10), batch);
    Dims dims = x.dims();
    dims[dims.rank - 1] = hidden;
    const Shape y(dims.span());
    in[4] = Uniform(y, -0.9, 0.9, 21);
    in[5] = Normal(y, 22);
    in.push_back(flowed ? Normal({batch, hidden}, 23) : Tensor());
    if (!flowed && hidden == 2) in[5] = Tensor();
    s.Add(name, more(std::move(in)), attrs);
  };
  call("steps of a batch", 3, {4, 2, 5}, 2, {});
  call("from the end, without dx", 3, {3, 3, 2}, 3, {{true, {}}, false});
  call("packed", 3, {9, 2}, 4, {{false, {4, 3, 1, 1}}, true});
  call("packed, from the end", 4, {7, 3}, 3, {{true, {3, 3, 1}}, true}, false);
  call("nothing flowed", 2, {2, 2, 3}, 2, {}, false);
  call("more units than a register", 19, {2, 7, 3}, 7, {});
}

// Errors that all kinds have.
inline void AddGradErrors(Samples& s, int64_t gates, MoreInputs more) {
  std::vector<Tensor> in = LayerSample{gates, 3, 2, 3}.Inputs(Normal({4, 2, 2}, 10), 2);
  in[4] = Normal({4, 2, 3}, 21);
  in[5] = Normal({4, 2, 3}, 22);
  in.push_back(Normal({2, 3}, 23));
  const std::vector<Tensor> right = more(in);
  const auto add = [&](const char* name, size_t i, const Shape& shape, const char* message) {
    std::vector<Tensor> wrong = right;
    wrong[i] = Normal(shape);
    s.AddError(name, wrong, RecurrentGradAttrs{}, message);
  };
  add("y", 4, {4, 2, 4}, "y must be [4, 2, 3], got [4, 2, 4]");
  add("dy", 5, {3, 2, 3}, "dy must be [4, 2, 3], got [3, 2, 3]");
  add("dh_n", 6, {3, 3}, "dh_n must be [2, 3], got [3, 3]");
}

inline void AddLayerErrors(Samples& s, int64_t gates, MoreInputs more) {
  const LayerSample layer{gates, 3, 5, 3};
  const auto inputs = [&](const Shape& x, int64_t batch) {
    return more(layer.Inputs(Normal(x, 10), batch));
  };
  const auto add = [&](const char* name, std::vector<Tensor> in, const RecurrentLayerAttrs& attrs,
                       const char* message) { s.AddError(name, std::move(in), attrs, message); };
  add("empty sequences", inputs({0, 2, 5}, 2), {}, "x [0, 2, 5] has no time steps");
  add("rank", inputs({4, 5}, 2), {}, "x must be [steps, batch, in], got [4, 5]");
  add("packed rank", inputs({4, 2, 5}, 2), {false, {2, 2}}, "packed x must be [rows, in]");
  add("growing batch", inputs({5, 5}, 2), {false, {2, 3}}, "never grow");
  add("too many rows", inputs({5, 5}, 2), {false, {2, 2, 2}}, "more than the 5 rows of x");
  add("too few rows", inputs({5, 5}, 2), {false, {2, 2}}, "add up to 4, x has 5 rows");
  add("features", inputs({4, 2, 6}, 2), {}, "x [4, 2, 6] has 6 features, and w_ih [");
  std::vector<Tensor> input = inputs({4, 2, 5}, 2);
  input[2] = Normal({gates * 3 + 1, 5});
  add("input weight", input, {}, "w_ih must be [");
  add("state", inputs({4, 2, 5}, 3), {}, "h0 must be [2, 3], got [3, 3]");
  std::vector<Tensor> wide = inputs({4, 2, 5}, 2);
  wide[3] = Normal({gates * 3 + (gates > 1 ? 1 : 0), gates > 1 ? 3 : 4});
  add("recurrent weight", wide, {}, "w_hh must be [");
  std::vector<Tensor> bias = inputs({4, 2, 5}, 2);
  bias[5] = Normal({2});
  add("bias", bias, {}, "b_hh must be [");
}

}  // namespace firn::testing

#endif  // FIRN_TENSOR_OPS_RECURRENT_RECURRENT_SAMPLES_H_
