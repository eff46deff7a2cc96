#ifndef FIRN_TENSOR_OPS_SHAPE_REARRANGE_BODY_H_
#define FIRN_TENSOR_OPS_SHAPE_REARRANGE_BODY_H_

// roll_dim: in each line of n elements along the dimension, those that come last go first. On the
// CPU neighbours move together.

#include <algorithm>
#include <cstdint>

#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/width.h"
#include "firn/tensor/ops/shape/rearrange.h"

namespace firn {

template <class Word>
struct RollBody {
  int64_t line, shift;  // of elements that lie side by side; 0 <= shift < line
  const Word* x;
  Word* y;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t row = i;
    const int64_t at = TakeDigit(row, line);
    y[i] = x[row * line + (at < shift ? at + line - shift : at - shift)];
  }
  void operator()(int64_t begin, int64_t end) const {
    ForEachRowOf(begin, end, line, [&](int64_t row, int64_t first, int64_t last) {
      const Word* const from = x + row * line;
      Word* const to = y + row * line;
      const int64_t middle = std::clamp(shift, first, last);
      std::copy(from + first + line - shift, from + middle + line - shift, to + first);
      std::copy(from + middle - shift, from + last - shift, to + middle);
    });
  }
};

struct RollKernel {
  template <class On>
  static absl::Status Run(const On& on, KernelContext& k) {
    const Shape& x = k.in_spec(0).shape;
    const RollDimAttrs& a = k.attrs<RollDimAttrs>();
    int64_t inner = 1;
    for (int64_t d = a.dim + 1; d < x.rank(); ++d) inner *= x[static_cast<int>(d)];
    const int64_t line = x[static_cast<int>(a.dim)] * inner, shift = a.shift * inner;
    return VisitWidth(k.in_spec(0).dtype, [&]<class Word>(TypeTag<Word>) {
      return on.ForEach(x.num_elements(),
                        RollBody<Word>{line, shift, k.in<Word>(0), k.out<Word>()});
    });
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_REARRANGE_BODY_H_
