// The CPU compares a box only with those that it can meet. Tests compare this with the plain rule,
// all boxes with all, on lists long enough for the tree, sparse and dense, equal boxes, boxes of no
// area or no numbers, one that covers all others; and the time does not grow as the square.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Lines {
  int64_t lines, n;
  std::vector<double> boxes;
  std::vector<uint8_t> candidates;
  std::vector<int64_t> groups;
};

double Side(double low, double high) { return high > low ? high - low : 0; }

// All values of boxes here are small multiples of 1/4: areas are exact, in f32 as well.
template <class T>
bool Overlap(const double* a, const double* b, T threshold) {
  const double first = Side(a[0], a[2]) * Side(a[1], a[3]);
  const double second = Side(b[0], b[2]) * Side(b[1], b[3]);
  if (!(first > 0 && second > 0)) return false;
  const double common = Side(std::max(a[0], b[0]), std::min(a[2], b[2])) *
                        Side(std::max(a[1], b[1]), std::min(a[3], b[3]));
  return common > 0 && static_cast<T>(common) / static_cast<T>(first + second - common) > threshold;
}

template <class T>
std::vector<uint8_t> Plain(const Lines& l, T threshold, bool by_kept, bool grouped) {
  std::vector<uint8_t> keep(l.candidates);
  for (int64_t line = 0; line < l.lines; ++line) {
    for (int64_t i = line * l.n; i < (line + 1) * l.n; ++i) {
      const auto at = static_cast<size_t>(i);
      for (int64_t j = line * l.n; j < i && keep[at] != 0; ++j) {
        const auto before = static_cast<size_t>(j);
        const uint8_t suppresses = by_kept ? keep[before] : l.candidates[before];
        if (suppresses == 0 || (grouped && l.groups[at] != l.groups[before])) continue;
        if (Overlap(&l.boxes[4 * at], &l.boxes[4 * before], threshold)) keep[at] = 0;
      }
    }
  }
  return keep;
}

// Boxes of sides up to `side` within a square; every so often one of a special kind.
Lines Make(int64_t lines, int64_t n, int square, int side, uint32_t seed) {
  std::mt19937 random(seed);
  const auto quarters = [&](int below) {
    return static_cast<double>(random() % static_cast<uint32_t>(4 * below)) / 4;
  };
  Lines l{lines, n, {}, {}, {}};
  for (int64_t i = 0; i < lines * n; ++i) {
    double box[4] = {quarters(square), quarters(square), 0, 0};
    box[2] = box[0] + quarters(side);
    box[3] = box[1] + quarters(side);
    switch (random() % 24) {
      case 0:
        std::swap(box[0], box[2]);
        break;
      case 1:
        box[3] = box[1];
        break;
      case 2:
        box[random() % 4] = kNan;
        break;
      case 3:
        box[random() % 4] = random() % 2 == 0 ? kInf : -kInf;
        break;
      case 4:
        if (i > 0) std::copy_n(&l.boxes[4 * static_cast<size_t>(i) - 4], 4, box);
        break;
      case 5:
        if (random() % 64 == 0) box[0] = box[1] = 0, box[2] = box[3] = square;
        break;
      default:
        break;
    }
    l.boxes.insert(l.boxes.end(), box, box + 4);
    l.candidates.push_back(random() % 16 != 0 ? 1 : 0);
    l.groups.push_back(static_cast<int64_t>(random() % 3) * -1000000);
  }
  return l;
}

template <class T>
std::string Differs(const Lines& l, double threshold, bool by_kept, bool grouped) {
  const Shape shape({l.lines, l.n});
  const Tensor boxes = Cast(FromVector(l.boxes, {l.lines, l.n, 4}), DTypeOf<T>());
  const Tensor candidates = Cast(FromVector(l.candidates, {l.lines, l.n}), DType::kBool);
  const Tensor groups = grouped ? FromVector(l.groups, {l.lines, l.n}) : Tensor();
  const Tensor keep = inner::NmsMask(boxes, candidates, groups, {threshold, by_kept});
  const std::vector<uint8_t> got = Cast(keep, DType::kU8).template ToVector<uint8_t>();
  const std::vector<uint8_t> want = Plain(l, static_cast<T>(threshold), by_kept, grouped);
  for (size_t i = 0; i < want.size(); ++i) {
    if (got[i] != want[i]) return "box " + std::to_string(i);
  }
  return "";
}

TEST(NmsTest, AgreesWithThePlainRule) {
  struct Size {
    int64_t lines, n;
    int square, side;
  };
  uint32_t seed = 1;
  // Sparse boxes, of which nearly all are kept; dense ones; lines below and above the length that
  // gets a tree; trees of several levels.
  for (const Size& s : {Size{1, 6000, 1000, 8}, Size{1, 5000, 100, 8}, Size{3, 700, 60, 6},
                        Size{2, 300, 20, 20}, Size{40, 17, 8, 6}, Size{1, 1, 4, 4}}) {
    const Lines l = Make(s.lines, s.n, s.square, s.side, seed++);
    for (const double threshold : {0., 0.25, 0.5, 1.}) {
      for (const bool by_kept : {true, false}) {
        for (const bool grouped : {true, false}) {
          const std::string at = std::to_string(s.n) + " boxes, threshold " +
                                 std::to_string(threshold) + (by_kept ? "" : ", by all") +
                                 (grouped ? ", groups" : "");
          EXPECT_EQ(Differs<float>(l, threshold, by_kept, grouped), "") << at;
          EXPECT_EQ(Differs<double>(l, threshold, by_kept, grouped), "") << at << ", f64";
        }
      }
    }
  }
}

TEST(NmsTest, AllBoxesInOnePlaceAndAllInOneRow) {
  Lines l{1, 2000, {}, std::vector<uint8_t>(2000, 1), std::vector<int64_t>(2000)};
  for (int i = 0; i < 2000; ++i) {
    const std::vector<double> box = {1, 2, 3, 4};
    l.boxes.insert(l.boxes.end(), box.begin(), box.end());
  }
  for (const double threshold : {0., 0.5, 1.}) {
    EXPECT_EQ(Differs<float>(l, threshold, true, false), "");
  }
  for (int i = 0; i < 2000; ++i) {  // each half over the next
    l.boxes[4 * static_cast<size_t>(i)] = i % 1000;
    l.boxes[4 * static_cast<size_t>(i) + 2] = i % 1000 + 1.5;
  }
  for (const double threshold : {0., 0.125, 0.25, 0.5, 1.}) {
    EXPECT_EQ(Differs<float>(l, threshold, true, false), "");
    EXPECT_EQ(Differs<float>(l, threshold, false, false), "");
  }
}

// All of them are kept. Four times as many boxes took sixteen times as long.
TEST(NmsTest, TimeOfDisjointBoxesGrowsAsTheirNumber) {
  const auto seconds = [](int64_t side) {
    std::vector<float> boxes;
    for (int64_t i = 0; i < side * side; ++i) {
      const auto x = static_cast<float>(i % side), y = static_cast<float>(i / side);
      for (const float v : {x, y, x + 0.75f, y + 0.75f}) boxes.push_back(v);
    }
    const Tensor b = FromVector(boxes, {side * side, 4}), scores = Rand({side * side});
    double least = kInf;
    for (int i = 0; i < 5; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_EQ(Nms(b, scores, 0).size(0), side * side);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      least = std::min(least, took.count());
    }
    return least;
  };
  EXPECT_LT(seconds(256), 10 * seconds(128));
}

}  // namespace
}  // namespace firn
