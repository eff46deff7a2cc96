// A tiny single-shot detector (J. Redmon et al., "You only look once", 2016; W. Liu et al., "SSD",
// 2016): where in a drawing are rectangles, circles and triangles? The image is a grid of cells,
// and the cell in which the middle of a shape lies says what it is and where its box ends.
//
// A sample has an image, boxes and labels, under these names; the number of shapes varies. So flips
// of the image flip the boxes too, PadTo makes batches, and Fit sees whole batches. `detector
// [DRAWINGS] [EPOCHS]` trains, and says how well it does on drawings that it has not seen.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

constexpr int64_t kSize = 48, kCell = 8, kCells = kSize / kCell;  // pixels, pixels, cells in a row
constexpr int64_t kMostShapes = 3;                                // shapes in one drawing
constexpr double kUsual = 16;                                     // side of a box, pixels
const char* const kKinds[] = {"rectangle", "circle", "triangle"};

// Whether a shape of this kind covers a point of its box, whose corners are (-1, -1) and (1, 1).
bool Covers(int64_t kind, double u, double v) {
  if (kind == 1) return u * u + v * v <= 1;
  return std::abs(v) <= 1 && std::abs(u) <= (kind == 0 ? 1 : (v + 1) / 2);
}

// Drawing `i`: grey shapes that do not meet, in noise.
io::Sample Draw(uint64_t i) {
  RandomGenerator random(i);
  const RandomOptions from = {.generator = &random};
  const Tensor image = 0.1 * Randn({1, kSize, kSize}, DType::kF32, from);
  std::vector<float> pixels = image.ToVector<float>(), boxes;
  std::vector<int64_t> labels;
  // Tries each shape at a random place; the first one always has room.
  const std::vector<double> numbers = Rand({kMostShapes, 6}, DType::kF64, from).ToVector<double>();
  for (auto r = numbers.begin(); r != numbers.end(); r += 6) {
    const double w = 12 + 8 * r[0], h = 12 + 8 * r[1];
    const double x = (kSize - w) * r[2], y = (kSize - h) * r[3];
    bool meets = false;
    for (auto b = boxes.begin(); b != boxes.end(); b += 4) {
      meets |= x < b[2] && x + w > b[0] && y < b[3] && y + h > b[1];
    }
    if (meets) continue;
    const auto kind = static_cast<int64_t>(3 * r[4]);
    for (const double side : {x, y, x + w, y + h}) boxes.push_back(static_cast<float>(side));
    labels.push_back(kind);
    for (int64_t p = 0; p < kSize * kSize; ++p) {
      const double u = 2 * (double(p % kSize) + 0.5 - x) / w - 1;
      const double v = 2 * (double(p / kSize) + 0.5 - y) / h - 1;
      if (Covers(kind, u, v)) pixels[static_cast<size_t>(p)] += float(0.5 + 0.5 * r[5]);
    }
  }
  const auto n = static_cast<int64_t>(labels.size());
  return io::Sample::Named({{"image", FromVector(pixels, {1, kSize, kSize})},
                            {"boxes", FromVector(boxes, {n, 4})},
                            {"labels", FromVector(labels)}});
}

// Scores of "nothing" and of each kind, and a box, for each cell.
struct Detector : nn::Layer {
  nn::Sequential& body = Add<nn::Sequential>("body");
  nn::Conv2d& head = Add<nn::Conv2d>("head", {.out = 8, .kernel = 1});

  Detector() {
    for (const int64_t width : {12, 24, 48}) {
      body.Append(nn::New<nn::Conv2d>({.out = width, .kernel = 3, .padding = 1}));
      body.Append(nn::New<nn::BatchNorm2d>());
      body.Append(nn::New<nn::Relu>());
      body.Append(nn::New<nn::MaxPool2d>({.kernel = 2}));
    }
    body.Append(nn::New<nn::Conv2d>({.out = 48, .kernel = 3, .padding = 1}));
    body.Append(nn::New<nn::Relu>());
  }

  // [n, 1, kSize, kSize] -> [n, cells, 8]
  Tensor Forward(const Tensor& image) override {
    return Flatten(head(body(image)), 2).Transpose(1, 2);
  }
};

