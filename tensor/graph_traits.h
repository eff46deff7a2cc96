#ifndef FIRN_TENSOR_GRAPH_TRAITS_H_
#define FIRN_TENSOR_GRAPH_TRAITS_H_

// Facts about an operation beyond its declaration, for passes that change graphs (autograd/graph).
// An operation's page states them in constants that OpDef::graph points to:
//
//   constexpr GraphTraits kRelu = {.activation = FusedActivation::kRelu};
//   FIRN_REGISTER_OP(relu) { return WithTraits(kRelu, cpu::NumericOp<ReluFn>(...)); }
//
// Passes ask for traits and never for names, so operations with the same traits are treated alike.
// Passes rely on the traits that are set and assume nothing else.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/tensor/op.h"

namespace firn {
enum class FusedActivation : uint8_t;  // tensor/problems/norm_options.h
}  // namespace firn

namespace firn::inner {

// A call that takes another's place, on the same arguments.
struct OpCall {
  const OpDef* op = nullptr;
  Attrs attrs;
};

// In the traits below, inputs and results are given by their positions; channels are dimension 1.

// Result 0 is f(x, weight) + bias: linear in weight, whose first dimension is the channels of the
// result, with a number of bias for each of them. No bias: 0.
struct ChannelMap {
  size_t x = 0, weight, bias;
  int channels = 1;           // their dimension in the result; negative: from the end
  bool scales_alone = false;  // f(x, weight) is weight * x, with one number for each channel;
                              // without a weight: it is x
};

// Input x loses its mean over each channel: the results depend on differences from it alone. Only
// result `mean` is the mean itself, towards which input `running_mean`, where there is one, moves
// by `momentum` times the difference.
struct Centring {
  size_t x, mean, running_mean;
  double (*momentum)(AttrsRef);
};

// The gradient of such an operation: inputs x and mean are seen as x - mean alone, and result dx
// adds up to 0 over each channel where mean is that of x.
struct CentringGradient {
  size_t x, mean, dx;
};

// Input `input` laid out once for the kernel that was chosen, if it never changes: a call that
// takes `packed` there and gives the same bits. Returns nothing where the kernel takes the input as
// it is.
struct PackedCall {
  OpCall call;
  Tensor packed;
};
struct Packing {
  size_t input;
  absl::StatusOr<std::optional<PackedCall>> (*pack)(const KernelQuery& call, const Kernel& kernel,
                                                    const Tensor& input);
};

// Result 0 is input 0 cut off and rounded to the numbers (q - zero) * scale, where q is a whole
// number from `least` to `most`, and scale and zero, of one element or 1-d, are the next two
// inputs.
struct RoundedRange {
  int64_t least = 0, most = 0;
};

// How integer sums are converted: numbers = sum * scale + bias + other, then perhaps relu, then
// perhaps quantized. `x_zero`, `weight`: constants among the inputs of the operation that sums.
struct FinishedSums {
  Tensor x_zero, weight;
  bool relu = false;
  bool numbers = false;  // whether they are a result, the first one
  AttrsRef quantize;     // of a quantize_linear whose result is one, too; or nothing
};

struct GraphTraits {
  // Result 0 is this function of input 0.
  FusedActivation activation = {};
  // The call that gives the same results, but applies an activation to result 0 in the same pass.
  // Returns nothing where a bit would differ from two calls, or where it does not pay. `y`: result
  // 0.
  std::optional<OpCall> (*with_activation)(AttrsRef attrs, const TensorSpec& y,
                                           FusedActivation activation) = nullptr;

  std::optional<ChannelMap> channel_map = {};
  std::optional<Centring> centring = {};
  std::optional<CentringGradient> centring_gradient = {};
  // Whether result 0 is the sum of input 0, of this shape, over each channel.
  bool (*sums_channels)(AttrsRef attrs, const Shape& x) = nullptr;

  // A call without the inputs that it writes into, which are all optional, gives the same results
  // and costs little more than reading the other inputs. So states move once, while results may be
  // computed several times. Elementwise operations without such inputs need not set this.
  bool cheap_again = false;
  // A call that was checked and has its memory cannot fail any more (unless its device fails), so a
  // capture may run it at a point where an error could not be reported.
  bool cannot_fail = false;
  // The call does nothing with this input but add to it.
  std::optional<size_t> adds_to = {};
  // Result 0 is input 0 in another layout.
  bool reorders = false;
  std::optional<Packing> packing = {};
  // The results in evaluation mode, at least up to the last one that is read; null: as in training.
  // Errors: with a text that goes on from the operation's name, "has no running statistics".
  absl::StatusOr<TensorList> (*evaluate)(absl::Span<const Tensor> in, AttrsRef attrs) = nullptr;

  // For an operation with a channel_map: the call that computes f(x - x_zero, weight) in integers.
  // x and x_zero (0-d) are both u8 or both i8, weight is i8; i32, of the shape of result 0.
  Tensor (*integer_sums)(const Tensor& x, const Tensor& x_zero, const Tensor& weight,
                         AttrsRef attrs) = nullptr;
  RoundedRange (*rounded_range)(AttrsRef attrs) = nullptr;
  // For an operation whose results are such sums, without a zero point of the weight: the call that
  // also converts them, with the same bits. Its inputs are x, `packed`, scale and bias (numbers of
  // each channel), other, and scale and zero point of the quantize_linear; absent ones are left
  // out. Returns nothing where there is no such kernel.
  absl::StatusOr<std::optional<PackedCall>> (*finish)(const KernelQuery& call,
                                                      const FinishedSums& sums) = nullptr;
};

// The traits of an operation that states none.
inline constexpr GraphTraits kNoTraits = {};

inline const GraphTraits& TraitsOf(const OpDef& op) {
  return op.graph == nullptr ? kNoTraits : *op.graph;
}

// `traits` must outlive the program's use of operations: a constant.
inline OpDef WithTraits(const GraphTraits& traits, OpDef op) {
  op.graph = &traits;
  return op;
}
OpDef WithTraits(GraphTraits&& traits, OpDef op) = delete;

}  // namespace firn::inner

#endif  // FIRN_TENSOR_GRAPH_TRAITS_H_
