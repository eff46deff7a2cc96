// Operators on values, and roundings, as NNabla's functions.
#include "firn/io/nnabla_network/internal/nnabla_nodes.h"

namespace firn::io::internal {

using V = NnablaValue;

V NnablaNodes::Trunc(const V& x) {
  return Binary("Mul2", Node("Sign", {x}), Node("Floor", {Node("Abs", {x})}));
}

V NnablaNodes::Round(const V& x, bool even) {
  const V y = Node("Round", {x});
  if (!even) return y;
  const V half = Binary("Equal", x - Node("Floor", {x}), 0.5);
  return Where(half, Node("Floor", {x * 0.5 + 0.5}) * 2, y);
}

V operator+(const V& x, const V& y) { return x.nodes->Binary("Add2", x, y); }
V operator-(const V& x, const V& y) { return x.nodes->Binary("Sub2", x, y); }
V operator*(const V& x, const V& y) { return x.nodes->Binary("Mul2", x, y); }
V operator/(const V& x, const V& y) { return x.nodes->Binary("Div2", x, y); }
V operator+(const V& x, double y) { return x.nodes->Binary("Add2", x, y); }
V operator-(const V& x, double y) { return x.nodes->Binary("Sub2", x, y); }
V operator*(const V& x, double y) { return x.nodes->Binary("Mul2", x, y); }
V operator/(const V& x, double y) { return x.nodes->Binary("Div2", x, y); }
V operator-(double x, const V& y) { return y.nodes->Binary("Sub2", y.nodes->Number(x), y); }
V operator-(const V& x) { return x * -1; }

}  // namespace firn::io::internal