// Left upper corners of all cells, in cells: [cells, 2].
Tensor Corners() {
  const Tensor cells = Arange(kCells * kCells);
  const Tensor rows = Div(cells, kCells, DivRounding::kFloor);
  return Stack({cells - rows * kCells, rows}, 1).To(DType::kF32);
}

// Converts boxes [..., 4] from pixels to the form that the network predicts, and back: the place of
// the middle in its cell, and the logarithm of the box's size over the usual one.
Tensor Encode(const Tensor& boxes, const Tensor& corners) {
  const Tensor from = Slice(boxes, -1, 0, 2), to = Slice(boxes, -1, 2, 4);
  const Tensor middle = (from + to) / (2 * kCell) - corners;
  return Concat({middle, Log(Maximum(to - from, 1) / kUsual).Expand(middle.shape())}, -1);
}
Tensor Decode(const Tensor& said, const Tensor& corners) {
  const Tensor middle = (Slice(said, -1, 0, 2) + corners) * kCell;
  const Tensor half = Exp(Slice(said, -1, 2, 4)) * (kUsual / 2);
  return Concat({middle - half, middle + half}, -1);
}

// The loss, and the inputs of the metric: boxes found, with probabilities of each kind, and true
// boxes with labels. Padding has the label -1.
BatchResult Look(Detector& net, const io::Sample& batch) {
  const Tensor &boxes = batch["boxes"], &labels = batch["labels"];  // [n, most, 4], [n, most]
  const Tensor corners = Corners(), said = net(batch["image"]);
  const Tensor scores = Slice(said, 2, 0, 4), places = Slice(said, 2, 4, 8);

  // `owned` says which shape's middle lies in which cell: [n, most, cells].
  const Tensor offsets = Encode(boxes.Unsqueeze(2), corners);  // [n, most, cells, 4]
  const Tensor middles = Slice(offsets, 3, 0, 2);
  const Tensor real = Ge(labels, 0).Unsqueeze(2);
  const Tensor inside = All(LogicalAnd(Ge(middles, 0), Lt(middles, 1)), 3);
  const Tensor owned = LogicalAnd(inside, real).To(DType::kF32);

  const Tensor kinds = Sum(owned * (labels + 1).Unsqueeze(2), {1}).To(DType::kI64);  // 0: nothing
  const Tensor wrong = SmoothL1Loss(places.Unsqueeze(1).Expand(offsets.shape()), offsets,
                                    {.reduction = Reduction::kNone});
  // The loss is divided by the number of shapes, not of cells, since most cells are empty.
  const Tensor guesses =
      CrossEntropy(scores.Transpose(1, 2), kinds, {.reduction = Reduction::kSum});
  const Tensor loss = (guesses + Sum(wrong * owned.Unsqueeze(3))) / Maximum(Sum(owned), 1);
  const Tensor found = Concat({Decode(places, corners), Softmax(scores, 2)}, 2);
  return {loss, found, Concat({boxes, labels.Unsqueeze(2).To(DType::kF32)}, 2)};
}

// The boxes [k, 4] of a kind in one image with their scores, best first; boxes that overlap a
// better one are left out.
std::pair<Tensor, std::vector<double>> Best(const Tensor& found, int64_t kind) {
  const Tensor likely = found[Gt(found.Select(1, 5 + kind), 0.05)];
  const Tensor boxes = Slice(likely, 1, 0, 4), scores = likely.Select(1, 5 + kind);
  const Tensor kept = Nms(boxes, scores, 0.5);
  return {boxes[kept], scores[kept].ToVector<double>()};
}

