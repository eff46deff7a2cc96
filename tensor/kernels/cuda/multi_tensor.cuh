#ifndef FIRN_TENSOR_KERNELS_CUDA_MULTI_TENSOR_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_MULTI_TENSOR_CUH_

// Loops over the elements of many tensors in few launches. A launch takes a table of tensors of one
// dtype in its argument; they are cut into chunks, and a team of threads takes a chunk, so that
// hundreds of small tensors beside a few large ones keep all threads busy.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/op.h"

namespace firn::cuda {

// Eight elements for each thread of a block.
inline constexpr int64_t kChunk = 2048;

inline int64_t NumChunks(int64_t elements) { return (elements + kChunk - 1) / kChunk; }

// Elements [begin, end) of entry `entry`.
struct Piece {
  int entry;
  int64_t begin, end;
};

// kArrays arrays of one size for each entry, as many entries as a launch's argument holds beside
// some numbers.
template <size_t kArrays>
struct TensorTable {
  static constexpr int kMost = (4096 - 512) / (8 * (static_cast<int>(kArrays) + 3));

  int count = 0;
  int64_t chunks = 0;         // of all entries
  int64_t past = 0;           // chunks of the tables before this one
  int64_t last_chunk[kMost];  // of an entry, and 1: where the next one's begin
  int64_t size[kMost];
  int64_t id[kMost];  // which of the call's tensors it is
  void* arrays[kMost][kArrays];

  FIRN_HOST_DEVICE Piece PieceOf(int64_t chunk) const {
    int low = 0, high = count - 1;
    while (low < high) {  // to the first entry that ends after the chunk
      const int middle = (low + high) / 2;
      if (last_chunk[middle] > chunk) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    const int64_t begin = (chunk - (low == 0 ? 0 : last_chunk[low - 1])) * kChunk;
    const int64_t left = size[low] - begin;
    return {low, begin, begin + (left < kChunk ? left : kChunk)};
  }
};

// Inputs `first`, `first` + `cycle`, ... of a call are tensors; the arrays that belong to each, of
// the same size and dtype, come `arrays` inputs behind it. Calls f(TypeTag<T>, table) with all
// tensors that have elements.
template <size_t kArrays, class F>
absl::Status VisitTables(const KernelContext& k, int first, int cycle,
                         const std::array<int, kArrays>& arrays, const F& f) {
  using Table = TensorTable<kArrays>;
  int64_t past = 0;
  for (DType d : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    Table table = {};  // its bytes are compared with those of an earlier launch (LaunchTrace)
    const auto flush = [&]() -> absl::Status {
      if (table.count == 0) return absl::OkStatus();
      FIRN_RETURN_IF_ERROR(
          VisitFloat(d, [&]<class T>(TypeTag<T> tag) { return f(tag, std::as_const(table)); }));
      past += table.chunks;
      table.count = 0;
      return absl::OkStatus();
    };
    for (int i = first; i < k.num_inputs(); i += cycle) {
      const int64_t n = k.in_spec(i).num_elements();
      if (k.in_spec(i).dtype != d || n == 0) continue;
      if (table.count == Table::kMost) FIRN_RETURN_IF_ERROR(flush());
      const int e = table.count++;
      table.past = past;
      table.chunks = (e == 0 ? 0 : table.chunks) + NumChunks(n);
      table.last_chunk[e] = table.chunks;
      table.size[e] = n;
      table.id[e] = (i - first) / cycle;
      for (size_t a = 0; a < kArrays; ++a) table.arrays[e][a] = k.inout<void>(i + arrays[a]);
    }
    FIRN_RETURN_IF_ERROR(flush());
  }
  return absl::OkStatus();
}

// body(team, chunk) for every chunk of the body's table.
template <size_t kArrays, class Body>
absl::Status ForEachChunk(const Queue& queue, const TensorTable<kArrays>& table, const Body& body) {
  return ForEachLine(queue, table.chunks, kChunk, body);
}

// The value of a 0-d floating tensor.
FIRN_HOST_DEVICE inline double ScalarAt(const void* data, DType d) {
  switch (d) {
    case DType::kF64:
      return *static_cast<const double*>(data);
    case DType::kF16:
      return static_cast<float>(*static_cast<const Half*>(data));
    case DType::kBF16:
      return static_cast<float>(*static_cast<const BFloat16*>(data));
    default:
      return *static_cast<const float*>(data);
  }
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_MULTI_TENSOR_CUH_
