// Boxes are sorted, nms_mask tells which of them are kept, and these are looked up in the order.
// All of these tensors have fixed shapes; only the lists of kept boxes have not.

#include "firn/tensor/ops/vision/nms.h"

#include <algorithm>
#include <string_view>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/index/masks.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/scan/cumulative.h"
#include "firn/tensor/ops/scan/sort.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/vision/in_float.h"
#include "firn/tensor/ops/vision/nms_cpu_body.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

absl::Status InferNmsMask(InferContext& c) {
  const Shape &boxes = c.shape(0), &candidates = c.shape(1);
  const int rank = candidates.rank();
  bool fits = boxes.rank() == rank + 1 && boxes[rank] == 4;
  for (int i = 0; fits && i < rank; ++i) fits = boxes[i] == candidates[i];
  FIRN_RETURN_IF(!fits || (c.has(2) && c.shape(2) != candidates),
                 InvalidArgument("expected boxes [.., n, 4], candidates and groups [.., n], got ",
                                 boxes.ToString(), " and ", candidates.ToString(),
                                 c.has(2) ? " and " + c.shape(2).ToString() : ""));
  const double threshold = c.attrs<NmsMaskAttrs>().iou_threshold;
  FIRN_RETURN_IF(!(threshold >= 0 && threshold <= 1),
                 InvalidArgument("iou_threshold ", threshold, " is outside [0, 1]"));
  c.set_out(0, DType::kBool, candidates);
  return absl::OkStatus();
}

// Lines worth a thread: a box costs some hundred elements.
int64_t GrainOf(int64_t n) { return std::max<int64_t>(1, cpu::kBodyGrain / (128 * n)); }

template <class T>
size_t BytesOfLine(int64_t n) {
  return (cpu::NmsTree<T>::WorkspaceBytes(n) + 63) / 64 * 64;
}

// Scratch memory of each thread's line.
size_t MaskWorkspace(const KernelQuery& q) {
  const Shape& shape = q.in(1).shape;
  if (shape.num_elements() == 0) return 0;
  const int64_t n = shape[shape.rank() - 1];
  const auto threads = static_cast<size_t>(NumChunks(shape.num_elements() / n, GrainOf(n)));
  return std::max<size_t>(1, threads) *
         (q.in(0).dtype == DType::kF64 ? BytesOfLine<double>(n) : BytesOfLine<float>(n));
}

template <class T>
void MaskLines(KernelContext& k, int64_t n, int64_t lines) {
  const NmsMaskAttrs& a = k.attrs<NmsMaskAttrs>();
  ParallelForChunks(lines, GrainOf(n), [&](int chunk, int64_t begin, int64_t end) {
    cpu::NmsTree<T> tree(static_cast<T>(a.iou_threshold), a.by_kept, n,
                         k.workspace<char>() + static_cast<size_t>(chunk) * BytesOfLine<T>(n));
    for (int64_t line = begin; line < end; ++line) {
      const int64_t* const groups = k.in<int64_t>(2);
      tree.Run(n, k.in<T>(0) + line * n * 4, k.in<bool>(1) + line * n,
               groups == nullptr ? nullptr : groups + line * n, k.out<bool>() + line * n);
    }
  });
}

absl::Status MaskOnCpu(KernelContext& k) {
  const Shape& shape = k.in_spec(1).shape;
  if (shape.num_elements() == 0) return absl::OkStatus();
  const int64_t n = shape[shape.rank() - 1], lines = shape.num_elements() / n;
  if (k.in_spec(0).dtype == DType::kF64) {
    MaskLines<double>(k, n, lines);
  } else {
    MaskLines<float>(k, n, lines);
  }
  return absl::OkStatus();
}

FIRN_REGISTER_OP(nms_mask) {
  return {
      .doc = "Which boxes are kept of those in falling order. Not differentiable.",
      .inputs = {{.name = "boxes", .dtypes = kStatistics, .min_rank = 2},
                 {.name = "candidates", .dtypes = kBoolean, .min_rank = 1},
                 {.name = "groups", .dtypes = SetOf(DType::kI64), .min_rank = 1, .optional = true}},
      .outputs = {{.name = "keep"}},
      .attrs = AttrsOf<NmsMaskAttrs>(),
      .infer = InferNmsMask,
      .kernels = {{.name = "tree", .workspace = MaskWorkspace, .run = MaskOnCpu}},
  };
}

