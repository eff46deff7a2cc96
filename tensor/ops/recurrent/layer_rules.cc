// Parts shared by the operations of one recurrent layer: checks of shapes, and the layer written
// with operations, step by step. All steps' products with w_ih are one product before the walk, and
// the gradients of weights one product each after it; only h w_hh^T waits for the step before.
//
// Sequences are sorted by length, so that a step has the first rows of the step before it in time.
// Going forwards, states of sequences that have ended are set aside; going backwards in time,
// sequences begin behind those that go on.

#include "firn/tensor/ops/recurrent/layer_rules.h"

#include <algorithm>
#include <utility>

#include "firn/tensor/apply.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/linear/linear.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

using In = RecurrentIn;
using GradIn = RecurrentGradIn;
using GradOut = RecurrentGradOut;

// Sets steps, batch and rows.
absl::Status FindSteps(const Shape& x, const std::vector<int64_t>& batch_sizes,
                       RecurrentSizes* sizes) {
  if (batch_sizes.empty()) {
    FIRN_RETURN_IF(x.rank() != 3,
                   InvalidArgument("x must be [steps, batch, in], got ", x.ToString()));
    FIRN_RETURN_IF(x[0] == 0, InvalidArgument("x ", x.ToString(), " has no time steps"));
    sizes->steps = x[0];
    sizes->batch = x[1];
    FIRN_RETURN_IF(__builtin_mul_overflow(x[0], x[1], &sizes->rows),
                   InvalidArgument("x ", x.ToString(), " has too many rows"));
    return absl::OkStatus();
  }
  FIRN_RETURN_IF(x.rank() != 2, InvalidArgument("packed x must be [rows, in], got ", x.ToString()));
  sizes->steps = static_cast<int64_t>(batch_sizes.size());
  sizes->batch = batch_sizes[0];
  int64_t most = x[0];
  for (int64_t size : batch_sizes) {
    FIRN_RETURN_IF(size < 1 || size > most,
                   InvalidArgument("batch_sizes must be positive, never grow and add up to the ",
                                   x[0], " rows of x, one is ", size));
    most = size;
    sizes->rows += size;
    FIRN_RETURN_IF(sizes->rows > x[0],
                   InvalidArgument("batch_sizes add up to more than the ", x[0], " rows of x"));
  }
  FIRN_RETURN_IF(sizes->rows != x[0],
                 InvalidArgument("batch_sizes add up to ", sizes->rows, ", x has ", x[0], " rows"));
  return absl::OkStatus();
}

absl::StatusOr<RecurrentSizes> CheckLayer(const InferContext& c,
                                          const std::vector<int64_t>& batch_sizes, int64_t gates,
                                          bool projected) {
  RecurrentSizes sizes;
  const Shape &x = c.shape(In::kX), &w_hh = c.shape(In::kWhh);
  FIRN_RETURN_IF_ERROR(FindSteps(x, batch_sizes, &sizes));
  sizes.hidden = w_hh[0] / gates;
  sizes.state = w_hh[1];
  FIRN_RETURN_IF(w_hh[0] % gates != 0 || sizes.hidden == 0 || sizes.state == 0 ||
                     (!projected && sizes.state != sizes.hidden),
                 InvalidArgument("w_hh must be [", gates, " * hidden, ",
                                 projected ? "projected" : "hidden", "], got ", w_hh.ToString()));
  const Shape& w_ih = c.shape(In::kWih);
  FIRN_RETURN_IF(w_ih[0] == w_hh[0] && w_ih[1] != x.dim(-1),
                 InvalidArgument("x ", x.ToString(), " has ", x.dim(-1), " features, and w_ih ",
                                 w_ih.ToString(), " takes ", w_ih[1]));
  FIRN_RETURN_IF_ERROR(CheckShape(c, In::kWih, "w_ih", Shape({w_hh[0], x.dim(-1)})));
  FIRN_RETURN_IF_ERROR(CheckShape(c, In::kH0, "h0", Shape({sizes.batch, sizes.state})));
  // This is the largest of all tensors with a row for each step and sequence.
  FIRN_RETURN_IF_ERROR(Shape::Make({sizes.rows, 4 * sizes.hidden}).status());
  return sizes;
}

Tensor AsRows(const Tensor& x) {
  return x.rank() == 2 ? x : Reshape(x, {x.size(0) * x.size(1), x.size(2)});
}

