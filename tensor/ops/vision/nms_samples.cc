#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/vision/nms.h"
#include "firn/tensor/testing/samples.h"

namespace firn::testing {
namespace {

using Box = std::vector<double>;  // x1, y1, x2, y2

double Overlap(const Box& a, const Box& b) {
  double common = 1, area_a = 1, area_b = 1;
  for (size_t d = 0; d < 2; ++d) {
    common *= std::max(0.0, std::min(a[d + 2], b[d + 2]) - std::max(a[d], b[d]));
    area_a *= std::max(0.0, a[d + 2] - a[d]);
    area_b *= std::max(0.0, b[d + 2] - b[d]);
  }
  return common > 0 ? common / (area_a + area_b - common) : 0;
}

Box BoxAt(const RefTensor& boxes, int64_t row) {
  Box b;
  for (int64_t d = 0; d < 4; ++d) b.push_back(boxes[4 * row + d]);
  return b;
}

// The boxes that are kept, of a list with scores and classes, by falling score.
std::vector<size_t> Kept(const std::vector<Box>& boxes, const std::vector<double>& scores,
                         const std::vector<double>& classes, double threshold) {
  std::vector<size_t> order(boxes.size()), kept;
  std::iota(order.begin(), order.end(), size_t{0});
  order.erase(
      std::remove_if(order.begin(), order.end(), [&](size_t i) { return std::isnan(scores[i]); }),
      order.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t i, size_t j) { return scores[i] > scores[j]; });
  for (size_t i : order) {
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](size_t k) {
      return classes[k] == classes[i] && Overlap(boxes[k], boxes[i]) > threshold;
    });
    if (!covered) kept.push_back(i);
  }
  return kept;
}

RefTensor ListOf(const std::vector<size_t>& list) {
  RefTensor y(Shape({static_cast<int64_t>(list.size())}));
  std::copy(list.begin(), list.end(), y.values.begin());
  y.dtype = DType::kI64;
  return y;
}

// Boxes, of which the second and third overlap the first by 0.6 and 0.36, the fourth overlaps none.
Tensor Boxes() {
  return Values({0, 0, 4, 4, 1, 0, 5, 4, 0, 2, 4.5, 6, 8, 8, 9, 10, 0.5, 0.5, 4, 4.5}, {5, 4});
}
// With sides of 8 to 64, of which many overlap.
Tensor ManyBoxes(int64_t n) {
  const Tensor corners = Uniform({n, 2}, 0, 512);
  return Concat({corners, Add(corners, Uniform({n, 2}, 8, 64, 2))}, 1);
}
Tensor Scores() { return Values({0.75, 0.875, 0.5, 0.25, 0.625}); }

FIRN_REGISTER_SAMPLES(nms_mask) {
  s.Function([](In in, const NmsMaskAttrs& a) { return NmsMask(in[0], in[1], in[2], a); });
  s.WithoutVectors("nms, which is made of it, has some");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<NmsMaskAttrs>();
    RefTensor keep = in[1];
    const int64_t n = keep.shape.rank() == 0 ? 1 : keep.shape[keep.shape.rank() - 1];
    for (int64_t i = 0; i < keep.size(); ++i) {
      for (int64_t j = i / n * n; j < i; ++j) {
        const bool group = in.size() < 3 || !in[2].defined() || in[2][i] == in[2][j];
        const bool suppresses = a.by_kept ? keep[j] != 0 : in[1][j] != 0;
        const double overlap = Overlap(BoxAt(in[0], i), BoxAt(in[0], j));
        if (group && suppresses && overlap > a.iou_threshold) keep[i] = 0;
      }
    }
    return std::vector<RefTensor>{keep};
  });
  const Tensor all = Values({1, 1, 1, 1, 1}).To(DType::kBool);
  s.Add("boxes", {Boxes(), all, Tensor()}, NmsMaskAttrs{0.4});
  s.Add("lower", {Boxes(), all, Tensor()}, NmsMaskAttrs{0.1});
  s.Add("by all", {Boxes(), all, Tensor()}, NmsMaskAttrs{0.2, false});
  s.Add("some", {Boxes(), Values({0, 1, 1, 0, 1}).To(DType::kBool), Tensor()}, NmsMaskAttrs{0.1});
  s.Add("groups", {Boxes(), all, Indices({4, 7, 4, 4, 7})}, NmsMaskAttrs{0.1});
  s.Add("lines", {Uniform({2, 3, 6, 4}, 0, 8), Booleans({2, 3, 6}), Integers({2, 3, 6}, 0, 2)},
        NmsMaskAttrs{0.05});
  s.Add("none", {Normal({2, 0, 4}), Booleans({2, 0}), Tensor()}, NmsMaskAttrs{});
  s.AddLarge("80x1000", {Uniform({80, 1000, 4}, 0, 8), Booleans({80, 1000}), Tensor()},
             NmsMaskAttrs{}, 0, 0);
  s.AddError("candidates", {Boxes(), Booleans({4}), Tensor()}, NmsMaskAttrs{},
             "expected boxes [.., n, 4], candidates and groups [.., n], got [5, 4] and [4]");
  s.AddError("threshold", {Boxes(), all, Tensor()}, NmsMaskAttrs{1.5},
             "iou_threshold 1.5 is outside [0, 1]");
}

