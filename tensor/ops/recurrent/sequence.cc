// reverse_sequence, whose gradient is itself, and sequences of different lengths packed and padded.
// Packing and unpacking each select rows: the host computes places from the lengths, and a single
// row serves as all padding.

#include "firn/tensor/ops/recurrent/sequence.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/recurrent/sequence_body.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const auto& a = c.attrs<ReverseSequenceAttrs>();
  const Shape& x = c.shape(0);
  FIRN_ASSIGN_OR_RETURN(const int time, NormalizeDim(a.time_dim, x));
  FIRN_ASSIGN_OR_RETURN(const int batch, NormalizeDim(a.batch_dim, x));
  FIRN_RETURN_IF(time == batch,
                 InvalidArgument("time_dim and batch_dim are both dimension ", time));
  FIRN_RETURN_IF(c.shape(1)[0] != x[batch],
                 InvalidArgument("lengths ", c.shape(1).ToString(), " must be [", x[batch],
                                 "], one for each sequence of x ", c.in(0).ToString()));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> Bounds(const KernelQuery& q, int) {
  const Shape& x = q.in(0).shape;
  FIRN_ASSIGN_OR_RETURN(const int time, NormalizeDim(q.attrs<ReverseSequenceAttrs>().time_dim, x));
  return IndexBounds{0, x[time] + 1};
}

void Grad(GradContext& g) {
  const auto& a = g.attrs<ReverseSequenceAttrs>();
  g.set_grad_input(0, ReverseSequence(g.grad_output(), g.input(1), a.time_dim, a.batch_dim));
}

FIRN_REGISTER_OP(reverse_sequence) {
  return {
      .doc = "The first steps of each sequence in the opposite order.",
      .inputs = {{.name = "x", .min_rank = 2},
                 {.name = "lengths", .dtypes = kIndex, .min_rank = 1, .max_rank = 1}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ReverseSequenceAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(1)},
      .index_bounds = Bounds,
      .index_inputs = {1},
      .kernels = cpu::Portable<ReverseSequenceKernel>(),
  };
}

// Throws unless x can hold sequences of these lengths.
void CheckLengths(const Tensor& x, const std::vector<int64_t>& lengths, const PackOptions& o,
                  std::string_view op) {
  CheckDefined(x, op);
  if (x.rank() < 2) {
    RaiseStatus(
        InvalidArgument("x must be ", o.batch_first ? "[batch, steps, ...]" : "[steps, batch, ...]",
                        ", got ", x.spec().ToString()),
        op);
  }
  const int64_t batch = x.size(o.batch_first ? 0 : 1), steps = x.size(o.batch_first ? 1 : 0);
  if (static_cast<int64_t>(lengths.size()) != batch || batch == 0) {
    RaiseStatus(InvalidArgument("lengths must have an entry for each of one or more sequences, "
                                "got ",
                                lengths.size(), " for x ", x.shape().ToString()),
                op);
  }
  for (size_t b = 0; b < lengths.size(); ++b) {
    if (lengths[b] < 1 || lengths[b] > steps) {
      RaiseStatus(
          OutOfRange("lengths[", b, "] is ", lengths[b], ", want 1 to the ", steps, " steps of x"),
          op);
    }
    if (o.enforce_sorted && b > 0 && lengths[b] > lengths[b - 1]) {
      RaiseStatus(
          InvalidArgument("lengths[", b, "] is ", lengths[b], ", more than the ", lengths[b - 1],
                          " before it: sort them, or say enforce_sorted = false"),
          op);
    }
  }
}

// The inverse of a permutation.
std::vector<int64_t> Inverse(const std::vector<int64_t>& order) {
  std::vector<int64_t> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return inverse;
}

// Rows of x, one after the other. A captured graph would keep these rows for ever: only
// PackSequence and PadSequence call this during a capture, and their rows follow from shapes, which
// a graph fixes anyway.
Tensor RowsAt(const Tensor& x, std::vector<int64_t> rows, const Shape& shape) {
  const auto make = [&] {
    const NoCaptureScope made_once;
    return FromVector(std::move(rows), shape).To(x.device());
  };
  return IndexSelect(x, 0, make());
}

// Throws while a graph is captured, which would hold what lengths say.
void CheckNoCapture(std::string_view op) {
  if (inner::ThisThread().capture == nullptr) return;
  RaiseStatus(FailedPrecondition("the lengths of sequences are numbers on the host, and a graph "
                                 "that is captured would hold those of this batch for ever; call "
                                 "it outside of what is captured"),
              op);
}

