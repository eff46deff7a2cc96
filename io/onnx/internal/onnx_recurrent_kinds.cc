// The steps of each kind of recurrent layer, and their derivatives by what the layer keeps.
#include "firn/io/onnx/internal/onnx_recurrent_steps.h"
#include "firn/tensor/problems/recurrent_problem.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;
using Values = std::vector<V>;

V Sigmoid(const V& x) { return x.nodes->Node("Sigmoid", {x}); }
V Tanh(const V& x) { return x.nodes->Node("Tanh", {x}); }
V OfSigmoid(const V& y) { return y * (1 - y); }  // its slope
V OfTanh(const V& y) { return 1 - y * y; }

// A row of columns in parts that are `hidden` wide.
Values Parts(const V& x, int64_t hidden, int64_t count) {
  Values parts;
  for (int64_t i = 0; i < count; ++i) {
    parts.push_back(x.nodes->Slice(x, 1, i * hidden, (i + 1) * hidden));
  }
  return parts;
}
V Joined(const Values& parts) { return parts[0].nodes->Concat(parts, 1); }

}  // namespace

OnnxRecurrentStep::After OnnxLstmStep::Forward(OnnxExportCall& n, const V& gx, const V& gh,
                                               const Values& before) const {
  const Values sums = Parts(gx + gh, n.size(3, 0) / 4, 4);
  const V i = Sigmoid(sums[0]), f = Sigmoid(sums[1]), g = Tanh(sums[2]), o = Sigmoid(sums[3]);
  const V c = f * before[1] + i * g, h = o * Tanh(c);
  const V projected = n.has(7) ? MatMul(h, LastTwoTurned(n.in(7), 2)) : h;
  return {{projected, c}, {Joined({i, f, g, o}), c}};
}

OnnxRecurrentStep::Gradients OnnxLstmStep::Backward(OnnxExportCall& n, const V&, const Values& kept,
                                                    const Values& before,
                                                    const Values& after) const {
  constexpr size_t kWhr = firn::inner::LstmGradIn::kWhr;
  const Values gates = Parts(kept[0], n.size(3, 0) / 4, 4);
  const V &i = gates[0], &f = gates[1], &g = gates[2], &o = gates[3], t = Tanh(kept[1]);
  Gradients d;
  d.projected = n.Absent();
  V dh = after[0];
  if (n.has(kWhr)) {
    d.projected = MatMul(LastTwoTurned(dh, 2), o * t);
    dh = MatMul(dh, n.in(kWhr));
  }
  const V dc = after[1] + dh * o * OfTanh(t);
  d.gx = d.gh = Joined({dc * g * OfSigmoid(i), dc * before[1] * OfSigmoid(f), dc * i * OfTanh(g),
                        dh * t * OfSigmoid(o)});
  d.before = {n.Absent(), dc * f};
  return d;
}

OnnxRecurrentStep::After OnnxGruStep::Forward(OnnxExportCall& n, const V& gx, const V& gh,
                                              const Values& before) const {
  const int64_t hidden = n.size(3, 1);
  const Values of_x = Parts(gx, hidden, 3), of_h = Parts(gh, hidden, 3);
  const V r = Sigmoid(of_x[0] + of_h[0]), z = Sigmoid(of_x[1] + of_h[1]);
  const V candidate = Tanh(of_x[2] + r * of_h[2]);
  return {{(1 - z) * candidate + z * before[0]}, {Joined({r, z, candidate, of_h[2]})}};
}

OnnxRecurrentStep::Gradients OnnxGruStep::Backward(OnnxExportCall& n, const V&, const Values& kept,
                                                   const Values& before,
                                                   const Values& after) const {
  const Values gates = Parts(kept[0], n.size(3, 1), 4);
  const V &r = gates[0], &z = gates[1], &candidate = gates[2], &dh = after[0];
  const V dn = dh * (1 - z) * OfTanh(candidate);
  const V dr = dn * gates[3] * OfSigmoid(r), dz = dh * (before[0] - candidate) * OfSigmoid(z);
  return {Joined({dr, dz, dn}), Joined({dr, dz, dn * r}), {dh * z}, n.Absent()};
}

OnnxRecurrentStep::After OnnxRnnStep::Forward(OnnxExportCall& n, const V& gx, const V& gh,
                                              const Values&) const {
  return {{relu_ ? n.Node("Relu", {gx + gh}) : Tanh(gx + gh)}, {}};
}

OnnxRecurrentStep::Gradients OnnxRnnStep::Backward(OnnxExportCall& n, const V& h, const Values&,
                                                   const Values&, const Values& after) const {
  const V d = relu_ ? ZeroUnless(Above(h, 0), after[0]) : after[0] * OfTanh(h);
  return {d, d, {n.Absent()}, n.Absent()};
}

}  // namespace firn::io::internal
