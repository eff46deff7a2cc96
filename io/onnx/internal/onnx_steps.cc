// A call moves many parameters, each with its gradient, states and count behind it.
#include "firn/io/onnx/internal/onnx_steps.h"

namespace firn::io::internal {

using V = OnnxValue;

V OnnxStep::Of(const V& number) const { return number.nodes->Cast(number, p.dtype); }

void OnnxStep::Decay(double l2) {
  if (l2 != 0) g = g + p * l2;
}

void OnnxStep::Average(size_t i, double keep, const V& x) {
  state[i] = state[i] * keep + x * (1 - keep);
}

V OnnxStep::Powered(double base) const { return Power(t.nodes->Number(base, DType::kF64), t); }
V OnnxStep::Corrected(double base) const { return 1 - Powered(base); }

void WriteSteps(OnnxExportCall& n, size_t states, const std::function<void(OnnxStep& s)>& rule) {
  constexpr size_t kSkip = 1, kFirst = 2;
  const size_t cycle = states + 3;
  for (size_t at = kFirst; at < n.count(); at += cycle) {
    const size_t counted = at + cycle - 1;
    const DType wide = n.dtype(at) == DType::kF64 ? DType::kF64 : DType::kF32;
    OnnxStep s;
    s.p = n.in(at, wide);
    s.g = n.in(at + 1, wide);
    for (size_t i = 0; i < states; ++i) s.state.push_back(n.in(at + 2 + i, wide));
    s.lr = n.in(0, DType::kF64);
    s.t = n.has(counted) ? n.in(counted, DType::kF64) + 1.0 : n.Number(0, DType::kF64);
    rule(s);
    const auto write = [&](size_t i, const V& value) {
      const V next = n.Cast(value, n.dtype(i));
      n.Write(i, n.has(kSkip) ? Where(n.in(kSkip), n.in(i), next) : next);
    };
    write(at, s.p);
    for (size_t i = 0; i < states; ++i) {
      if (s.has(i)) write(at + 2 + i, s.state[i]);
    }
    if (n.has(counted)) write(counted, n.in(counted) + 1.0);
  }
}

}  // namespace firn::io::internal
