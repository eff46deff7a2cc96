#ifndef FIRN_TENSOR_OPS_RECURRENT_SEQUENCE_H_
#define FIRN_TENSOR_OPS_RECURRENT_SEQUENCE_H_

// Sequences of different lengths in one tensor.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "firn/tensor/number.h"
#include "firn/tensor/tensor.h"

namespace firn {

// Sequences of different lengths without padding (PyTorch's PackedSequence): first the first
// elements of all sequences, the longest sequence first, then the second elements of those that
// have one, and so on.
struct PackedSequence {
  Tensor data;                       // [sum of the lengths, ...]
  std::vector<int64_t> batch_sizes;  // how many sequences have each step
  // The number of the sequence at each place, and the inverse: the place of each sequence. Empty
  // where the sequences were sorted already.
  std::vector<int64_t> sorted_indices = {}, unsorted_indices = {};
};

// The results of recurrent layers with one state: y, and h after the last step.
struct RecurrentResult {
  Tensor y, h_n;
};
struct PackedRecurrentResult {
  PackedSequence y;
  Tensor h_n;
};

struct PackOptions {
  bool batch_first = false;    // x is [batch, steps, ...] instead of [steps, batch, ...]
  bool enforce_sorted = true;  // refuses lengths that grow; otherwise sequences are sorted
};

// The first lengths[b] steps of each sequence b of a padded tensor.
// x: [steps, batch, ...]      lengths: [batch], from 1 to steps
// Throws on other lengths, on lengths that grow where they must be sorted, and while a graph is
// captured: the graph would keep the first batch's lengths for all batches of the same shape.
PackedSequence PackPaddedSequence(const Tensor& x, const std::vector<int64_t>& lengths,
                                  const PackOptions& options = {});
// The same with lengths from a tensor of integers.
PackedSequence PackPaddedSequence(const Tensor& x, const Tensor& lengths,
                                  const PackOptions& options = {});

// Sequences [its steps, ...] of different lengths, packed like PackPaddedSequence's (PyTorch's
// pack_sequence). Throws on an empty list, on an empty sequence, where dtypes or other sizes
// differ, and on lengths that grow where they must be sorted. May be captured: lengths are shapes.
PackedSequence PackSequence(const std::vector<Tensor>& sequences,
                            inner::Flag enforce_sorted = true);

struct PaddedSequences {
  Tensor x;                      // [steps, batch, ...]
  std::vector<int64_t> lengths;  // of each sequence
};

struct PadPackedOptions {
  bool batch_first = false;  // the result is [batch, steps, ...] instead of [steps, batch, ...]
  inner::Number padding_value = 0;           // which the dtype has to hold (Full)
  std::optional<int64_t> total_length = {};  // steps of the result; otherwise of the longest
};

// The inverse of PackPaddedSequence, with padding behind sequences that end early. Throws on a
// packed sequence that does not fit together, on a total_length below the longest, and while a
// graph is captured, like PackPaddedSequence.
PaddedSequences PadPackedSequence(const PackedSequence& packed,
                                  const PadPackedOptions& options = {});

struct PadSequenceOptions {
  bool batch_first = false;  // the result is [batch, steps, ...] instead of [steps, batch, ...]
  inner::Number padding_value = 0;  // which the dtype has to hold (Full)
};

// Sequences [its steps, ...] of different lengths, padded at their end and side by side:
// [steps of the longest, batch, ...]. Throws on an empty list, and where dtypes or other sizes
// differ.
Tensor PadSequence(const std::vector<Tensor>& sequences, const PadSequenceOptions& options = {});

namespace inner {
struct ReverseSequenceAttrs {
  int64_t time_dim = 0;
  int64_t batch_dim = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("time_dim", time_dim);
    v.Field("batch_dim", batch_dim);
  }
};
// Throws unless the parts of a packed sequence fit together.
void CheckPacked(const PackedSequence& packed, std::string_view op);
}  // namespace inner

// x with the first lengths[b] steps of each sequence b in the opposite order and the others
// unchanged (ONNX's ReverseSequence).
// x: any shape with two dimensions or more      lengths: i32 or i64 [x.size(batch_dim)], from 0 to
// x.size(time_dim)
// Throws on other lengths and on dims that are out of range or one and the same.
Tensor ReverseSequence(const Tensor& x, const Tensor& lengths, inner::Integer time_dim = 0,
                       inner::Integer batch_dim = 1);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RECURRENT_SEQUENCE_H_
