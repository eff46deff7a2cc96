#ifndef FIRN_TENSOR_OPS_RECURRENT_SEQUENCE_BODY_H_
#define FIRN_TENSOR_OPS_RECURRENT_SEQUENCE_BODY_H_

// reverse_sequence: each element of the result finds its step and its sequence, and from these its
// source; elements move as words of their size. On the CPU elements that share both move as a
// block.

#include <algorithm>
#include <cstdint>

#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/index_range.h"
#include "firn/tensor/kernels/width.h"
#include "firn/tensor/ops/recurrent/sequence.h"

namespace firn {

template <class Word, class I, class Range>
struct ReverseSequenceBody {
  // Elements between neighbours along the dimensions of time and of the batch, and their sizes.
  int64_t time_stride, time, batch_stride, batch;
  Range range;
  const Word* x;
  const I* lengths;
  Word* y;

  FIRN_HOST_DEVICE void operator()(int64_t i) const { y[i] = x[Source(i)]; }
  void operator()(int64_t begin, int64_t end) const {
    const int64_t run = std::min(time_stride, batch_stride);
    ForEachRowOf(begin, end, run, [&](int64_t row, int64_t first, int64_t last) {
      const Word* const from = x + Source(row * run);
      std::copy(from + first, from + last, y + row * run + first);
    });
  }

 private:
  FIRN_HOST_DEVICE int64_t Source(int64_t i) const {
    const int64_t t = i / time_stride % time, b = i / batch_stride % batch;
    const int64_t length = range(lengths[b]);
    return t < length ? i + (length - 1 - 2 * t) * time_stride : i;
  }
};

struct ReverseSequenceKernel {
  static constexpr IndexSite kSite = {"reverse_sequence", "lengths"};

  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const auto& a = k.attrs<ReverseSequenceAttrs>();
    const Shape& x = k.in_spec(0).shape;
    FIRN_ASSIGN_OR_RETURN(const int time, NormalizeDim(a.time_dim, x));
    FIRN_ASSIGN_OR_RETURN(const int batch, NormalizeDim(a.batch_dim, x));
    const auto stride = [&](int dim) {
      int64_t s = 1;
      for (int d = dim + 1; d < x.rank(); ++d) s *= x[d];
      return s;
    };
    const auto range = on.Indices(kSite, 0, x[time] + 1, kNoneIgnored);
    return VisitWidth(k.in_spec(0).dtype, [&]<class Word>(TypeTag<Word>) {
      return VisitIndex(k.in_spec(1).dtype, [&]<class I>(TypeTag<I>) {
        using Body = ReverseSequenceBody<Word, I, std::remove_const_t<decltype(range)>>;
        return on.ForEach(x.num_elements(), Body{stride(time), x[time], stride(batch), x[batch],
                                                 range, static_cast<const Word*>(k.in<void>(0)),
                                                 k.in<I>(1), static_cast<Word*>(k.out<void>())});
      });
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RECURRENT_SEQUENCE_BODY_H_
