#ifndef FIRN_DEVICE_INTERNAL_LARGE_POOL_H_
#define FIRN_DEVICE_INTERNAL_LARGE_POOL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "firn/device/internal/slab_source.h"

namespace firn::inner::internal {

// Blocks of any size, cut best-fit from slabs: a request takes the smallest free piece that holds
// it (the one freed last among equals), splits off what it does not need, and a piece that comes
// back is merged with its free neighbours. Finding a piece costs a look at one list of pieces
// within 6% of one size, or at two. Not thread-safe.
class LargePool {
 public:
  static constexpr size_t kUnit = 512;  // sizes are multiples of it

  // What happens to slabs without a piece in use when a new one is needed. Giving host slabs back
  // costs little; giving a CUDA device's back waits for all of its work.
  enum class IdleSlabs : bool { kGiveBack, kKeep };

  // Slabs have `slab_bytes` (a multiple of 2 MiB), or more for a request that needs more.
  LargePool(SlabSource& source, size_t slab_bytes, IdleSlabs idle = IdleSlabs::kGiveBack)
      : source_(source), slab_bytes_(slab_bytes), idle_(idle) {}

  struct Piece {
    void* data;
    size_t bytes;   // at least those asked for
    uint32_t node;  // for Give
  };

  // nullopt when no free piece holds the bytes and the source refuses a slab.
  std::optional<Piece> Take(size_t bytes);

  void Give(uint32_t node);

  // Gives slabs without a piece in use back to the source.
  void Trim();

  // Trim, and the source discards the huge pages of other slabs in which no piece in use lies.
  // Those slabs stay, so this serves callers that ask to empty the cache, not a pool that needs
  // room.
  void TrimPages();

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr size_t kNumBins = 640;

  struct Node {
    char* data = nullptr;
    size_t bytes = 0;
    uint32_t before = kNone, after = kNone;   // neighbours in the slab
    uint32_t previous = kNone, next = kNone;  // in the bin, when free
    bool free = false;
  };

  static size_t BinOf(size_t bytes);
  uint32_t FindFree(size_t bytes) const;
  uint32_t BestOf(size_t bin, size_t bytes) const;
  uint32_t AddSlab(size_t bytes);
  void Split(uint32_t node, size_t bytes);
  void Absorb(uint32_t node, uint32_t after);
  void Link(uint32_t node);
  void Unlink(uint32_t node);
  uint32_t NewNode();

  SlabSource& source_;
  const size_t slab_bytes_;
  const IdleSlabs idle_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> spare_nodes_;
  std::array<uint32_t, kNumBins> bins_ = MakeBins();
  std::array<uint64_t, kNumBins / 64> filled_{};  // bit b: bin b is not empty

  static constexpr std::array<uint32_t, kNumBins> MakeBins() {
    std::array<uint32_t, kNumBins> bins{};
    bins.fill(kNone);
    return bins;
  }
};

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_LARGE_POOL_H_
