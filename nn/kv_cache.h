#ifndef FIRN_NN_KV_CACHE_H_
#define FIRN_NN_KV_CACHE_H_

#include <cstdint>

#include "firn/tensor/tensor.h"

namespace firn::nn {

struct KvCacheOptions {
  int64_t batch = 1, heads = 1;
  int64_t width = 0;
  int64_t value_width = 0;  // 0: width
  int64_t capacity = 0;     // rows for which there is room at first
  int64_t max_length = 0;   // the capacity doubles up to this; 0: it is fixed
  DType dtype = kDefaultFloat;
  Device device = {};
};

// The keys and values of a sequence that is decoded piece by piece, so that each piece is projected
// once. Rows are written where they will stay, by an index that is a tensor:
//
//   const nn::KvCache::View seen = cache.Append(k, v);      // of the new rows
//   Tensor y = ScaledDotProductAttention(q, seen.keys, seen.values, {.mask = seen.mask});
//
// A step that is captured (StaticModule, Freeze) appends each time it runs. Its shapes stay, so it
// attends to all rows that there is room for, under a mask, and the room cannot grow: a run that
// would write beyond it throws. An ordinary step sees only the rows that were added. Both may go on
// with each other's sequence, as long as the room has not grown since the capture.
//
// Gradients are not recorded. May be moved, also after a capture, but not copied.
// Thread-compatible.
class KvCache {
 public:
  // Throws unless all sizes are positive, and max_length is 0 or at least capacity.
  explicit KvCache(const KvCacheOptions& options);
  KvCache(KvCache&&) = default;

  struct View {
    Tensor keys, values;  // [batch, heads, rows, width], [batch, heads, rows, value width]
    // [new rows, rows], true where a new row sees a key: its own and those before. Undefined if
    // every row sees every key.
    Tensor mask;
  };
  // Adds rows k [batch, heads, n, width] and v [batch, heads, n, value width]. Throws if they do
  // not fit, or there is no room for them; then nothing has changed.
  View Append(const Tensor& k, const Tensor& v);

  // How many rows there are; reads from the device.
  int64_t length() const;
  // The length as a tensor, i64 [], which captured steps read and increase.
  const Tensor& position() const { return position_; }
  int64_t capacity() const;
  // Forgets all rows from `length` on. Throws if there are fewer rows.
  void Truncate(inner::Integer length = 0);

 private:
  void MakeRoom(int64_t rows);

  const KvCacheOptions options_;
  Tensor keys_, values_, position_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_KV_CACHE_H_
