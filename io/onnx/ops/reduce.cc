// Reductions. Axes are an attribute in older versions and an input in newer ones; without any, all
// dimensions are reduced, or with noop_with_empty_axes none: then what comes before and after the
// sum still happens to each element. Results have the dtype of the input.

#include <limits>

#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

struct Reduction {
  Tensor (*reduce)(const Tensor& x, const DimList& dims, bool keep);
  Tensor (*none)(const Tensor& x);  // of single elements
};

Tensor Same(const Tensor& x) { return Identity(x); }

OnnxLowering Reduce(Reduction r) {
  return [r](OnnxCall& call) -> Step {
    const int rank = call.node.Rank(0);
    const DType dtype = call.node.DTypeAt(0);
    const bool keep = call.Flag("keepdims", true);
    const auto given = call.IntsOf("axes", 1);
    const std::vector<int64_t> axes = call.Axes(given.value_or(std::vector<int64_t>()), rank);
    if (axes.empty() && call.Flag("noop_with_empty_axes", false)) {
      return One([=](In in) { return Cast(r.none(in[0]), dtype); });
    }
    const DimList dims(axes);
    return One([=](In in) { return Cast(r.reduce(in[0], dims, keep), dtype); });
  };
}

// A number that integers do not have is computed in f32.
Tensor AsFloat(const Tensor& x) { return IsFloating(x.dtype()) ? x : Cast(x, DType::kF32); }

Tensor MeanOf(const Tensor& x, const DimList& dims, bool keep) {
  if (IsFloating(x.dtype())) return Mean(x, dims, keep);
  const Tensor sum = Sum(x, dims, keep);
  const int64_t n = sum.num_elements() == 0 ? 1 : x.num_elements() / sum.num_elements();
  return Div(sum, Tensor(n), DivRounding::kTrunc);
}

Tensor NormOf(const Tensor& x, const DimList& dims, bool keep) {
  return Norm(AsFloat(x), 2, dims, keep);
}

// The result without elements: what is below, or above, every number.
template <bool kLargest>
Tensor ExtremeOf(const Tensor& x, const DimList& dims, bool keep) {
  if (x.num_elements() != 0) return kLargest ? Amax(x, dims, keep) : Amin(x, dims, keep);
  const Shape shape = Sum(x, dims, keep).shape();
  if (IsFloating(x.dtype())) {
    const double inf = std::numeric_limits<double>::infinity();
    return Full(shape, kLargest ? -inf : inf, x.dtype(), x.device());
  }
  return VisitDType(x.dtype(), [&]<class T>(TypeTag<T>) {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>) {
      return Full(shape, !kLargest, x.dtype(), x.device());
    } else {
      const T value = kLargest ? Limits::lowest() : Limits::max();
      return Full(shape, static_cast<int64_t>(value), x.dtype(), x.device());
    }
  });
}

#define FIRN_ONNX_REDUCTION(Name, later, ...)              \
  const OnnxOps k##Name##1(#Name, 1, Reduce(__VA_ARGS__)); \
  const OnnxOps k##Name##later(#Name, later, Reduce(__VA_ARGS__), {.settings = {1}})

const Reduction kSumOf = {[](const Tensor& x, const DimList& d, bool k) { return Sum(x, d, k); },
                          Same};
const Reduction kMeanOf = {MeanOf, Same};
const Reduction kProdOf = {[](const Tensor& x, const DimList& d, bool k) { return Prod(x, d, k); },
                           Same};
const Reduction kMaxOf = {ExtremeOf<true>, Same};
const Reduction kMinOf = {ExtremeOf<false>, Same};
const Reduction kL1Of = {
    [](const Tensor& x, const DimList& d, bool k) { return Sum(Abs(x), d, k); },
    [](const Tensor& x) { return Abs(x); }};
const Reduction kL2Of = {NormOf, [](const Tensor& x) { return Abs(x); }};
const Reduction kLogSumOf = {
    [](const Tensor& x, const DimList& d, bool k) { return Log(Sum(AsFloat(x), d, k)); },
    [](const Tensor& x) { return Log(AsFloat(x)); }};
