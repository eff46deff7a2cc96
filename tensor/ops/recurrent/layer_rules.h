#ifndef FIRN_TENSOR_OPS_RECURRENT_LAYER_RULES_H_
#define FIRN_TENSOR_OPS_RECURRENT_LAYER_RULES_H_

// The shape rule and the gradient rule that operations of one recurrent layer share.

#include <array>
#include <cstdint>
#include <vector>

#include "firn/tensor/op.h"
#include "firn/tensor/ops/recurrent/recurrent.h"

namespace firn {

struct RecurrentSizes {
  int64_t steps = 0, batch = 0, rows = 0;  // `rows` of all steps
  int64_t hidden = 0, state = 0;           // units, and elements of h
};
// Checks the inputs that all layers have. `gates` rows of w_ih and w_hh belong to a unit; without
// `projected` a state has as many elements as there are units.
absl::StatusOr<RecurrentSizes> SizesOfLayer(const InferContext& c, int64_t gates,
                                            bool projected = false);
// Checks that `rows`, which has the shape of y, can be of these steps.
absl::Status CheckSequences(const Shape& rows, int64_t batch, const RecurrentLayerAttrs& attrs);
// The shape of y: that of x with `width` as its last size.
Shape SequenceShape(const Shape& x, int64_t width);

// Declarations of inputs: those that all layers have.
std::vector<ArgDecl> RecurrentInputs();

// A layer's step and its gradient written with operations: for recorded gradients, and for devices
// that have no kernel of the layer. `state` is h, or h and c.
class StepByOperations {
 public:
  virtual ~StepByOperations() = default;
  // What a step keeps for its gradient. before[0] is h; the rest is the layer's own.
  struct Kept {
    std::vector<Tensor> before, values;
  };
  // The states after the step. gx: x w_ih^T + b_ih.   gh: h w_hh^T + b_hh.
  virtual std::vector<Tensor> Forward(const Tensor& gx, const Tensor& gh, Kept* kept) const = 0;
  struct Gradients {
    Tensor gx, gh;               // of both
    std::vector<Tensor> before;  // of the states before, not through gh; undefined: nothing
    Tensor projected;            // of h w_hr^T, where there is a projection
  };
  // From those of the states after it.
  virtual Gradients Backward(const Kept& kept, const std::vector<Tensor>& after) const = 0;
};

// The inputs of a layer, and what w_hr multiplies in its step.
struct LayerTensors {
  Tensor x, h0, w_ih, w_hh, b_ih, b_hh, c0 = {}, w_hr = {};
};
LayerTensors TensorsOf(GradContext& g);

// y and the states at the end.
struct LayerResults {
  Tensor y;
  std::vector<Tensor> states;
};
LayerResults RunByOperations(const LayerTensors& t, const RecurrentLayerAttrs& attrs,
                             const StepByOperations& step);

// The gradients of a layer, computed again from its inputs with operations, so that they can be
// differentiated; `dstates` are those of the states at the end, undefined where nothing flowed.
void RecordedLayerGrad(GradContext& g, const RecurrentLayerAttrs& attrs,
                       const StepByOperations& step);

// Those of x, w_ih and the biases, from the gradient of x w_ih^T + b_ih and h w_hh^T + b_hh; the
// others are the kernel's.
void SetInputGrads(GradContext& g, const LayerTensors& t, const Tensor& dgx, const Tensor& dgh);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RECURRENT_LAYER_RULES_H_