Tensor FirstRows(const Tensor& x, int64_t rows) {
  return rows == x.size(0) ? x : Slice(x, 0, 0, rows);
}

// x with its first rows replaced.
Tensor WithFirstRows(const Tensor& rows, const Tensor& x) {
  if (rows.size(0) == x.size(0)) return rows;
  return Concat({rows, Slice(x, 0, rows.size(0))});
}

struct Step {
  int64_t at, rows;
};
// In the order of computation.
std::vector<Step> StepsOf(const Shape& x, const RecurrentLayerAttrs& attrs) {
  std::vector<Step> steps;
  int64_t at = 0;
  const size_t count =
      attrs.batch_sizes.empty() ? static_cast<size_t>(x[0]) : attrs.batch_sizes.size();
  for (size_t t = 0; t < count; ++t) {
    const int64_t rows = attrs.batch_sizes.empty() ? x[1] : attrs.batch_sizes[t];
    steps.push_back({at, rows});
    at += rows;
  }
  if (attrs.reverse) std::reverse(steps.begin(), steps.end());
  return steps;
}

// Puts rows that were collected in the order of computation into the order of time.
Tensor InTime(std::vector<Tensor> parts, bool reverse) {
  if (reverse) std::reverse(parts.begin(), parts.end());
  return Concat(parts);
}

// Walks over time. `kept` gets every step's, if it is given.
std::vector<Tensor> Walk(const LayerTensors& t, const RecurrentLayerAttrs& attrs,
                         const StepByOperations& step, std::vector<StepByOperations::Kept>* kept,
                         std::vector<Tensor>* outputs) {
  const Tensor gx = Linear(AsRows(t.x), t.w_ih, t.b_ih);
  std::vector<Tensor> initial = {t.h0};
  if (t.c0.defined()) initial.push_back(t.c0);
  std::vector<Tensor> states;
  std::vector<std::vector<Tensor>> ended(initial.size());
  for (const Step& s : StepsOf(t.x.shape(), attrs)) {
    StepByOperations::Kept own;
    for (size_t i = 0; i < initial.size(); ++i) {
      const int64_t going_on = states.empty() ? 0 : std::min(states[i].size(0), s.rows);
      const bool begins = going_on < s.rows || s.rows == 0;
      Tensor begin = begins ? Slice(initial[i], 0, going_on, s.rows) : Tensor();
      if (going_on == 0) {
        own.before.push_back(std::move(begin));
        continue;
      }
      if (going_on < states[i].size(0)) ended[i].push_back(Slice(states[i], 0, going_on));
      const Tensor old = FirstRows(states[i], going_on);
      own.before.push_back(old);
      if (begin.defined()) own.before.back() = Concat({old, begin});
    }
    states = step.Forward(Slice(gx, 0, s.at, s.at + s.rows), Linear(own.before[0], t.w_hh, t.b_hh),
                          &own);
    outputs->push_back(states[0]);
    if (kept != nullptr) kept->push_back(std::move(own));
  }
  for (size_t i = 0; i < states.size(); ++i) {
    if (ended[i].empty()) continue;
    ended[i].push_back(states[i]);
    std::reverse(ended[i].begin(), ended[i].end());  // the longest sequences come first
    states[i] = Concat(ended[i]);
  }
  return states;
}

}  // namespace

absl::Status CheckShape(const InferContext& c, int input, const char* name, const Shape& want) {
  FIRN_RETURN_IF(
      c.has(input) && c.shape(input) != want,
      InvalidArgument(name, " must be ", want.ToString(), ", got ", c.shape(input).ToString()));
  return absl::OkStatus();
}

absl::StatusOr<RecurrentSizes> SizesOfLayer(const InferContext& c, int64_t gates, bool projected) {
  return SizesOfLayer(c, c.attrs<RecurrentLayerAttrs>().batch_sizes, gates, projected);
}

absl::StatusOr<RecurrentSizes> SizesOfLayer(const InferContext& c,
                                            const std::vector<int64_t>& batch_sizes, int64_t gates,
                                            bool projected) {
  FIRN_ASSIGN_OR_RETURN(const RecurrentSizes sizes, CheckLayer(c, batch_sizes, gates, projected));
  const Shape bias({gates * sizes.hidden});
  FIRN_RETURN_IF_ERROR(CheckShape(c, In::kBih, "b_ih", bias));
  FIRN_RETURN_IF_ERROR(CheckShape(c, In::kBhh, "b_hh", bias));
  return sizes;
}