struct NmsAttrs {
  double iou_threshold = 0.4;
  template <class V>
  void Visit(V& v) {
    v.Field("iou_threshold", iou_threshold);
  }
};

std::vector<RefTensor> NmsReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  std::vector<Box> boxes;
  for (int64_t i = 0; i < in[1].size(); ++i) boxes.push_back(BoxAt(in[0], i));
  std::vector<double> classes(boxes.size());
  if (in.size() > 2) classes = in[2].values;
  return {ListOf(Kept(boxes, in[1].values, classes, attrs.get<NmsAttrs>().iou_threshold))};
}

FIRN_REGISTER_COMPOSITE(nms) {
  s.Declare({{.name = "boxes", .dtypes = kFloating, .min_rank = 2, .max_rank = 2},
             {.name = "scores", .same_dtype_as = "boxes", .min_rank = 1, .max_rank = 1}},
            {{.name = "y", .dtypes = SetOf(DType::kI64), .constant = true}});
  s.Function([](In in, const NmsAttrs& a) { return Nms(in[0], in[1], a.iou_threshold); });
  s.captured = false;
  s.WithoutVectors("PyTorch itself has no such function");
  s.Reference(NmsReference);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  s.Add("boxes", {Boxes(), Scores()}, NmsAttrs{});
  s.Add("all but covered", {Boxes(), Scores()}, NmsAttrs{0});
  s.Add("all", {Boxes(), Scores()}, NmsAttrs{1});
  s.Add("equal scores", {Boxes(), Values({1, 1, 1, 1, 1})}, NmsAttrs{});
  s.Add("scores not numbers", {Boxes(), Values({0.75, nan, 0.5, nan, 0.625})}, NmsAttrs{});
  s.Add("upside down", {Values({0, 0, 4, 4, 4, 4, 0, 0, 3, 1, 1, 3}, {3, 4}), Values({1, 2, 3})},
        NmsAttrs{});
  s.Add("none", {Normal({0, 4}), Normal({0})}, NmsAttrs{});
  s.AddLarge("4000 boxes", {ManyBoxes(4000), Uniform({4000}, 0, 1)}, NmsAttrs{}, 0, 0.1e6);
  s.AddError(
      "scores", {Boxes(), Normal({4})}, NmsAttrs{},
      "expected floating boxes [n, 4] and scores [n], got f64 [5, 4] on cpu and f64 [4] on cpu");
  s.AddError("threshold", {Boxes(), Scores()}, NmsAttrs{-0.5},
             "iou_threshold -0.5 is outside [0, 1]");
  s.AddError("threshold is no number", {Boxes(), Scores()}, NmsAttrs{nan}, "is outside [0, 1]");
}

FIRN_REGISTER_COMPOSITE(batched_nms) {
  s.Declare({{.name = "boxes", .dtypes = kFloating, .min_rank = 2, .max_rank = 2},
             {.name = "scores", .same_dtype_as = "boxes", .min_rank = 1, .max_rank = 1},
             {.name = "classes", .dtypes = SetOf(DType::kI64), .min_rank = 1, .max_rank = 1}},
            {{.name = "y", .dtypes = SetOf(DType::kI64), .constant = true}});
  s.Function(
      [](In in, const NmsAttrs& a) { return BatchedNms(in[0], in[1], in[2], a.iou_threshold); });
  s.captured = false;
  s.WithoutVectors("PyTorch itself has no such function");
  s.Reference(NmsReference);
  s.Add("classes", {Boxes(), Scores(), Indices({0, 0, 1, 1, 1})}, NmsAttrs{0.1});
  s.Add("any numbers", {Boxes(), Scores(), Indices({-7, 900, -7, 5, 900})}, NmsAttrs{0.1});
  s.AddLarge("4000 boxes of 80 classes",
             {ManyBoxes(4000), Uniform({4000}, 0, 1), Integers({4000}, 0, 80)}, NmsAttrs{}, 0,
             0.1e6);
  s.AddError("classes", {Boxes(), Scores(), Indices({0, 1})}, NmsAttrs{},
             "expected classes i64 [n], as many as scores, got i64 [2]");
}