PackedSequence Pack(const Tensor& x, const std::vector<int64_t>& lengths, const PackOptions& o,
                    std::string_view op) {
  CheckLengths(x, lengths, o, op);
  const auto count = static_cast<int64_t>(lengths.size());
  const int64_t steps = x.size(o.batch_first ? 1 : 0);
  std::vector<int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto length = [&](int64_t b) { return lengths[static_cast<size_t>(b)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return length(a) > length(b); });
  PackedSequence packed;
  std::vector<int64_t> rows;
  int64_t going_on = count;
  for (int64_t t = 0; t < length(order[0]); ++t) {
    while (length(order[static_cast<size_t>(going_on - 1)]) <= t) --going_on;
    packed.batch_sizes.push_back(going_on);
    for (int64_t i = 0; i < going_on; ++i) {
      const int64_t b = order[static_cast<size_t>(i)];
      rows.push_back(o.batch_first ? b * steps + t : t * count + b);
    }
  }
  const auto total = static_cast<int64_t>(rows.size());
  packed.data = RowsAt(Flatten(x, 0, 1), std::move(rows), {total});
  if (!o.enforce_sorted) {
    packed.unsorted_indices = Inverse(order);
    packed.sorted_indices = std::move(order);
  }
  return packed;
}

// Each sequence and its padding, one behind the other: every element is written once.
Tensor PadInPlace(const std::vector<Tensor>& sequences, int64_t longest, const Tensor& padding) {
  std::vector<Tensor> parts;
  for (const Tensor& t : sequences) {
    parts.push_back(t);
    if (t.size(0) < longest) parts.push_back(Slice(padding, 0, 0, longest - t.size(0)));
  }
  return Unflatten(Concat(parts), 0, {static_cast<int64_t>(sequences.size()), longest});
}

// [steps, batch, ...]: the rows of all sequences and a row of padding one behind the other, and
// then each to its place.
Tensor PadAcross(const std::vector<Tensor>& sequences, int64_t longest, const Tensor& row) {
  const size_t batch = sequences.size();
  const Shape shape({longest, static_cast<int64_t>(batch)});
  std::vector<Tensor> parts = sequences;
  parts.push_back(row);
  const Tensor all = Concat(parts);
  std::vector<int64_t> rows(static_cast<size_t>(shape.num_elements()), all.size(0) - 1);
  int64_t at = 0;
  for (size_t b = 0; b < batch; ++b) {
    const auto steps = static_cast<size_t>(sequences[b].size(0));
    for (size_t t = 0; t < steps; ++t) rows[t * batch + b] = at++;
  }
  return RowsAt(all, std::move(rows), shape);
}

Tensor PadAll(const std::vector<Tensor>& sequences, const PadSequenceOptions& o,
              std::string_view op) {
  if (sequences.empty()) RaiseStatus(InvalidArgument("the list of sequences is empty"), op);
  int64_t longest = 0;
  DType dtype = DType::kF32;
  for (size_t i = 0; i < sequences.size(); ++i) {
    const Tensor& t = sequences[i];
    if (!t.defined()) {
      RaiseStatus(InvalidArgument("sequences[", i, "] is an undefined tensor"), op);
    }
    if (t.rank() < 1) {
      RaiseStatus(InvalidArgument("sequences must be [steps, ...], got ", t.spec().ToString()), op);
    }
    if (t.shape().span().subspan(1) != sequences[0].shape().span().subspan(1)) {
      RaiseStatus(InvalidArgument("sequences[", i, "] ", t.shape().ToString(), " and sequences[0] ",
                                  sequences[0].shape().ToString(), " differ behind their steps"),
                  op);
    }
    RaiseIfError(CheckHolds(o.padding_value, t.dtype(), "padding_value"), op);
    longest = std::max(longest, t.size(0));
    dtype = i == 0 ? t.dtype() : Promote(dtype, t.dtype());
  }
  const auto is_longest = [&](const Tensor& t) { return t.size(0) == longest; };
  if (std::all_of(sequences.begin(), sequences.end(), is_longest)) {
    return Stack(sequences, o.batch_first ? 0 : 1);
  }
  Dims sizes = sequences[0].shape().dims();
  sizes[0] = o.batch_first ? longest : 1;
  const Tensor padding = Full(Shape(sizes.span()), o.padding_value, dtype, sequences[0].device());
  return o.batch_first ? PadInPlace(sequences, longest, padding)
                       : PadAcross(sequences, longest, padding);
}

}  // namespace

PackedSequence PackPaddedSequence(const Tensor& x, const std::vector<int64_t>& lengths,
                                  const PackOptions& o) {
  CheckNoCapture("pack_padded_sequence");
  return Pack(x, lengths, o, "pack_padded_sequence");
}

PackedSequence PackPaddedSequence(const Tensor& x, const Tensor& lengths, const PackOptions& o) {
  CheckNoCapture("pack_padded_sequence");
  CheckDefined(lengths, "pack_padded_sequence", "lengths");
  if (lengths.rank() != 1 || !inner::Contains(kIndex, lengths.dtype())) {
    RaiseStatus(
        InvalidArgument("lengths must be integers [batch], got ", lengths.spec().ToString()),
        "pack_padded_sequence");
  }
  return PackPaddedSequence(x, Cast(lengths, DType::kI64).ToVector<int64_t>(), o);
}

