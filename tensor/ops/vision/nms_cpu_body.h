#ifndef FIRN_TENSOR_OPS_VISION_NMS_CPU_BODY_H_
#define FIRN_TENSOR_OPS_VISION_NMS_CPU_BODY_H_

// nms_mask on the CPU. A box is compared with the boxes before it that suppress, and only with
// those that it can meet: these lie in a tree of blocks of 16, each block with what its boxes span
// (an R-tree packed as Leutenegger et al., 1997, sort tiles: by x into slices, by y within). All
// boxes have their places in it from the beginning, and a span grows when one of them begins to
// suppress. What is skipped has nothing in common with the box, so results are those of
// NmsMaskBody.
//
// Boxes of different groups never meet: a line is brought into the order of its groups, and each is
// a list of its own. Lists of few suppressing boxes have no tree: their blocks are gone through.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"

namespace firn::cpu {

template <class T>
class NmsTree {
 public:
  // What a line of n boxes takes. The workspace is aligned to 64 bytes.
  static size_t WorkspaceBytes(int64_t n) {
    return static_cast<size_t>(BlocksFor(n)) * sizeof(Block) +
           2 * static_cast<size_t>(n) * sizeof(Item) + 64;
  }

  NmsTree(T threshold, bool by_kept, int64_t n, void* workspace)
      : threshold_(threshold), by_kept_(by_kept) {
    blocks_ = static_cast<Block*>(workspace);
    list_ = reinterpret_cast<Item*>(blocks_ + BlocksFor(n));
    sorted_ = list_ + n;
  }

  // Like NmsMaskBody: n boxes in falling order, which are candidates; groups may be null.
  void Run(int64_t n, const T* boxes, const bool* candidates, const int64_t* groups, bool* kept) {
    boxes_ = boxes;
    kept_ = kept;
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i) {
      kept[i] = candidates[i];
      // One without an area, or without a finite one, overlaps nothing.
      const T area = AreaOf(boxes + 4 * i);
      if (!candidates[i] || !(area > 0 && area <= std::numeric_limits<T>::max())) continue;
      list_[count++] = {groups == nullptr ? 0 : groups[i], i, 0};
    }
    if (groups == nullptr) return RunList(list_, count);
    std::sort(list_, list_ + count, [](const Item& a, const Item& b) {
      return a.group != b.group ? a.group < b.group : a.box < b.box;
    });
    for (int64_t first = 0, last; first < count; first = last) {
      for (last = first; last < count && list_[last].group == list_[first].group;) ++last;
      RunList(list_ + first, last - first);
    }
  }

 private:
  static constexpr int kWidth = 16;
  // Suppressing boxes in a list without a tree.
  static constexpr int64_t kFew = 256;

  // Boxes, or what blocks of the level below span.
  struct alignas(64) Block {
    T low_x[kWidth], low_y[kWidth], high_x[kWidth], high_y[kWidth];
    T area[kWidth];  // of boxes

    void Clear() {
      std::fill(low_x, low_x + kWidth, std::numeric_limits<T>::infinity());
      std::fill(low_y, low_y + kWidth, std::numeric_limits<T>::infinity());
      std::fill(high_x, high_x + kWidth, -std::numeric_limits<T>::infinity());
      std::fill(high_y, high_y + kWidth, -std::numeric_limits<T>::infinity());
      std::fill(area, area + kWidth, T(1));
    }
  };
  struct Item {
    int64_t group;
    int64_t box;
    int64_t place;  // in the tree
  };
  struct Box {
    T low_x, low_y, high_x, high_y, area;
  };
  static constexpr int kMostLevels = 16;

  static int64_t BlocksOver(int64_t n) { return (n + kWidth - 1) / kWidth; }
  // How many all levels have.
  static int64_t BlocksFor(int64_t n) {
    int64_t all = kFew / kWidth;
    for (int64_t level = BlocksOver(n);; level = BlocksOver(level)) {
      all += level;
      if (level <= 1) return all;
    }
  }

  static T Side(T low, T high) { return high > low ? high - low : T(0); }
  static T AreaOf(const T* b) { return Side(b[0], b[2]) * Side(b[1], b[3]); }
  Box BoxAt(int64_t i) const {
    const T* const b = boxes_ + 4 * i;
    return {b[0], b[1], b[2], b[3], AreaOf(b)};
  }

  // Whether the box and one of the block have more in common than allowed.
  bool Meets(const Block& block, const Box& b) const {
    T common[kWidth];
    int some = 0;
    FIRN_INDEPENDENT_STEPS
    for (int i = 0; i < kWidth; ++i) {
      const T low_x = block.low_x[i] > b.low_x ? block.low_x[i] : b.low_x;
      const T low_y = block.low_y[i] > b.low_y ? block.low_y[i] : b.low_y;
      const T high_x = block.high_x[i] < b.high_x ? block.high_x[i] : b.high_x;
      const T high_y = block.high_y[i] < b.high_y ? block.high_y[i] : b.high_y;
      common[i] = Side(low_x, high_x) * Side(low_y, high_y);
      some |= common[i] > 0 ? 1 : 0;
    }
    if (some == 0) return false;
    int over = 0;
    FIRN_INDEPENDENT_STEPS
    for (int i = 0; i < kWidth; ++i) {
      const T share = common[i] / (block.area[i] + b.area - common[i]);
      over |= static_cast<int>(common[i] > 0) & static_cast<int>(share > threshold_);
    }
    return over != 0;
  }

