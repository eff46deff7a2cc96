#ifndef FIRN_TENSOR_OPS_SHAPE_PAD_H_
#define FIRN_TENSOR_OPS_SHAPE_PAD_H_

#include <vector>

#include "firn/device/enum_words.h"
#include "firn/tensor/number.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The elements beyond the border, for x = [a b c d]:
enum class PadMode : uint8_t {
  kConstant,   //   v v | a b c d | v v
  kReflect,    //   c b | a b c d | c b    less padding than elements
  kReplicate,  //   a a | a b c d | d d
  kCircular,   //   c d | a b c d | a b    at most as much padding as elements
  kSymmetric,  //   b a | a b c d | d c    likewise; NumPy's symmetric, not in PyTorch
};
constexpr auto WordsOf(PadMode) {
  return inner::EnumWords<PadMode>({{PadMode::kConstant, "constant"},
                                    {PadMode::kReflect, "reflect"},
                                    {PadMode::kReplicate, "replicate"},
                                    {PadMode::kCircular, "circular"},
                                    {PadMode::kSymmetric, "symmetric"}});
}

namespace inner {
struct PadAttrs {
  std::vector<int64_t> pad;
  PadMode mode = PadMode::kConstant;
  Number value = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("pad", pad);
    v.Field("mode", mode);
    value.Visit(v, "value", "value_rest");
  }
};
}  // namespace inner

struct PadOptions {
  PadMode mode = PadMode::kConstant;
  inner::Number value = 0;  // what kConstant adds; an error where x's dtype does not hold it (Full)
};

// x with elements added around it. `pad` holds pairs (before, after), that of the LAST dimension
// first: Pad(image, {1, 1, 2, 2}) adds a column left and right and two rows above and below.
// Negative numbers cut off. Every mode works on any number of dimensions. Throws when a size would
// become negative, or a mode needs more elements than there are.
Tensor Pad(const Tensor& x, const std::vector<int64_t>& pad, const PadOptions& options = {});

namespace inner {
// The adjoint of Pad: every element of dy is added to the element that it was copied from.
Tensor PadGrad(const Tensor& dy, const PadAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_PAD_H_