// The operation refuses others, but may come too late to name the function that was called.
void CheckThreshold(double threshold, std::string_view what, std::string_view op) {
  if (threshold >= 0 && threshold <= 1) return;
  RaiseStatus(InvalidArgument(what, " ", threshold, " is outside [0, 1]"), op);
}

Tensor IsNumber(const Tensor& x) { return Eq(x, x); }
Tensor ByFallingScore(const Tensor& scores) {
  return Argsort(scores, -1, {.descending = true, .stable = true});
}

// boxes[.., n, 4] in the order of `order` [.., n].
Tensor Ordered(const Tensor& boxes, const Tensor& order) {
  return Gather(boxes, -2, Expand(Unsqueeze(order, -1), boxes.shape()));
}

// The corners of boxes that are given by middles and sizes.
Tensor OfMiddles(const Tensor& boxes) {
  const Tensor middle = Slice(boxes, -1, 0, 2), half = Mul(Slice(boxes, -1, 2, 4), 0.5);
  return Concat({Sub(middle, half), Add(middle, half)}, -1);
}
// Gives the upper, left and the lower, right corner of any two opposite ones.
Tensor OfCorners(const Tensor& boxes) {
  const Tensor a = Slice(boxes, -1, 0, 2), b = Slice(boxes, -1, 2, 4);
  return Concat({Minimum(a, b), Maximum(a, b)}, -1);
}

// f32 for half types.
Tensor Wide(const Tensor& x) {
  const bool half = x.dtype() == DType::kF16 || x.dtype() == DType::kBF16;
  return half ? Cast(x, DType::kF32) : x;
}

Tensor Kept(const Tensor& boxes, const Tensor& scores, const Tensor& classes, double threshold,
            std::string_view op) {
  CheckDefined(boxes, op, "boxes");
  CheckDefined(scores, op, "scores");
  const bool fits = boxes.rank() == 2 && boxes.size(1) == 4 && IsFloating(boxes.dtype()) &&
                    scores.shape() == Shape({boxes.size(0)}) && IsFloating(scores.dtype());
  if (!fits) {
    RaiseStatus(InvalidArgument("expected floating boxes [n, 4] and scores [n], got ",
                                boxes.spec().ToString(), " and ", scores.spec().ToString()),
                op);
  }
  CheckThreshold(threshold, "iou_threshold", op);
  RaiseIfError(CheckHostRead(boxes), op);
  const NoGradScope no_grad;
  const Tensor order = ByFallingScore(scores);
  const Tensor keep =
      NmsMask(IndexSelect(Wide(boxes), 0, order), IndexSelect(IsNumber(scores), 0, order),
              classes.defined() ? IndexSelect(classes, 0, order) : classes, {threshold});
  return MaskedSelect(order, keep);
}

void CheckSuppression(const Tensor& boxes, const Tensor& scores,
                      const NonMaxSuppressionOptions& o) {
  constexpr std::string_view kOp = "non_max_suppression";
  CheckDefined(boxes, kOp, "boxes");
  CheckDefined(scores, kOp, "scores");
  const bool fits = boxes.rank() == 3 && boxes.size(2) == 4 && IsFloating(boxes.dtype()) &&
                    scores.rank() == 3 && scores.size(0) == boxes.size(0) &&
                    scores.size(2) == boxes.size(1) && scores.dtype() == boxes.dtype();
  if (!fits) {
    RaiseStatus(InvalidArgument("expected floating boxes [images, n, 4] and scores [images, "
                                "classes, n] of one dtype, got ",
                                boxes.spec().ToString(), " and ", scores.spec().ToString()),
                kOp);
  }
  CheckThreshold(o.iou_threshold, "iou_threshold", kOp);
  if (o.max_per_class < 0) {
    RaiseStatus(InvalidArgument("max_per_class must be 0 or more, got ", o.max_per_class), kOp);
  }
  if (o.score_threshold && *o.score_threshold != *o.score_threshold) {
    RaiseStatus(InvalidArgument("score_threshold is not a number"), kOp);
  }
}