namespace inner {

void CheckPacked(const PackedSequence& p, std::string_view op) {
  CheckDefined(p.data, op, "data");
  const auto fail = [&](const auto&... text) { RaiseStatus(InvalidArgument(text...), op); };
  if (p.data.rank() < 1 || p.batch_sizes.empty()) fail("the packed sequence is empty");
  int64_t rows = 0, most = p.data.size(0);
  for (int64_t size : p.batch_sizes) {
    if (size < 1 || size > most) {
      fail("batch_sizes must be positive, never grow and add up to the ", p.data.size(0),
           " rows of data, one is ", size);
    }
    most = size;
    rows += size;
    if (rows > p.data.size(0)) break;
  }
  if (rows != p.data.size(0)) {
    fail("batch_sizes do not add up to the ", p.data.size(0), " rows of data");
  }
  const auto batch = static_cast<size_t>(p.batch_sizes[0]);
  for (const std::vector<int64_t>* order : {&p.sorted_indices, &p.unsorted_indices}) {
    if (p.sorted_indices.size() != p.unsorted_indices.size() ||
        (!order->empty() && order->size() != batch)) {
      fail("sorted_indices and unsorted_indices must have an entry for each of the ", batch,
           " sequences, or none");
    }
    for (size_t i = 0; i < order->size(); ++i) {
      const int64_t place = (*order)[i];
      const bool inside = place >= 0 && place < static_cast<int64_t>(batch);
      if (!inside ||
          p.unsorted_indices[static_cast<size_t>(p.sorted_indices[i])] != static_cast<int64_t>(i)) {
        fail("sorted_indices and unsorted_indices must be inverse permutations");
      }
    }
  }
}

}  // namespace inner

PaddedSequences PadPackedSequence(const PackedSequence& packed, const PadPackedOptions& o) {
  constexpr std::string_view kOp = "pad_packed_sequence";
  CheckNoCapture(kOp);
  CheckPacked(packed, kOp);
  RaiseIfError(CheckHolds(o.padding_value, packed.data.dtype(), "padding_value"), kOp);
  const auto longest = static_cast<int64_t>(packed.batch_sizes.size());
  const int64_t steps = o.total_length.value_or(longest), batch = packed.batch_sizes[0];
  if (steps < longest) {
    RaiseStatus(InvalidArgument("total_length ", steps, " is less than the ", longest,
                                " steps of the longest sequence"),
                kOp);
  }
  const int64_t padding = packed.data.size(0);  // the row behind all others
  const Shape shape = o.batch_first ? Shape({batch, longest}) : Shape({longest, batch});
  std::vector<int64_t> rows(static_cast<size_t>(shape.num_elements()), padding);
  PaddedSequences result;
  result.lengths.assign(static_cast<size_t>(batch), 0);
  for (int64_t t = 0, at = 0; t < longest; ++t) {
    for (int64_t i = 0; i < packed.batch_sizes[static_cast<size_t>(t)]; ++i, ++at) {
      const auto place = static_cast<size_t>(i);
      const int64_t b = packed.sorted_indices.empty() ? i : packed.sorted_indices[place];
      rows[static_cast<size_t>(o.batch_first ? b * longest + t : t * batch + b)] = at;
      result.lengths[static_cast<size_t>(b)] = t + 1;
    }
  }
  Dims one = packed.data.shape().dims();
  one[0] = 1;
  const Tensor row =
      Full(Shape(one.span()), o.padding_value, packed.data.dtype(), packed.data.device());
  result.x = RowsAt(Concat({packed.data, row}), std::move(rows), shape);
  if (steps > longest) {
    std::vector<int64_t> pad(static_cast<size_t>(2 * result.x.rank()), 0);
    pad[pad.size() - (o.batch_first ? 3 : 1)] = steps - longest;  // behind the last step
    result.x = Pad(result.x, pad, {.value = o.padding_value});
  }
  return result;
}

Tensor PadSequence(const std::vector<Tensor>& sequences, const PadSequenceOptions& o) {
  return PadAll(sequences, o, "pad_sequence");
}

PackedSequence PackSequence(const std::vector<Tensor>& sequences, Flag enforce_sorted) {
  constexpr std::string_view kOp = "pack_sequence";
  const Tensor x = PadAll(sequences, {}, kOp);
  std::vector<int64_t> lengths;
  for (const Tensor& t : sequences) lengths.push_back(t.size(0));
  return Pack(x, lengths, {.enforce_sorted = enforce_sorted}, kOp);
}

Tensor ReverseSequence(const Tensor& x, const Tensor& lengths, Integer time_dim,
                       Integer batch_dim) {
  return Apply1(TheOp<"reverse_sequence">(), {x, lengths},
                ReverseSequenceAttrs{time_dim, batch_dim});
}

}  // namespace firn
