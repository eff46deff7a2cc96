// Invariants: a span is on open_[its class] when it has a class and a block to give, on idle_ when
// it has no class (then all its blocks are back), and on no list when every block is handed out.
// Slabs start on 2 MiB boundaries, so a block's address gives its slab.
#include "firn/device/internal/small_pool.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "firn/device/check.h"

namespace firn::inner::internal {
namespace {

constexpr size_t kSpanBytes = 256 * 1024;
constexpr size_t kSlabBytes = kHugePageBytes;

}  // namespace

void SmallPool::Link(std::vector<Span*>& list, Span& span) {
  span.position = list.size();
  list.push_back(&span);
}

void SmallPool::Unlink(std::vector<Span*>& list, Span& span) {
  FIRN_DCHECK(list[span.position] == &span);
  list[span.position] = list.back();
  list[span.position]->position = span.position;
  list.pop_back();
}

uint32_t SmallPool::Take(uint32_t size_class, void** out, uint32_t wanted) {
  const uint32_t bytes = kSizeClassBytes[size_class];
  uint32_t taken = 0;
  while (taken < wanted) {
    Span* const span = SpanFor(size_class);
    if (span == nullptr) break;
    while (taken < wanted && span->used < span->blocks) {
      uint32_t block;
      if (span->returned.empty()) {
        block = span->fresh++;
      } else {
        block = span->returned.back();  // the warmest
        span->returned.pop_back();
      }
      ++span->used;
      out[taken++] = span->data + size_t{block} * bytes;
    }
    if (span->used == span->blocks) Unlink(open_[size_class], *span);
  }
  return taken;
}

SmallPool::Span* SmallPool::SpanFor(uint32_t size_class) {
  if (!open_[size_class].empty()) return open_[size_class].back();
  if (idle_.empty() && !AddSlab()) return nullptr;
  Span* const span = idle_.back();
  idle_.pop_back();
  span->size_class = size_class;
  span->blocks = static_cast<uint32_t>(kSpanBytes / kSizeClassBytes[size_class]);
  span->fresh = 0;
  span->returned.clear();
  Link(open_[size_class], *span);
  return span;
}

// Adds a slab to idle_, a smaller one where the limit does not allow a full one.
bool SmallPool::AddSlab() {
  size_t bytes = kSlabBytes;
  while (bytes > kSpanBytes && !source_.Fits(bytes)) bytes -= kSpanBytes;
  char* const data = static_cast<char*>(source_.Map(bytes));
  if (data == nullptr) return false;
  auto slab = std::make_unique<Slab>();
  slab->spans.resize(bytes / kSpanBytes);
  for (size_t i = slab->spans.size(); i-- > 0;) {  // so that the lowest is used first
    slab->spans[i].data = data + i * kSpanBytes;
    Link(idle_, slab->spans[i]);
  }
  slabs_.emplace(reinterpret_cast<uintptr_t>(data), std::move(slab));
  return true;
}

void SmallPool::Give(uint32_t size_class, void* const* blocks, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const auto address = reinterpret_cast<uintptr_t>(blocks[i]);
    const uintptr_t offset = address % kSlabBytes;
    const auto slab = slabs_.find(address - offset);
    FIRN_CHECK(slab != slabs_.end(), "a block was given to an allocator it did not come from");
    Span& span = slab->second->spans[offset / kSpanBytes];
    FIRN_CHECK(span.used > 0 && span.size_class == size_class, "a block was given back twice");
    const bool was_full = span.used == span.blocks;
    span.returned.push_back(
        static_cast<uint16_t>(offset % kSpanBytes / kSizeClassBytes[size_class]));
    if (was_full) Link(open_[size_class], span);
    if (--span.used == 0) {
      Unlink(open_[size_class], span);
      span.blocks = 0;
      Link(idle_, span);
    }
  }
}

void SmallPool::Trim() {
  for (auto it = slabs_.begin(); it != slabs_.end();) {
    std::vector<Span>& spans = it->second->spans;
    if (std::any_of(spans.begin(), spans.end(), [](const Span& s) { return s.blocks != 0; })) {
      ++it;
      continue;
    }
    for (Span& span : spans) Unlink(idle_, span);
    source_.Unmap(spans[0].data, spans.size() * kSpanBytes);
    slabs_.erase(it++);
  }
}

}  // namespace firn::inner::internal