// A score threshold of none has no value among attributes: -100 stands for it.
struct SuppressionAttrs {
  int64_t max_per_class = 10;
  double iou_threshold = 0.4, score_threshold = -100;
  bool center_box = false;
  template <class V>
  void Visit(V& v) {
    v.Field("max_per_class", max_per_class);
    v.Field("iou_threshold", iou_threshold);
    v.Field("score_threshold", score_threshold);
    v.Field("center_box", center_box);
  }
};

Box CornersOf(const Box& b, bool center) {
  if (center) return {b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2};
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

FIRN_REGISTER_COMPOSITE(non_max_suppression) {
  s.Declare({{.name = "boxes", .dtypes = kFloating, .min_rank = 3, .max_rank = 3},
             {.name = "scores", .same_dtype_as = "boxes", .min_rank = 3, .max_rank = 3}},
            {{.name = "y", .dtypes = SetOf(DType::kI64), .constant = true}});
  s.Function([](In in, const SuppressionAttrs& a) {
    NonMaxSuppressionOptions o{a.max_per_class, a.iou_threshold, {}, a.center_box};
    if (a.score_threshold != -100) o.score_threshold = a.score_threshold;
    return NonMaxSuppression(in[0], in[1], o);
  });
  s.captured = false;
  s.WithoutVectors("PyTorch has no such function");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<SuppressionAttrs>();
    const Shape& shape = in[1].shape;
    RefTensor y;
    for (int64_t image = 0; image < shape[0]; ++image) {
      for (int64_t c = 0; c < shape[1]; ++c) {
        std::vector<Box> boxes;
        std::vector<double> scores;
        for (int64_t i = 0; i < shape[2]; ++i) {
          boxes.push_back(CornersOf(BoxAt(in[0], image * shape[2] + i), a.center_box));
          const double score = in[1].at({image, c, i});
          const bool low = a.score_threshold != -100 && !(score > a.score_threshold);
          scores.push_back(low ? NAN : score);
        }
        std::vector<size_t> kept =
            Kept(boxes, scores, std::vector<double>(boxes.size()), a.iou_threshold);
        kept.resize(std::min(kept.size(), static_cast<size_t>(a.max_per_class)));
        for (size_t i : kept) {
          for (int64_t v : {image, c, static_cast<int64_t>(i)}) {
            y.values.push_back(static_cast<double>(v));
          }
        }
      }
    }
    y.shape = Shape({y.size() / 3, 3});
    y.dtype = DType::kI64;
    return std::vector<RefTensor>{y};
  });
  const Tensor boxes = Reshape(Boxes(), {1, 5, 4});
  const Tensor scores = Values({0.75, 0.875, 0.5, 0.25, 0.625, 0, 1, 2, NAN, -1}, {1, 2, 5});
  s.Add("classes", {boxes, scores}, SuppressionAttrs{});
  s.Add("one of each", {boxes, scores}, SuppressionAttrs{1, 0.1});
  s.Add("nothing, as the standard says", {boxes, scores}, SuppressionAttrs{0});
  s.Add("high scores", {boxes, scores}, SuppressionAttrs{10, 0.9, 0.5});
  s.Add("middles", {boxes, scores}, SuppressionAttrs{10, 0.25, -100, true});
  s.Add("any corners", {Values({4, 4, 0, 0, 1, 4, 5, 0}, {1, 2, 4}), Values({1, 2}, {1, 1, 2})},
        SuppressionAttrs{});
  s.Add("images", {Concat({boxes, boxes}), Concat({scores, scores})}, SuppressionAttrs{2, 0.1});
  s.Add("no boxes", {Normal({2, 0, 4}), Normal({2, 3, 0})}, SuppressionAttrs{});
  s.AddLarge("1000 boxes, 20 classes",
             {Reshape(ManyBoxes(1000), {1, 1000, 4}), Uniform({1, 20, 1000}, 0, 1)},
             SuppressionAttrs{100}, 0, 0.1e6);
  s.AddError("scores", {boxes, Normal({1, 2, 4})}, SuppressionAttrs{},
             "expected floating boxes [images, n, 4] and scores [images, classes, n]");
  s.AddError("count", {boxes, scores}, SuppressionAttrs{-1},
             "max_per_class must be 0 or more, got -1");
  s.AddError("threshold", {boxes, scores}, SuppressionAttrs{1, 2},
             "iou_threshold 2 is outside [0, 1]");
}