const Reduction kLogSumExpOf = {
    [](const Tensor& x, const DimList& d, bool k) { return Logsumexp(AsFloat(x), d, k); }, Same};
const Reduction kSumSquareOf = {
    [](const Tensor& x, const DimList& d, bool k) { return Sum(Square(x), d, k); },
    [](const Tensor& x) { return Square(x); }};

FIRN_ONNX_REDUCTION(ReduceSum, 13, kSumOf);
FIRN_ONNX_REDUCTION(ReduceMean, 18, kMeanOf);
FIRN_ONNX_REDUCTION(ReduceProd, 18, kProdOf);
FIRN_ONNX_REDUCTION(ReduceMax, 18, kMaxOf);
FIRN_ONNX_REDUCTION(ReduceMin, 18, kMinOf);
FIRN_ONNX_REDUCTION(ReduceL1, 18, kL1Of);
FIRN_ONNX_REDUCTION(ReduceL2, 18, kL2Of);
FIRN_ONNX_REDUCTION(ReduceLogSum, 18, kLogSumOf);
FIRN_ONNX_REDUCTION(ReduceLogSumExp, 18, kLogSumExpOf);
FIRN_ONNX_REDUCTION(ReduceSumSquare, 18, kSumSquareOf);

// The last of equal elements is the first from the other end.
template <bool kLargest>
OnnxLowering Position() {
  return [](OnnxCall& call) -> Step {
    const int64_t axis = call.Axis(call.Int("axis", 0), call.node.Rank(0));
    const bool keep = call.Flag("keepdims", true);
    const bool last = call.Flag("select_last_index", false);
    return One([=](In in) {
      const Tensor x = last ? Flip(in[0], DimList(axis)) : in[0];
      const Tensor at = kLargest ? Argmax(x, axis, keep) : Argmin(x, axis, keep);
      return last ? Sub(Tensor(x.size(axis) - 1), at) : at;
    });
  };
}

const OnnxOps kArgMax("ArgMax", 1, Position<true>());
const OnnxOps kArgMin("ArgMin", 1, Position<false>());

const OnnxOps kTopKAttribute("TopK", 1, [](OnnxCall& call) -> Step {
  const int64_t axis = call.Axis(call.Int("axis", -1), call.node.Rank(0)), k = call.Int("k");
  return [=](In in) {
    const ValuesAndIndices top = Topk(in[0], k, axis);
    return TensorList{top.values, top.indices};
  };
});

const OnnxOps kTopK("TopK", 10,
                    [](OnnxCall& call) -> Step {
                      const int64_t axis = call.Axis(call.Int("axis", -1), call.node.Rank(0));
                      const int64_t k = call.node.KnownInt(1, "K");
                      const TopkOptions options{.largest = call.Flag("largest", true),
                                                .sorted = call.Flag("sorted", true)};
                      return [=](In in) {
                        const ValuesAndIndices top = Topk(in[0], k, axis, options);
                        return TensorList{top.values, top.indices};
                      };
                    },
                    {.settings = {1}});

// Running sums and products along an axis that is an input.
template <Tensor (*kScan)(const Tensor&, inner::Integer, const CumsumOptions&)>
OnnxLowering Running() {
  return [](OnnxCall& call) -> Step {
    const int64_t axis = call.Axis(call.node.KnownInt(1, "axis"), call.node.Rank(0));
    const CumsumOptions options{.exclusive = call.Flag("exclusive", false),
                                .reverse = call.Flag("reverse", false)};
    const DType dtype = call.node.DTypeAt(0);
    return One([=](In in) { return Cast(kScan(in[0], axis, options), dtype); });
  };
}

const OnnxOps kCumSum("CumSum", 11, Running<Cumsum>(), {.settings = {1}});
const OnnxOps kCumProd("CumProd", 26, Running<Cumprod>(), {.settings = {1}});

}  // namespace
}  // namespace firn::io::internal
