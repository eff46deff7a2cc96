// Pieces are nodes of two kinds of doubly linked lists: the neighbours in a slab (all of them, in
// order of address) and the free pieces of one bin (the one freed last first). Bins have 16 steps
// to a doubling; a bitmap tells which are not empty, so the next larger free piece is found without
// a walk. Nodes are numbers, not pointers, so that a block can carry its own in four bytes.
//
// Invariants: two neighbours are never both free; a node on a bin's list is free and the only one
// for its memory; a slab without a piece in use is one free node without neighbours.
#include "firn/device/internal/large_pool.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "firn/device/check.h"

namespace firn::inner::internal {
namespace {

constexpr size_t kMinSplitBytes = 4096;  // smaller remainders stay with the block

}  // namespace

// With u = bytes / 512, bins 0 to 31 are u itself; above, the top five bits of u and their
// position.
size_t LargePool::BinOf(size_t bytes) {
  const size_t units = bytes / kUnit;
  const auto width = static_cast<size_t>(std::bit_width(units));
  const size_t dropped = width > 5 ? width - 5 : 0;
  return std::min(16 * dropped + (units >> dropped), kNumBins - 1);
}

std::optional<LargePool::Piece> LargePool::Take(size_t bytes) {
  bytes = RoundUp(bytes, kUnit);
  uint32_t node = FindFree(bytes);
  if (node == kNone) node = AddSlab(bytes);
  if (node == kNone) return std::nullopt;
  Unlink(node);
  if (nodes_[node].bytes - bytes >= kMinSplitBytes) Split(node, bytes);
  return Piece{nodes_[node].data, nodes_[node].bytes, node};
}

void LargePool::Give(uint32_t node) {
  FIRN_CHECK(node < nodes_.size() && !nodes_[node].free, "a block was given back twice");
  const uint32_t after = nodes_[node].after;
  if (after != kNone && nodes_[after].free) {
    Unlink(after);
    Absorb(node, after);
  }
  const uint32_t before = nodes_[node].before;
  if (before != kNone && nodes_[before].free) {
    Unlink(before);
    Absorb(before, node);
    node = before;
  }
  Link(node);
}

void LargePool::Trim() {
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (!node.free || node.before != kNone || node.after != kNone) continue;
    Unlink(i);
    source_.Unmap(node.data, node.bytes);
    nodes_[i] = Node{};
    spare_nodes_.push_back(i);
  }
}

// Discards only whole huge pages: one of which a part is discarded comes back as small pages.
void LargePool::TrimPages() {
  Trim();
  for (const Node& node : nodes_) {
    if (!node.free) continue;
    const size_t before = -reinterpret_cast<uintptr_t>(node.data) % kHugePageBytes;
    if (node.bytes < before + kHugePageBytes) continue;
    const size_t bytes = (node.bytes - before) / kHugePageBytes * kHugePageBytes;
    source_.Discard(node.data + before, bytes);
  }
}

uint32_t LargePool::FindFree(size_t bytes) const {
  const size_t first = BinOf(bytes);
  const uint32_t same_bin = BestOf(first, bytes);
  if (same_bin != kNone) return same_bin;
  for (size_t bin = first + 1; bin < kNumBins;
       bin = (bin | 63) + 1) {  // a word of the bitmap a turn
    const uint64_t word = filled_[bin / 64] >> (bin % 64);
    if (word != 0) return BestOf(bin + static_cast<size_t>(std::countr_zero(word)), bytes);
  }
  return kNone;
}

// The smallest piece of the bin that holds `bytes`.
uint32_t LargePool::BestOf(size_t bin, size_t bytes) const {
  uint32_t best = kNone;
  for (uint32_t i = bins_[bin]; i != kNone; i = nodes_[i].next) {
    if (nodes_[i].bytes == bytes) return i;
    if (nodes_[i].bytes < bytes) continue;
    if (best == kNone || nodes_[i].bytes < nodes_[best].bytes) best = i;
  }
  return best;
}

// Adds a slab as one free piece; where the limit allows no full slab, one that just holds the
// request.
uint32_t LargePool::AddSlab(size_t bytes) {
  // Free slabs are too small for the request. They are given back, so that the pool does not hold
  // what each phase of a program once needed.
  if (idle_ == IdleSlabs::kGiveBack) Trim();
  size_t slab_bytes = std::max(slab_bytes_, RoundUp(bytes, kHugePageBytes));
  if (!source_.Fits(slab_bytes)) slab_bytes = RoundUp(bytes, kPageBytes);
  void* const data = source_.Map(slab_bytes);
  if (data == nullptr) return kNone;
  const uint32_t node = NewNode();
  nodes_[node].data = static_cast<char*>(data);
  nodes_[node].bytes = slab_bytes;
  Link(node);
  return node;
}

// Cuts the piece down to `bytes` and makes the rest a free piece behind it.
void LargePool::Split(uint32_t node, size_t bytes) {
  const uint32_t rest = NewNode();  // may move nodes_
  Node& left = nodes_[node];
  Node& right = nodes_[rest];
  right.data = left.data + bytes;
  right.bytes = left.bytes - bytes;
  right.before = node;
  right.after = left.after;
  left.bytes = bytes;
  left.after = rest;
  if (right.after != kNone) nodes_[right.after].before = rest;
  Link(rest);
}

// Joins two neighbours into the first. Requires: neither is on a bin's list.
void LargePool::Absorb(uint32_t node, uint32_t after) {
  nodes_[node].bytes += nodes_[after].bytes;
  nodes_[node].after = nodes_[after].after;
  if (nodes_[node].after != kNone) nodes_[nodes_[node].after].before = node;
  nodes_[after] = Node{};
  spare_nodes_.push_back(after);
}

void LargePool::Link(uint32_t node) {
  const size_t bin = BinOf(nodes_[node].bytes);
  nodes_[node].free = true;
  nodes_[node].previous = kNone;
  nodes_[node].next = bins_[bin];
  if (bins_[bin] != kNone) nodes_[bins_[bin]].previous = node;
  bins_[bin] = node;
  filled_[bin / 64] |= uint64_t{1} << (bin % 64);
}

void LargePool::Unlink(uint32_t node) {
  Node& n = nodes_[node];
  const size_t bin = BinOf(n.bytes);
  n.free = false;
  if (n.next != kNone) nodes_[n.next].previous = n.previous;
  if (n.previous != kNone) {
    nodes_[n.previous].next = n.next;
  } else {
    bins_[bin] = n.next;
    if (n.next == kNone) filled_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
  }
}

uint32_t LargePool::NewNode() {
  if (spare_nodes_.empty()) {
    nodes_.emplace_back();
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  const uint32_t node = spare_nodes_.back();
  spare_nodes_.pop_back();
  return node;
}

}  // namespace firn::inner::internal