struct DetectionAttrs {
  double threshold = 0.25, nms = 0.4;
  bool per_class = true;
  template <class V>
  void Visit(V& v) {
    v.Field("threshold", threshold);
    v.Field("nms", nms);
    v.Field("per_class", per_class);
  }
};

FIRN_REGISTER_COMPOSITE(nms_detection2d) {
  s.Declare({{.name = "x", .dtypes = kFloating, .min_rank = 3, .max_rank = 3}},
            {{.name = "y", .same_dtype_as = "x", .constant = true}});
  s.Function([](In in, const DetectionAttrs& a) {
    return NmsDetection2d(in[0],
                          {.threshold = a.threshold, .nms = a.nms, .per_class = a.per_class});
  });
  s.WithoutVectors("PyTorch has no such function");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const auto& a = attrs.get<DetectionAttrs>();
    RefTensor y = in[0];
    const int64_t images = y.shape[0], n = y.shape[1], columns = y.shape[2];
    const auto at_least = [&](double p) { return p >= a.threshold ? p : 0; };
    const auto box = [&](int64_t row) {
      Box b;
      for (int64_t d = 0; d < 4; ++d) b.push_back(in[0][row * columns + d]);
      return CornersOf(b, true);
    };
    for (int64_t row = 0; row < images * n; ++row) {
      double* const p = &y[row * columns] + 4;
      p[0] = at_least(p[0]);
      for (int64_t c = 1; c < columns - 4; ++c) p[c] = at_least(p[0] * p[c]);
    }
    const RefTensor before = y;
    for (int64_t image = 0; image < images; ++image) {
      const int64_t first = image * n;
      if (a.per_class) {
        for (int64_t c = 5; c < columns; ++c) {
          std::vector<Box> boxes;
          std::vector<double> scores;
          for (int64_t i = 0; i < n; ++i) {
            const double p = y[(first + i) * columns + c];
            boxes.push_back(box(first + i));
            scores.push_back(p == 0 ? NAN : p);
          }
          const std::vector<size_t> kept =
              Kept(boxes, scores, std::vector<double>(boxes.size()), a.nms);
          for (int64_t i = 0; i < n; ++i) y[(first + i) * columns + c] = 0;
          for (size_t i : kept) {
            y[(first + static_cast<int64_t>(i)) * columns + c] = scores[i];
          }
        }
        continue;
      }
      for (int64_t i = first; i < first + n; ++i) {
        for (int64_t j = first; j < first + n; ++j) {
          const double own = before[i * columns + 4], other = before[j * columns + 4];
          if (other > own && Overlap(box(i), box(j)) > a.nms) {
            for (int64_t c = 4; c < columns; ++c) y[i * columns + c] = 0;
          }
        }
      }
    }
    return std::vector<RefTensor>{y};
  });
  // Middles, sizes, objectness, two classes; the third overlaps the first by way of the second.
  const Tensor x = Values({2, 2, 4, 4, 0.875, 1,    0.5,   3, 2, 4, 4, 1,     0.5,  0.75,  //
                           4, 2, 4, 4, 0.75,  0.75, 0.625, 9, 9, 1, 1, 0.125, 1,    1,     //
                           9, 5, 1, 2, 0.5,   1,    0.375, 9, 5, 1, 2, 0.625, 0.25, 1},
                          {1, 6, 7});
  s.Add("per class", {x}, DetectionAttrs{});
  s.Add("by objectness", {x}, DetectionAttrs{.per_class = false});
  s.Add("all", {x}, DetectionAttrs{0, 1});
  s.Add("images", {Concat({x, Flip(x, 1)})}, DetectionAttrs{0.25, 0.25});
  s.Add("none", {Normal({2, 0, 7})}, DetectionAttrs{});
  s.Add("no numbers", {Values({2, 2, 4, 4, NAN, 1, 2, 2, 4, 4, 1, NAN}, {1, 2, 6})},
        DetectionAttrs{});
  s.AddLarge("4x845 boxes, 20 classes", {Uniform({4, 845, 25}, 0, 1)}, DetectionAttrs{}, 0, 0.7e6);
  s.AddError("columns", {Normal({1, 3, 5})}, DetectionAttrs{},
             "expected floating x [images, n, 5 + classes], got f64 [1, 3, 5]");
  s.AddError("threshold", {x}, DetectionAttrs{-1}, "threshold -1 is outside [0, 1]");
  s.AddError("nms", {x}, DetectionAttrs{0.5, 3}, "nms 3 is outside [0, 1]");
}

}  // namespace
}  // namespace firn::testing