absl::StatusOr<RecurrentSizes> InferLayerGrad(InferContext& c, int64_t gates, bool projected) {
  const auto& attrs = c.attrs<RecurrentGradAttrs>();
  FIRN_ASSIGN_OR_RETURN(const RecurrentSizes s,
                        CheckLayer(c, attrs.layer.batch_sizes, gates, projected));
  const Shape &x = c.shape(GradIn::kX), y = SequenceShape(x, s.state);
  FIRN_RETURN_IF_ERROR(CheckShape(c, GradIn::kY, "y", y));
  FIRN_RETURN_IF_ERROR(CheckShape(c, GradIn::kDy, "dy", y));
  FIRN_RETURN_IF_ERROR(CheckShape(c, GradIn::kDhn, "dh_n", c.shape(GradIn::kH0)));
  const DType dtype = c.dtype(GradIn::kX);
  c.set_out(GradOut::kDx, dtype, attrs.wants_dx ? x : Shape({0, x.dim(-1)}));
  c.set_out_like(GradOut::kDh0, GradIn::kH0);
  c.set_out_like(GradOut::kDwih, GradIn::kWih);
  c.set_out_like(GradOut::kDwhh, GradIn::kWhh);
  c.set_out(GradOut::kDb, dtype, Shape({gates * s.hidden}));
  return s;
}

Shape SequenceShape(const Shape& x, int64_t width) {
  Dims dims = x.dims();
  dims[dims.rank - 1] = width;
  return Shape(dims.span());
}

ArgDecl RecurrentMatrix(std::string_view name, bool optional) {
  return {.name = name, .same_dtype_as = "x", .min_rank = 2, .max_rank = 2, .optional = optional};
}

ArgDecl KeptRows(std::string_view name) {
  return {.name = name, .same_dtype_as = "x", .wide = true, .min_rank = 2, .max_rank = 2};
}

std::vector<ArgDecl> RecurrentInputs() {
  const auto bias = [](std::string_view name) {
    return ArgDecl{
        .name = name, .same_dtype_as = "x", .min_rank = 1, .max_rank = 1, .optional = true};
  };
  return {{.name = "x", .dtypes = kFloating, .min_rank = 2, .max_rank = 3},
          RecurrentMatrix("h0"),
          RecurrentMatrix("w_ih"),
          RecurrentMatrix("w_hh"),
          bias("b_ih"),
          bias("b_hh")};
}

std::vector<ArgDecl> RecurrentGradInputs() {
  std::vector<ArgDecl> inputs = RecurrentInputs();
  inputs.resize(GradIn::kY);
  const auto sequences = [](std::string_view name, bool optional) {
    return ArgDecl{
        .name = name, .same_dtype_as = "x", .min_rank = 2, .max_rank = 3, .optional = optional};
  };
  inputs.push_back(sequences("y", false));
  inputs.push_back(sequences("dy", true));
  inputs.push_back(RecurrentMatrix("dh_n", true));
  return inputs;
}

std::vector<ArgDecl> RecurrentGradOutputs() {
  return {{.name = "dx"}, {.name = "dh0"}, {.name = "dw_ih"}, {.name = "dw_hh"}, {.name = "db"}};
}

LayerTensors TensorsOf(GradContext& g) {
  LayerTensors t = {.x = g.input(In::kX),
                    .h0 = g.input(In::kH0),
                    .w_ih = g.input(In::kWih),
                    .w_hh = g.input(In::kWhh),
                    .b_ih = g.input(In::kBih),
                    .b_hh = g.input(In::kBhh)};
  if (g.num_inputs() > In::kC0) t.c0 = g.input(In::kC0);
  if (g.num_inputs() > In::kWhr) t.w_hr = g.input(In::kWhr);
  return t;
}

LayerResults RunByOperations(const LayerTensors& t, const RecurrentLayerAttrs& attrs,
                             const StepByOperations& step) {
  std::vector<Tensor> outputs;
  std::vector<Tensor> states = Walk(t, attrs, step, nullptr, &outputs);
  const Tensor y = InTime(std::move(outputs), attrs.reverse);
  return {Reshape(y, SequenceShape(t.x.shape(), y.size(1))), std::move(states)};
}

