#ifndef FIRN_DEVICE_INTERNAL_SLAB_SOURCE_H_
#define FIRN_DEVICE_INTERNAL_SLAB_SOURCE_H_

#include <cstddef>
#include <optional>

namespace firn::inner::internal {

inline constexpr size_t kPageBytes = 4096;
inline constexpr size_t kHugePageBytes = size_t{2} << 20;

constexpr size_t RoundUp(size_t bytes, size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

// Takes slabs from a source of memory (the operating system, a CUDA device) and gives them back,
// within a limit. Not thread-safe.
class SlabSource {
 public:
  explicit SlabSource(std::optional<size_t> limit) : limit_(limit) {}
  virtual ~SlabSource() = default;
  SlabSource(const SlabSource&) = delete;
  SlabSource& operator=(const SlabSource&) = delete;

  // A slab, or null when the limit or the owner of the memory refuses.
  // Requires: bytes > 0, a multiple of kPageBytes.
  void* Map(size_t bytes);

  // Requires: a whole slab as Map returned it.
  void Unmap(void* slab, size_t bytes);

  // Discards the contents of part of a slab, where the source can take memory back without the
  // addresses. Requires: begin and bytes are multiples of kHugePageBytes.
  virtual void Discard(void* /*begin*/, size_t /*bytes*/) {}

  size_t mapped_bytes() const { return mapped_bytes_; }

  std::optional<size_t> limit() const { return limit_; }
  void set_limit(std::optional<size_t> bytes) { limit_ = bytes; }

  // Whether a slab of this size would stay within the limit.
  bool Fits(size_t bytes) const {
    return !limit_ || (bytes <= *limit_ && mapped_bytes_ <= *limit_ - bytes);
  }

 private:
  virtual void* Take(size_t bytes) = 0;
  virtual void Return(void* slab, size_t bytes) = 0;

  size_t mapped_bytes_ = 0;
  std::optional<size_t> limit_;
};

// Host memory: zeroed, poisoned slabs that start on 2 MiB boundaries.
class HostSlabs final : public SlabSource {
 public:
  HostSlabs();

  void Discard(void* begin, size_t bytes) override;

 private:
  void* Take(size_t bytes) override;
  void Return(void* slab, size_t bytes) override;

  bool huge_pages_;
};

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_SLAB_SOURCE_H_