  static void Put(Block& block, int64_t at, const Box& b) {
    block.low_x[at] = b.low_x;
    block.low_y[at] = b.low_y;
    block.high_x[at] = b.high_x;
    block.high_y[at] = b.high_y;
    block.area[at] = b.area;
  }

  // The boxes of one group.
  void RunList(Item* list, int64_t count) {
    int64_t few = 0, i = 0;
    for (; i < count && few < kFew; ++i) {
      const Box box = BoxAt(list[i].box);
      bool& kept = kept_[list[i].box];
      for (int64_t at = 0; kept && at < BlocksOver(few); ++at) kept = !Meets(blocks_[at], box);
      if (!kept && by_kept_) continue;
      if (few % kWidth == 0) blocks_[few / kWidth].Clear();
      Put(blocks_[few / kWidth], few % kWidth, box);
      ++few;
    }
    if (i == count) return;
    Pack(list, count);
    for (int64_t j = 0; j < count; ++j) {
      const Box box = BoxAt(list[j].box);
      bool& kept = kept_[list[j].box];
      if (j >= i) kept = !MeetsAny(box);
      if (kept || !by_kept_) Add(list[j].place, box);
    }
  }

  // Gives the boxes their places, in blocks of neighbours.
  void Pack(Item* list, int64_t count) {
    const auto middle = [&](const Item& a, int axis) {
      return boxes_[4 * a.box + axis] / 2 + boxes_[4 * a.box + axis + 2] / 2;
    };
    for (int64_t i = 0; i < count; ++i) sorted_[i] = {0, list[i].box, i};
    const auto by = [&](int axis) {
      return [&middle, axis](const Item& a, const Item& b) {
        return middle(a, axis) < middle(b, axis);
      };
    };
    std::sort(sorted_, sorted_ + count, by(0));
    int64_t slices = 1;
    while (slices * slices * kWidth < count) ++slices;
    const int64_t length = BlocksOver((count + slices - 1) / slices) * kWidth;
    for (int64_t first = 0; first < count; first += length) {
      std::sort(sorted_ + first, sorted_ + std::min(first + length, count), by(1));
    }
    for (int64_t i = 0; i < count; ++i) list[sorted_[i].place].place = i;

    levels_ = 0;
    Block* at = blocks_;
    for (int64_t blocks = BlocksOver(count);; blocks = BlocksOver(blocks)) {
      level_[static_cast<size_t>(levels_++)] = at;
      for (int64_t i = 0; i < blocks; ++i) at[i].Clear();
      at += blocks;
      if (blocks == 1) return;
    }
  }

  void Add(int64_t place, const Box& b) {
    Put(level_[0][place / kWidth], place % kWidth, b);
    for (int l = 1; l < levels_; ++l) {
      place /= kWidth;
      Block& block = level_[static_cast<size_t>(l)][place / kWidth];
      const int64_t at = place % kWidth;
      block.low_x[at] = std::min(block.low_x[at], b.low_x);
      block.low_y[at] = std::min(block.low_y[at], b.low_y);
      block.high_x[at] = std::max(block.high_x[at], b.high_x);
      block.high_y[at] = std::max(block.high_y[at], b.high_y);
    }
  }

  bool MeetsAny(const Box& b) const {
    struct Open {
      int level;
      int64_t block;
    };
    std::array<Open, kMostLevels * kWidth> open;
    size_t count = 0;
    open[count++] = {levels_ - 1, 0};
    while (count > 0) {
      const auto [level, at] = open[--count];
      const Block& block = level_[static_cast<size_t>(level)][at];
      if (level == 0) {
        if (Meets(block, b)) return true;
        continue;
      }
      int reached[kWidth];
      FIRN_INDEPENDENT_STEPS
      for (int i = 0; i < kWidth; ++i) {
        reached[i] = static_cast<int>(block.low_x[i] < b.high_x) &
                     static_cast<int>(block.high_x[i] > b.low_x) &
                     static_cast<int>(block.low_y[i] < b.high_y) &
                     static_cast<int>(block.high_y[i] > b.low_y);
      }
      for (int i = 0; i < kWidth; ++i) {
        if (reached[i] != 0) open[count++] = {level - 1, at * kWidth + i};
      }
    }
    return false;
  }

  const T threshold_;
  const bool by_kept_;
  Block* blocks_;
  Item *list_, *sorted_;
  const T* boxes_ = nullptr;
  bool* kept_ = nullptr;
  std::array<Block*, kMostLevels> level_ = {};  // the boxes first
  int levels_ = 0;
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_OPS_VISION_NMS_CPU_BODY_H_