void RecordedLayerGrad(GradContext& g, const RecurrentLayerAttrs& attrs,
                       const StepByOperations& step) {
  const LayerTensors t = TensorsOf(g);
  std::vector<StepByOperations::Kept> kept;
  std::vector<Tensor> outputs, after, dgx, dgh, before;
  Walk(t, attrs, step, &kept, &outputs);
  after = {g.grad_output(RecurrentOut::kHn)};
  if (t.c0.defined()) after.push_back(g.grad_output(RecurrentOut::kHn + 1));
  const Tensor dy = AsRows(g.grad_output(RecurrentOut::kY));
  const std::vector<Step> steps = StepsOf(t.x.shape(), attrs);
  Tensor projected;
  for (size_t i = steps.size(); i-- > 0;) {
    const Step& s = steps[i];
    std::vector<Tensor> own;
    for (const Tensor& d : after) own.push_back(FirstRows(d, s.rows));
    own[0] = Add(own[0], Slice(dy, 0, s.at, s.at + s.rows));
    StepByOperations::Gradients d = step.Backward(kept[i], own);
    const Tensor through = Matmul(d.gh, t.w_hh);
    d.before[0] = d.before[0].defined() ? Add(d.before[0], through) : through;
    for (size_t j = 0; j < after.size(); ++j) after[j] = WithFirstRows(d.before[j], after[j]);
    if (d.projected.defined()) {
      projected = projected.defined() ? Add(projected, d.projected) : d.projected;
    }
    dgx.push_back(std::move(d.gx));
    dgh.push_back(std::move(d.gh));
    before.push_back(kept[i].before[0]);
  }
  const Tensor all_dgx = InTime(std::move(dgx), !attrs.reverse);
  const Tensor all_dgh = InTime(std::move(dgh), !attrs.reverse);
  if (g.needs(In::kX)) {
    g.set_grad_input(In::kX, Reshape(Matmul(all_dgx, t.w_ih), t.x.shape()));
  }
  if (g.needs(In::kWih)) g.set_grad_input(In::kWih, Matmul(all_dgx, AsRows(t.x), true));
  if (g.needs(In::kBih)) g.set_grad_input(In::kBih, Sum(all_dgx, 0));
  if (g.needs(In::kBhh)) g.set_grad_input(In::kBhh, Sum(all_dgh, 0));
  if (g.needs(In::kWhh)) {
    g.set_grad_input(In::kWhh, Matmul(all_dgh, InTime(std::move(before), !attrs.reverse), true));
  }
  if (g.needs(In::kH0)) g.set_grad_input(In::kH0, after[0]);
  if (t.c0.defined() && g.needs(In::kC0)) g.set_grad_input(In::kC0, after[1]);
  if (projected.defined() && g.needs(In::kWhr)) g.set_grad_input(In::kWhr, projected);
}

Tensor Flowed(GradContext& g, int i) { return g.has_grad_output(i) ? g.grad_output(i) : Tensor(); }

TensorList FusedLayerGrad(GradContext& g, const OpDef& op, const LayerTensors& t,
                          const std::vector<Tensor>& rest) {
  std::vector<Tensor> in = {t.x,
                            t.h0,
                            t.w_ih,
                            t.w_hh,
                            g.output(RecurrentOut::kY),
                            Flowed(g, RecurrentOut::kY),
                            Flowed(g, RecurrentOut::kHn)};
  in.insert(in.end(), rest.begin(), rest.end());
  const std::vector<TensorRef> refs(in.begin(), in.end());
  TensorList d =
      Apply(op, refs, RecurrentGradAttrs{g.attrs<RecurrentLayerAttrs>(), g.needs(In::kX)});
  constexpr std::pair<int, int> kCommon[] = {{In::kX, GradOut::kDx},     {In::kH0, GradOut::kDh0},
                                             {In::kWih, GradOut::kDwih}, {In::kWhh, GradOut::kDwhh},
                                             {In::kBih, GradOut::kDb},   {In::kBhh, GradOut::kDb}};
  for (const auto& [input, output] : kCommon) {
    if (g.needs(input)) g.set_grad_input(input, d[static_cast<size_t>(output)]);
  }
  return d;
}

}  // namespace firn