// Mean average precision (M. Everingham et al., "The Pascal visual object classes challenge",
// 2010): the mean over all kinds of the area under the curve of precision over recall. A box counts
// if it and a shape's box share at least half of the area that they cover together; each shape is
// found once.
class MeanAveragePrecision {
 public:
  // found: [n, cells, 4 + 1 + kinds]      there: [n, most, 5], with label -1 for padding
  void Update(const Tensor& found, const Tensor& there) {
    for (int64_t i = 0; i < found.size(0); ++i) {
      for (int64_t kind = 0; kind < 3; ++kind) {
        const Tensor is = there[i], real = Slice(is[Eq(is.Select(1, 4), kind)], 1, 0, 4);
        shapes_[kind] += real.size(0);
        const auto [boxes, scores] = Best(found[i], kind);
        const std::vector<double> overlaps = BoxIou(boxes, real).ToVector<double>();
        std::vector<bool> taken(static_cast<size_t>(real.size(0)));
        for (size_t b = 0; b < scores.size(); ++b) {
          const auto row = overlaps.begin() + static_cast<std::ptrdiff_t>(b * taken.size());
          const auto most = std::max_element(row, row + std::ssize(taken));
          const bool hit = !taken.empty() && *most >= 0.5 && !taken[size_t(most - row)];
          if (hit) taken[size_t(most - row)] = true;
          found_[kind].emplace_back(scores[b], hit);
        }
      }
    }
  }
  double Value() const {
    double sum = 0;
    for (size_t kind = 0; kind < 3; ++kind) {
      auto all = found_[kind];
      std::stable_sort(all.begin(), all.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
      std::vector<double> precision;  // at each box that finds a shape
      double hits = 0;
      for (size_t b = 0; b < all.size(); ++b) {
        if (all[b].second) precision.push_back(++hits / double(b + 1));
      }
      double best = 0, area = 0;  // takes the best precision at this recall or a higher one
      for (auto p = precision.rbegin(); p != precision.rend(); ++p) {
        area += best = std::max(best, *p);
      }
      sum += area / double(std::max<int64_t>(shapes_[kind], 1));
    }
    return sum / 3;
  }
  void Reset() { *this = {}; }

 private:
  std::vector<std::pair<double, bool>> found_[3];  // score, and whether the box is right
  int64_t shapes_[3] = {};
};

int main(int argc, char** argv) {
  const int64_t drawings = argc > 1 ? std::stoll(argv[1]) : 1500;
  const int64_t epochs = argc > 2 ? std::stoll(argv[2]) : 10;
  ManualSeed(1);
  const auto padded = io::PadTo({{.name = "boxes", .size = kMostShapes},
                                 {.name = "labels", .value = -1, .size = kMostShapes}});
  const auto draw = [](uint64_t first) {
    return [first](int64_t i) { return Draw(first + static_cast<uint64_t>(i)); };
  };
  io::DataLoader train(io::FromFunction(drawings, draw(0)),
                       {.batch = 32,
                        .shuffle = true,
                        .transform = io::TransformSample(io::RandomHorizontalFlip(),
                                                         {.boxes = "boxes", .labels = {"labels"}}),
                        .collate = padded});
  io::DataLoader unseen(io::FromFunction(300, draw(1'000'000'000)),
                        {.batch = 100, .collate = padded});

  Detector net;
  net(Zeros({2, 1, kSize, kSize}));  // the layers learn the sizes of their inputs
  optim::Adam adam(net.named_parameters(), {.lr = 5e-3});
  const ForwardFunction look = [&](const io::Sample& batch) { return Look(net, batch); };
  Fit(net, adam, train,
      {.epochs = epochs,
       .forward = look,
       .schedule = optim::CosineLr({.steps = epochs * train.size()}),
       .frozen = true,
       .progress = {.quiet = true},
       .on_epoch = [](const FitEpoch& epoch) { std::cout << epoch.ToString() << "\n"; }});
  const Evaluation e = Evaluate(net, unseen, {.metric = MeanAveragePrecision(), .forward = look});
  std::cout << "mean average precision on new drawings: " << e.metric << "\n";

  const NoGradScope no_grad;
  net.Eval();
  const std::vector<io::Sample> one = {Draw(2'000'000'000)};
  const Tensor found = Look(net, padded(one)).output[0];
  for (int64_t kind = 0; kind < 3; ++kind) {
    const auto [boxes, scores] = Best(found, kind);
    for (size_t b = 0; b < scores.size() && scores[b] > 0.5; ++b) {
      std::cout << "a " << kKinds[kind] << " (" << scores[b] << ") at";
      for (const double side : boxes[static_cast<int64_t>(b)].ToVector<double>()) {
        std::cout << " " << std::round(side);
      }
      std::cout << "\n";
    }
  }
}