// Objectness or probabilities that are large enough, 0 for others.
Tensor AtLeast(const Tensor& p, double threshold) { return Where(Ge(p, threshold), p, 0); }

Tensor Detected(const Tensor& x, const NmsDetection2dOptions& o) {
  const Tensor boxes = Slice(x, 2, 0, 4), corners = OfMiddles(boxes);
  Tensor objectness = AtLeast(Slice(x, 2, 4, 5), o.threshold);
  Tensor classes = AtLeast(Mul(objectness, Slice(x, 2, 5)), o.threshold);
  // Scores [images, lines, n]: of each class, or the objectness alone.
  const Tensor scores = Transpose(o.per_class ? classes : objectness, 1, 2);
  const Tensor order = ByFallingScore(scores);
  const Shape& s = scores.shape();
  const Tensor all = Expand(Unsqueeze(corners, 1), {s[0], s[1], s[2], 4});
  const Tensor keep =
      NmsMask(Ordered(all, order), Ne(Gather(scores, 2, order), 0), {}, {o.nms, o.per_class});
  const Tensor in_place = Transpose(Gather(keep, 2, Argsort(order)), 1, 2);
  if (!o.per_class) objectness = Where(in_place, objectness, 0);
  classes = Where(in_place, classes, 0);
  return Concat({boxes, objectness, classes}, 2);
}

}  // namespace

Tensor inner::NmsMask(const Tensor& boxes, const Tensor& candidates, const Tensor& groups,
                      const NmsMaskAttrs& attrs) {
  return Apply1(TheOp<"nms_mask">(), {boxes, candidates, groups}, attrs);
}

Tensor Nms(const Tensor& boxes, const Tensor& scores, Real iou_threshold) {
  return Kept(boxes, scores, {}, iou_threshold, "nms");
}

Tensor BatchedNms(const Tensor& boxes, const Tensor& scores, const Tensor& classes,
                  Real iou_threshold) {
  CheckDefined(classes, "batched_nms", "classes");
  if (classes.dtype() != DType::kI64 || !scores.defined() || classes.shape() != scores.shape()) {
    RaiseStatus(InvalidArgument("expected classes i64 [n], as many as scores, got ",
                                classes.spec().ToString()),
                "batched_nms");
  }
  return Kept(boxes, scores, classes, iou_threshold, "batched_nms");
}

Tensor NonMaxSuppression(const Tensor& boxes, const Tensor& scores,
                         const NonMaxSuppressionOptions& o) {
  CheckSuppression(boxes, scores, o);
  RaiseIfError(CheckHostRead(boxes), "non_max_suppression");
  const NoGradScope no_grad;
  const Shape& s = scores.shape();
  const Tensor corners = o.center_box ? OfMiddles(Wide(boxes)) : OfCorners(Wide(boxes));
  const Tensor order = ByFallingScore(scores);
  Tensor candidates = IsNumber(scores);
  if (o.score_threshold) candidates = Gt(scores, *o.score_threshold);
  const Tensor all = Expand(Unsqueeze(corners, 1), {s[0], s[1], s[2], 4});
  const Tensor keep =
      NmsMask(Ordered(all, order), Gather(candidates, 2, order), {}, {o.iou_threshold});
  const Tensor within = Le(Cumsum(Cast(keep, DType::kI64), 2), o.max_per_class);
  const Tensor chosen = LogicalAnd(keep, within);
  const Tensor places = Slice(Nonzero(chosen), 1, 0, 2);
  return Concat({places, Unsqueeze(MaskedSelect(order, chosen), 1)}, 1);
}

Tensor NmsDetection2d(const Tensor& x, const NmsDetection2dOptions& o) {
  constexpr std::string_view kOp = "nms_detection2d";
  CheckDefined(x, kOp);
  if (x.rank() != 3 || x.size(2) < 6 || !IsFloating(x.dtype())) {
    RaiseStatus(
        InvalidArgument("expected floating x [images, n, 5 + classes], got ", x.spec().ToString()),
        kOp);
  }
  CheckThreshold(o.threshold, "threshold", kOp);
  CheckThreshold(o.nms, "nms", kOp);
  const NoGradScope no_grad;
  return InFloat({x}, [&](const std::vector<Tensor>& in) { return Detected(in[0], o); });
}

}  // namespace firn
