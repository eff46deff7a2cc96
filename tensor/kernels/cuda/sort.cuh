#ifndef FIRN_TENSOR_KERNELS_CUDA_SORT_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_SORT_CUH_

// Sorting the elements of lines, for sort and topk: each element becomes a number that is ordered
// as elements are (see order.cuh), and values are fetched once the order is known.

#include <bit>
#include <cstdint>
#include <type_traits>

#include "firn/tensor/kernels/cuda/order.cuh"
#include "firn/tensor/kernels/functor.h"
#include "firn/tensor/kernels/lines.h"
#include "firn/tensor/kernels/width.h"
#include "firn/tensor/op.h"

namespace firn::cuda {

// A number that is less where x comes first. All NaN are equal and larger than any number, and -0
// equals 0.
template <class T>
FIRN_HOST_DEVICE auto OrderedBits(T x) {
  using C = ComputeOf<T>;
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  if constexpr (std::is_integral_v<T>) {
    return static_cast<Bits>(static_cast<Bits>(x) ^ (std::is_signed_v<T> ? kSign : Bits{0}));
  } else {
    const C v = static_cast<C>(x);
    if (v != v) return static_cast<Bits>(~Bits{0});
    const Bits bits = v == C(0) ? Bits{0} : std::bit_cast<Bits>(v);
    return static_cast<Bits>((bits & kSign) != 0 ? ~bits : bits | kSign);
  }
}

// Makes items from an element's key, its index and the number of its line, which is left out where
// there is no room for it.
struct ItemShape {
  unsigned index_bits, line_bits;

  ItemShape(int64_t lines, int64_t length)
      : index_bits(BitsUpTo(length - 1)), line_bits(BitsUpTo(lines - 1)) {}

  FIRN_HOST_DEVICE bool has_line() const { return index_bits + line_bits <= 32; }
  FIRN_HOST_DEVICE uint64_t Make(int64_t line, uint32_t key, int64_t index) const {
    const uint64_t item = static_cast<uint64_t>(key) << index_bits | static_cast<uint64_t>(index);
    if (line_bits == 0 || !has_line()) return item;
    return static_cast<uint64_t>(line) << (index_bits + 32) | item;
  }
  FIRN_HOST_DEVICE WideItem Make(int64_t, uint64_t key, int64_t index) const {
    return {key, static_cast<uint64_t>(index)};
  }
  FIRN_HOST_DEVICE int64_t IndexOf(uint64_t item) const {
    return static_cast<int64_t>(item & ((uint64_t{1} << index_bits) - 1));
  }
  FIRN_HOST_DEVICE int64_t IndexOf(const WideItem& item) const {
    return static_cast<int64_t>(item.index);
  }
  // For keys that are the same in their lowest `idle` bits.
  RadixBits bits(int idle) const {
    if (!has_line()) return {};
    return {static_cast<int>(index_bits) + idle, static_cast<int>(index_bits + 32 + line_bits)};
  }
};

// The number of low bits that are equal in all keys apart from their sign: those that floats have
// and a half type has not.
inline int IdleKeyBits(DType dtype) {
  return dtype == DType::kBF16 ? 16 : dtype == DType::kF16 ? 13 : 0;
}

template <class T, class Item>
struct MakeItemsBody {
  const T* x;
  Item* items;
  ItemShape shape;
  int64_t length, inner;
  bool descending;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t block = i;
    const int64_t at = TakeDigit(block, length), line = block, column = TakeDigit(block, inner);
    const auto key = OrderedBits(x[(block * length + at) * inner + column]);
    using Key = std::remove_const_t<decltype(key)>;
    items[i] = shape.Make(line, descending ? static_cast<Key>(~key) : key, at);
  }
};

template <class W, class Item>
struct FetchBody {
  const W* x;
  const Item* items;
  W* values;
  int64_t* indices;
  ItemShape shape;
  int64_t length, inner, keep;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t block = i;
    const int64_t column = TakeDigit(block, inner), at = TakeDigit(block, keep);
    const int64_t index = shape.IndexOf(items[(block * inner + column) * length + at]);
    values[i] = x[(block * length + index) * inner + column];
    indices[i] = index;
  }
};

template <class Item>
Ordering<Item> SortOrdering(const TensorSpec& x, const Lines& l, int64_t keep) {
  const int64_t lines = l.outer * l.inner;
  if constexpr (std::is_same_v<Item, WideItem>) return {x.device, lines, l.length, keep};
  const RadixBits bits = ItemShape(lines, l.length).bits(IdleKeyBits(x.dtype));
  return {x.device, lines, l.length, keep, bits};
}

template <class Item>
absl::Status SortAs(KernelContext& k, const Lines& l, int64_t keep, bool descending) {
  const int64_t lines = l.outer * l.inner;
  const ItemShape shape(lines, l.length);
  Item* const items = k.workspace<Item>();
  FIRN_RETURN_IF_ERROR(VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) -> absl::Status {
    if constexpr ((sizeof(T) == 8) == std::is_same_v<Item, WideItem>) {
      return ForEach(
          k, lines * l.length,
          MakeItemsBody<T, Item>{k.in<T>(0), items, shape, l.length, l.inner, descending});
    }
    return absl::OkStatus();
  }));
  FIRN_ASSIGN_OR_RETURN(const Item* const ordered,
                        OrderItems(k, SortOrdering<Item>(k.in_spec(0), l, keep), items));
  return VisitWidth(k.in_spec(0).dtype, [&]<class W>(TypeTag<W>) -> absl::Status {
    if constexpr ((sizeof(W) == 8) == std::is_same_v<Item, WideItem>) {
      return ForEach(k, lines * keep,
                     FetchBody<W, Item>{k.in<W>(0), ordered, k.out<W>(0), k.out<int64_t>(1), shape,
                                        l.length, l.inner, keep});
    }
    return absl::OkStatus();
  });
}

// The first `keep` elements of each line to output 0 and their indices to output 1, ties by index.
inline absl::Status SortLines(KernelContext& k, const Lines& l, int64_t keep, bool descending) {
  if (SizeOf(k.in_spec(0).dtype) == 8) return SortAs<WideItem>(k, l, keep, descending);
  return SortAs<uint64_t>(k, l, keep, descending);
}

inline size_t SortWorkspace(const TensorSpec& x, const Lines& l, int64_t keep) {
  return SizeOf(x.dtype) == 8 ? SortOrdering<WideItem>(x, l, keep).workspace()
                              : SortOrdering<uint64_t>(x, l, keep).workspace();
}

// Whether the index of an element of a line fits into an item.
inline absl::Status SortSupports(const TensorSpec& x, int64_t dim) {
  FIRN_RETURN_IF(SizeOf(x.dtype) < 8 && LinesAlong(x.shape, dim).length - 1 > UINT32_MAX,
                 Unimplemented("lines of more than 2^32 elements"));
  return absl::OkStatus();
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_SORT_CUH_
