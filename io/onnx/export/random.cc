// ONNX's forms of the operations in tensor/ops/random.
#include <algorithm>
#include <utility>

#include "firn/io/onnx/internal/onnx_compose.h"
#include "firn/tensor/from.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;

constexpr char kDraws[] = "draws the runtime's numbers, not this generator's";
// f32 numbers in the result's shape. The operators take fixed sizes; if the batch is one of them,
// their ...Like forms take the shape of a tensor.
V Drawn(OnnxExportCall& n, const char* op, const char* like, OnnxNodes::Attributes attributes) {
  n.Warn(kDraws);
  const OnnxSizes sizes = n.out_sizes(0);
  if (std::any_of(sizes.begin(), sizes.end(), [](const OnnxSize& s) { return s.batch(); })) {
    return n.Node(like, {n.ExpandTo(n.Number(0, DType::kF32), sizes)}, std::move(attributes));
  }
  attributes.push_back({"shape", n.out_shape(0)});
  return n.Node(op, {}, std::move(attributes), DType::kF32);
}
V UniformNumbers(OnnxExportCall& n, double low, double high) {
  return Drawn(n, "RandomUniform", "RandomUniformLike", {{"low", low}, {"high", high}});
}
FIRN_ONNX_EXPORT(rand) { n.Out(0, UniformNumbers(n, n.Real("low"), n.Real("high"))); }
FIRN_ONNX_EXPORT(randn) {
  if (n.Real("std") == 0) {
    return n.Out(0, n.ExpandTo(n.Number(n.Real("mean"), n.out_dtype(0)), n.out_sizes(0)));
  }
  n.Out(0, Drawn(n, "RandomNormal", "RandomNormalLike",
                 {{"mean", n.Real("mean")}, {"scale", n.Real("std")}}));
}
FIRN_ONNX_EXPORT(bernoulli) {
  n.NeedsOpset(15);
  n.Warn(kDraws);
  n.Out(0, n.Node("Bernoulli", {n.in(1)}));
}
FIRN_ONNX_EXPORT(randint) {
  const int64_t low = n.Int("low"), high = n.Int("high");
  if (high - low > (int64_t{1} << 24)) return n.Refuse("of more numbers than f32 counts");
  const V steps = Floor(UniformNumbers(n, 0, static_cast<double>(high - low)));
  const V inside = Min(steps, static_cast<double>(high - low - 1));
  n.Out(0, n.Cast(n.Cast(inside, DType::kI64) + n.Integer(low), n.out_dtype(0)));
}
FIRN_ONNX_EXPORT(randperm) {
  const int64_t count = n.out_shape(0)[0];
  if (count == 0) return n.Out(0, n.Ints({}));
  const V keys = UniformNumbers(n, 0, 1);
  n.Out(0, n.NodeOf("TopK", {keys, n.Ints({count})}, {DType::kF32, DType::kI64})[1]);
}
// Without replacement: the largest of log p with noise of Gumbel's distribution (T. Vieira, 2014).
FIRN_ONNX_EXPORT(multinomial) {
  n.Warn(kDraws);
  const int64_t count = n.Int("n");
  OnnxSizes rows = n.sizes(1);
  if (rows.size() == 1) rows.insert(rows.begin(), {1, 1});
  if (rows.size() > 2 || count == 0) return n.Refuse("of no draws, or of rows of rows");
  const V log_p = Log(n.ReshapeTo(n.in(1, DType::kF32), rows));
  if (n.Flag("replacement")) {
    const V drawn =
        n.Node("Multinomial", {log_p}, {{"sample_size", count}, {"dtype", 7}}, DType::kI64);
    return n.Out(0, n.ReshapeTo(drawn, n.out_sizes(0)));
  }
  const V noise = -Log(-Log(n.Node("RandomUniformLike", {log_p})));
  const auto top = n.NodeOf("TopK", {log_p + noise, n.Ints({count})}, {DType::kF32, DType::kI64});
  n.Out(0, n.ReshapeTo(top[1], n.out_sizes(0)));
}

constexpr double kBits[] = {1, 2, 4, 8, 16, 32, 64, 128};
V BitValues(OnnxExportCall& n, DType dtype) {
  return n.Constant(FromVector(std::vector<double>(kBits, kBits + 8)).To(dtype));
}
// Bools as bits: element e as bit e % 8 of byte e / 8, whatever their number.
V Packed(OnnxExportCall& n, const V& bools) {
  const V flat = n.Cast(n.Reshape(bools, {-1}), DType::kF32);
  const V missing = n.Node("Mod", {-n.Node("Shape", {flat}, {}, DType::kI64), n.Integer(8)});
  const V whole = n.Node("Pad", {flat, n.Concat({n.Ints({0}), missing}, 0), Zero(flat)});
  const V bytes = SumOver(n.Reshape(whole, {-1, 8}) * BitValues(n, DType::kF32), {1}, false);
  return n.Cast(bytes, DType::kU8);
}
// The bits again, as bools of the shape of `like`.
V Unpacked(OnnxExportCall& n, const V& bytes, const V& like) {
  const V numbers = n.Unsqueeze(n.Cast(bytes, DType::kI32), {1});
  const V bits = n.Node("Mod", {numbers / BitValues(n, DType::kI32), n.Number(2, DType::kI32)});
  const V count = n.Node("Shape", {n.Reshape(like, {-1})}, {}, DType::kI64);
  const V some = n.Node("Slice", {n.Reshape(bits, {-1}), n.Ints({0}), count, n.Ints({0})});
  const V shape = n.Node("Shape", {like}, {}, DType::kI64);
  return n.Cast(n.Node("Reshape", {some, shape}), DType::kBool);
}
FIRN_ONNX_EXPORT(dropout) {
  if (n.Real("p") == 1) {  // runtimes refuse it
    if (n.wants(1)) n.Refuse("of everything, whose gradient is wanted");
    return n.Out(0, n.ExpandTo(n.Number(0, n.dtype(0)), n.out_sizes(0)));
  }
  n.Warn(kDraws);
  const V yes = n.Constant(FromVector(std::vector<bool>{true}, Shape({})));
  const auto y = n.NodeOf("Dropout", {n.in(0), n.Number(n.Real("p"), DType::kF32), yes},
                          {n.dtype(0), DType::kBool});
  n.Out(0, y[0]);
  if (n.wants(1)) n.Out(1, Packed(n, y[1]));
}
FIRN_ONNX_EXPORT(dropout_grad) {
  const double p = n.Real("p");
  if (p == 1) return n.Out(0, n.ExpandTo(n.Number(0, n.dtype(0)), n.out_sizes(0)));
  n.Out(0, ZeroUnless(Unpacked(n, n.in(1), n.in(0)), n.in(0) * (1 / (1 - p))));
}

}  // namespace
}  // namespace firn::io::internal
