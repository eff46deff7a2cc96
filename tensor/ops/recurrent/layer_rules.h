#ifndef FIRN_TENSOR_OPS_RECURRENT_LAYER_RULES_H_
#define FIRN_TENSOR_OPS_RECURRENT_LAYER_RULES_H_

// The shape rule and the gradient rule that operations of one recurrent layer share.

#include <cstdint>
#include <string_view>
#include <vector>

#include "firn/tensor/op.h"
#include "firn/tensor/ops/recurrent/recurrent.h"

namespace firn {

struct RecurrentSizes {
  int64_t steps = 0, batch = 0, rows = 0;  // `rows` of all steps
  int64_t hidden = 0, state = 0;           // units, and elements of h
};
// Checks x, h0 and the weights, which all layers have, and of a layer the biases too. `gates` rows
// of w_ih and w_hh belong to a unit; without `projected` a state has as many elements as there are
// units.
absl::StatusOr<RecurrentSizes> SizesOfLayer(const InferContext& c, int64_t gates,
                                            bool projected = false);
absl::StatusOr<RecurrentSizes> SizesOfLayer(const InferContext& c,
                                            const std::vector<int64_t>& batch_sizes, int64_t gates,
                                            bool projected);
// The same of its gradient, with y, dy and dh_n; sets the results that all gradients have.
absl::StatusOr<RecurrentSizes> InferLayerGrad(InferContext& c, int64_t gates,
                                              bool projected = false);
// Refuses an input that is given and not of this shape.
absl::Status CheckShape(const InferContext& c, int input, const char* name, const Shape& want);
// The shape of y: that of x with `width` as its last size.
Shape SequenceShape(const Shape& x, int64_t width);

// Declarations of the inputs and results that all layers and all gradients have.
std::vector<ArgDecl> RecurrentInputs();
std::vector<ArgDecl> RecurrentGradInputs();
std::vector<ArgDecl> RecurrentGradOutputs();
// Declares another input of two dimensions, as wide as x.
ArgDecl RecurrentMatrix(std::string_view name, bool optional = false);
// Declares a result that a layer keeps for its gradient, in the compute type and not rounded to the
// dtype of x.
ArgDecl KeptRows(std::string_view name);

// A layer's step and its gradient written with operations: for recorded gradients, and for devices
// that have no kernel of the layer. `state` is h, or h and c.
class StepByOperations {
 public:
  virtual ~StepByOperations() = default;
  // The tensors that a step keeps for its gradient. before[0] is h; the rest is the layer's own.
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

// The layers of each kind by operations, defined on their pages: devices without a kernel for them
// run these.
LayerResults LstmByOperations(const LayerTensors& t, const RecurrentLayerAttrs& attrs);
LayerResults GruByOperations(const LayerTensors& t, const RecurrentLayerAttrs& attrs);
LayerResults RnnByOperations(const LayerTensors& t, const RecurrentLayerAttrs& attrs, bool relu);

// The gradients of a layer, computed again from its inputs with operations, so that they can be
// differentiated.
void RecordedLayerGrad(GradContext& g, const RecurrentLayerAttrs& attrs,
                       const StepByOperations& step);

// The same for the layers of each kind, defined on the pages of their operations.
void RecordedLstmGrad(GradContext& g, const RecurrentLayerAttrs& attrs);
void RecordedGruGrad(GradContext& g, const RecurrentLayerAttrs& attrs);
void RecordedRnnGrad(GradContext& g, const RecurrentLayerAttrs& attrs, bool relu);

// The gradients of a layer by its operation `op`; its inputs after those of all gradients are
// `rest`. Sets the gradients that all kinds have, and returns all results of the operation.
TensorList FusedLayerGrad(GradContext& g, const OpDef& op, const LayerTensors& t,
                          const std::vector<Tensor>& rest);
// The gradient of result i; undefined if there is none.
Tensor Flowed(GradContext& g, int i);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RECURRENT_LAYER_RULES_H_
